"""The view of the right eye against a photo or a ray-caster's picture of it."""

from __future__ import annotations

import numpy as np
import pytest
from stereo_truth import (
    halo_px,
    motorcycle,
    psnr,
    scene_truth,
    shapes_truth,
    soften,
    ssim,
)

from depthsmith.stereo import align_edges, warp_view


def right_view(truth, disparity_px):
    """The left eye keeps the original, so all of the disparity is the right eye's."""
    return warp_view(truth.left, align_edges(disparity_px, truth.left), 1.0)


def test_photo_with_true_disparity():
    truth = motorcycle()
    view = right_view(truth, truth.disparity_px)
    assert psnr(truth.right, view) >= 23.0  # 24.2
    assert ssim(truth.right, view) >= 0.88  # 0.893
    assert psnr(truth.right, view, truth.visible) >= 27.9  # 28.5


def test_photo_with_soft_disparity():
    truth = motorcycle()
    view = right_view(truth, soften(truth.disparity_px))
    assert psnr(truth.right, view) >= 22.5  # 23.2
    assert ssim(truth.right, view) >= 0.865  # 0.879


def test_scene_with_exact_depth():
    truth = shapes_truth()
    view = right_view(truth, truth.disparity_px)
    assert psnr(truth.right, view) >= 37.5  # 39.7
    assert psnr(truth.right, view, ~truth.visible) >= 23.5  # 26.1


def test_scene_with_soft_depth():
    truth = shapes_truth()
    view = right_view(truth, soften(truth.disparity_px))
    assert psnr(truth.right, view) >= 36.5  # 38.3
    assert ssim(truth.right, view) >= 0.989  # 0.9895
    assert psnr(truth.right, view, ~truth.visible) >= 23.5  # 24.8


@pytest.mark.parametrize("soft", [False, True])
def test_halo_at_depth_edges(soft):
    truth = shapes_truth(plain=True)
    disparity = soften(truth.disparity_px) if soft else truth.disparity_px
    near, far = halo_px(truth, right_view(truth, disparity))
    assert max(near, far) <= 1.5  # 0.7 and 0.6; soft 1.0 and 0.8


# Not looked at while the method was tuned. All pixels, exact and soft depth:
# room 45.1 dB and 45.0, abstract 43.4 and 40.9, street 36.7 and 35.3 (its texture is finer
# than its pixels), portrait 33.0 and 32.6 (disparity to 69 pixels: holes are 4 % of it).
@pytest.mark.parametrize("kind", ["room", "abstract", "portrait"])
def test_alignment_on_scenes_it_was_not_tuned_on(kind):
    truth = scene_truth(kind, 23)
    exact = align_edges(truth.disparity_px, truth.left)
    assert np.array_equal(exact, truth.disparity_px)  # exact depth loses nothing
    soft = soften(truth.disparity_px)
    plain = psnr(truth.right, warp_view(truth.left, soft, 1.0))
    assert psnr(truth.right, right_view(truth, soft)) > plain + 0.5


def test_left_view_is_as_good_as_the_right():
    """The same scene, the eyes exchanged: the left view is made from the right one."""
    truth = shapes_truth()
    frame = truth.right_frame
    inverse = 1 / frame.depth_m
    disparity = (frame.camera.focal_px * 0.06 * (inverse - 1 / 4.0)).astype(np.float32)
    view = warp_view(truth.right, disparity, -1.0)
    assert psnr(truth.left, view) >= 37.5
