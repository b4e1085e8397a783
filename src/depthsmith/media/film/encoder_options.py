"""What each encoder is told.

Depth has no texture to hide errors in, and its values are used as numbers, so that everything
that trades a pixel's error for looks is off. Measured on one core with 1080p depth of a real
scene that moves, with low-frequency noise (mean error of 255; 0.29 is that of rounding to the
219 steps of 8 bits; milliseconds of CPU a frame):

=========================================================  =====  =======  ==========
encoder                                                     error  kB/frame  CPU ms
=========================================================  =====  =======  ==========
libx264 ultrafast, crf 14, CABAC, 8x8 transform, 2 B        0.52   24        16
libx264 ultrafast, crf 12, as it is                         0.44   67        18
libx264 superfast, crf 12, as it is                         0.47   61        39
libx264 veryfast, crf 12, as it is                          0.59   34        68
libx264 medium, crf 12, as it is                            0.52   32        134
libx265 ultrafast 10-bit, crf 10, as it is                  0.37   15        117
libx265 ultrafast 10-bit, crf 10, psy, AQ and cutree off    0.27   24        127
libsvtav1 preset 11 10-bit, crf 12                          0.29   12        43
ffv1 16-bit                                                 0      1550      120
=========================================================  =====  =======  ==========
"""

from __future__ import annotations

import re
from fractions import Fraction

from depthsmith.film import ColorTags
from depthsmith.media.film.encoding import Encoding
from depthsmith.types import Size

_KEY_SECONDS = 2.5
_LEAST_SLICED = 128
_AVX_512F = 13  # cv::CpuFeatures
_SLICES = "16"  # of FFV1; that many threads can work on a picture


def options_of(encoding: Encoding, rate: Fraction, size: Size) -> dict[str, str]:
    """FFmpeg's options of the encoder.

    Args:
        size: of the pictures.
        rate: frames a second, for the distance of key frames.
    """
    gray = encoding.content == "gray"
    # Key frames that are near each other make films quick to search through.
    gop = min(max(round(_KEY_SECONDS * rate), 12), 240)
    if encoding.codec == "ffv1":
        options = {"level": "3", "slicecrc": "1", "g": "1", "context": "0"}
        # Small pictures cannot be cut into as many.
        return options | ({"slices": _SLICES} if min(size) >= _LEAST_SLICED else {})
    options = {"g": str(gop)}
    if encoding.preset is not None:
        options["preset"] = encoding.preset
    if encoding.hardware:
        return options | _hardware_quality(encoding)
    if encoding.crf is not None:
        options["crf"] = str(encoding.crf)
    if encoding.codec == "h264":
        options["x264-params"] = _x264(gray)
    elif encoding.codec == "hevc":
        options["x265-params"] = _x265(encoding, gray)
    else:
        options["svtav1-params"] = _svt_av1(encoding)
    return options


def _x264(gray: bool) -> str:
    import cv2

    parameters = ["open-gop=0"]
    if gray:
        parameters += ["cabac=1", "8x8dct=1", "bframes=2", "b-adapt=0", "deblock=0,0"]
        parameters += ["psy=0", "aq-mode=0", "mbtree=0", "weightp=0"]
    if cv2.checkHardwareSupport(_AVX_512F):
        # With it x264's macroblock tree reads memory beyond rows that are no multiple of 128
        # pixels: the bytes change from run to run. The processors that have it know AVX2.
        parameters.append("asm=AVX2")
    return ":".join(parameters)


def _x265(encoding: Encoding, gray: bool) -> str:
    threads = encoding.threads
    parameters = ["log-level=error", "open-gop=0", f"pools={threads}"]
    # The bytes depend on how many frames are at work at once, which x265 would choose by cores.
    parameters.append(f"frame-threads={1 if threads < 2 else 2 if threads < 8 else 3}")
    if gray:
        parameters += ["psy-rd=0", "psy-rdoq=0", "aq-mode=0", "cutree=0"]
    color = encoding.color
    if color.transfer == 16:
        parameters += ["hdr10=1", "repeat-headers=0"]
    if color.mastering is not None:
        parameters.append(f"master-display={color.mastering}")
    if color.content_light is not None:
        parameters.append("max-cll={},{}".format(*color.content_light))
    return ":".join(parameters)


def _svt_av1(encoding: Encoding) -> str:
    color = encoding.color
    parameters = [f"lp={min(encoding.threads, 6)}"]
    if color.mastering is not None and (scaled := _in_units(color)) is not None:
        parameters.append(f"mastering-display={scaled}")
    if color.content_light is not None:
        parameters.append("content-light={},{}".format(*color.content_light))
    return ":".join(parameters)


def _in_units(color: ColorTags) -> str | None:
    """x265's notation, in 0.00002 and 0.0001 cd/m2, in SVT-AV1's, in ones."""
    found = re.findall(r"([A-Z]+)\((\d+),(\d+)\)", color.mastering or "")
    if [name for name, _, _ in found] != ["G", "B", "R", "WP", "L"]:
        return None
    scale = {"L": 10_000}
    return "".join(
        f"{name}({int(a) / scale.get(name, 50_000):.5f},{int(b) / scale.get(name, 50_000):.5f})"
        for name, a, b in found
    )


def _hardware_quality(encoding: Encoding) -> dict[str, str]:
    platform = encoding.encoder.rsplit("_", 1)[1]
    quality = encoding.crf
    if quality is None:
        return {}
    if platform == "nvenc":
        return {"rc": "vbr", "cq": str(quality)}
    if platform == "amf":
        return {"rc": "cqp", "qp_i": str(quality), "qp_p": str(quality)}
    if platform == "qsv":
        return {"global_quality": str(quality)}
    if platform == "vaapi":
        return {"rc_mode": "CQP", "qp": str(quality)}
    # VideoToolbox: 1 to 100, more is better, in units of FF_QP2LAMBDA.
    return {"flags": "+qscale", "global_quality": str(118 * max(1, 100 - 2 * quality))}
