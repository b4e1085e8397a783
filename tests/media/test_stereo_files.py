"""Files of pairs and of wiggles, read by Pillow and FFmpeg."""

from __future__ import annotations

import struct

import av
import numpy as np
import pytest
import skimage.data
from PIL import Image
from skimage.metrics import peak_signal_noise_ratio

from depthsmith.errors import InputError, OutputError, UsageError
from depthsmith.media.depth_file import is_own_output
from depthsmith.media.film.marks import is_own_film
from depthsmith.media.mpo_file import write_mpo
from depthsmith.media.photo import read_photo
from depthsmith.media.wiggle_file import write_wiggle
from depthsmith.types import StereoPair

LEFT = np.ascontiguousarray(skimage.data.chelsea()[:160, :240])
RIGHT = np.ascontiguousarray(skimage.data.coffee()[:160, :240])


def test_mpo_holds_both_views(tmp_path):
    path = tmp_path / "pair.mpo"
    write_mpo(path, StereoPair(LEFT, RIGHT))
    with Image.open(path) as image:
        assert (image.format, image.n_frames) == ("MPO", 2)
        for n, view in enumerate((LEFT, RIGHT)):
            image.seek(n)
            assert peak_signal_noise_ratio(view, np.asarray(image)) > 38
            # Full chroma: every component is sampled 1x1.
            assert {layer[1:3] for layer in image.layer} == {(1, 1)}


def test_mpo_says_what_a_pair_is(tmp_path):
    """Values of CIPA DC-007, by Pillow's reader, and the second picture's own directory."""
    path = tmp_path / "pair.mpo"
    write_mpo(path, StereoPair(LEFT, RIGHT))
    with Image.open(path) as image:
        index = image.mpinfo
    assert index[0xB000] == b"0100" and index[0xB001] == 2
    first, second = index[0xB002]
    kinds = [entry["Attribute"]["MPType"] for entry in (first, second)]
    assert kinds == ["Multi-Frame Image: (Disparity)"] * 2
    flags = [entry["Attribute"]["RepresentativeImageFlag"] for entry in (first, second)]
    assert flags == [True, False]
    raw = path.read_bytes()
    assert first["Size"] + second["Size"] == len(raw) and first["DataOffset"] == 0
    marker = raw.index(b"MPF\0") + 4
    begin = marker + second["DataOffset"]
    assert begin == first["Size"] and raw[begin : begin + 3] == b"\xff\xd8\xff"
    # The directory of each picture: number, viewpoint of reference, angle and distance.
    following = struct.unpack_from("<I", raw, marker + 8 + 2 + 3 * 12)[0]
    for number, place in ((1, marker + following), (2, raw.index(b"MPF\0", begin) + 4 + 8)):
        count, tag, kind, values, value = struct.unpack_from("<HHHII", raw, place)
        assert (count, tag, kind, values, value) == (4, 0xB101, 4, 1, number)
        assert struct.unpack_from("<HHII", raw, place + 14) == (0xB204, 4, 1, 1)


def test_mpo_is_a_photo_to_others(tmp_path):
    path = tmp_path / "pair.mpo"
    write_mpo(path, StereoPair(LEFT, RIGHT))
    assert peak_signal_noise_ratio(LEFT, read_photo(path).rgb) > 38
    assert is_own_output(path)
    with pytest.raises(UsageError, match="mpo"):
        write_mpo(tmp_path / "pair.jpg", StereoPair(LEFT, RIGHT))
    with pytest.raises(OutputError):
        write_mpo(tmp_path / "no" / "pair.mpo", StereoPair(LEFT, RIGHT))
    assert [p.name for p in tmp_path.iterdir()] == ["pair.mpo"]


def frames():
    return [np.roll(LEFT, 3 * n, axis=1) for n in (0, 1, 2, 1)]


@pytest.mark.parametrize(("suffix", "least"), [(".gif", 24), (".webp", 30)])
def test_wiggle_pictures_loop(tmp_path, suffix, least):
    path = tmp_path / f"w{suffix}"
    write_wiggle(path, frames(), fps=10)
    with Image.open(path) as image:
        assert image.n_frames == 4 and image.info["loop"] == 0
        for n, frame in enumerate(frames()):
            image.seek(n)
            image.load()
            assert image.info["duration"] == 100
            assert peak_signal_noise_ratio(frame, np.asarray(image.convert("RGB"))) > least
    assert is_own_output(path)


def test_wiggle_film(tmp_path):
    path = tmp_path / "w.mp4"
    write_wiggle(path, [frame[:159, :239] for frame in frames()], fps=10)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        shown = list(container.decode(stream))
        assert stream.average_rate == 10 and len(shown) == 60
        assert (stream.codec_context.width, stream.codec_context.height) == (238, 158)
        for n, frame in enumerate(shown[:8]):
            expected = frames()[n % 4][:158, :238]
            assert peak_signal_noise_ratio(expected, rgb_of(frame)) > 30
    assert is_own_film(path)


def rgb_of(frame):
    """By the matrix that the file names: BT.709 of limited range, ITU-R BT.709-6."""
    assert int(frame.colorspace) == 1 and int(frame.color_range) == 1
    planes = [np.asarray(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]
              for plane in frame.planes]  # fmt: skip
    y = (planes[0] - 16.0) / 219
    cb, cr = (np.kron(p, np.ones((2, 2)))[: y.shape[0], : y.shape[1]] / 224 - 128 / 224
              for p in planes[1:])  # fmt: skip
    red, blue = y + 1.5748 * cr, y + 1.8556 * cb
    green = (y - 0.2126 * red - 0.0722 * blue) / 0.7152
    return np.rint(np.clip(np.stack([red, green, blue], -1), 0, 1) * 255).astype(np.uint8)


def test_wiggles_that_cannot_be(tmp_path):
    with pytest.raises(UsageError, match="gif"):
        write_wiggle(tmp_path / "w.png", frames())
    with pytest.raises(OutputError):
        write_wiggle(tmp_path / "no" / "w.mp4", frames())
    with pytest.raises(UsageError, match="16383"):
        write_wiggle(tmp_path / "w.gif", [np.zeros((1, 20_000, 3), np.uint8)])
    with pytest.raises(UsageError, match="2 pixels"):
        write_wiggle(tmp_path / "w.mp4", [np.zeros((9, 1, 3), np.uint8)])
    for fps in (0, -1, 101, float("nan"), 12.5):
        with pytest.raises(UsageError, match="pictures a second"):
            write_wiggle(tmp_path / "w.gif", frames(), fps=fps)
    for wrong in ([], [LEFT, LEFT[1:]], [LEFT / 255], [LEFT[..., 0]]):
        with pytest.raises(InputError):
            write_wiggle(tmp_path / "w.gif", wrong)
    deep = LEFT.astype(np.uint16)
    with pytest.raises(InputError, match="uint8"):
        write_mpo(tmp_path / "p.mpo", StereoPair(deep, deep))
    assert not list(tmp_path.iterdir())
    write_wiggle(str(tmp_path / "w.gif"), frames())
    write_mpo(str(tmp_path / "p.mpo"), StereoPair(LEFT, RIGHT))
