"""Pictures in written films, decoded back with PyAV."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from pymp4.parser import Box
from written_films import luma, packets, streams, write

from depthsmith.errors import ProviderError, UsageError
from depthsmith.film import ColorTags, FilmInfo, StereoLayout
from depthsmith.media.film.encoding import check_size, choose_encoding, default_crf
from depthsmith.media.film.marks import is_own_film
from depthsmith.media.film.probe import probe
from depthsmith.media.film.read import FilmReader
from depthsmith.types import Size
from films import PQ, draw_frame, frame_number, frame_times, make_film_file, rgb_frames


def near_map(index: int, size: tuple[int, int] = (96, 128)) -> np.ndarray:
    """A ramp with a bright box that moves and a dark one that stays."""
    y, x = np.mgrid[0 : size[0], 0 : size[1]]
    near = 0.8 * x / (size[1] - 1) + 0.2 * y / (size[0] - 1)
    near[20:50, 10 + 3 * index : 40 + 3 * index] = 1
    near[60:80, 50:90] = 0
    return near.astype(np.float32)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_film_file(tmp_path_factory.mktemp("film") / "a.mp4", parts=((1, 15),))


# codec, suffix, bits, (lowest, span) of luma, most error of the mean and of a pixel in levels
# of an 8-bit film. Lossy codecs smear edges a little; the mean is that of rounding.
CODECS = [
    ("h264", ".mp4", 8, (16, 219), 0.5, 4),
    ("h264", ".mov", 8, (16, 219), 0.5, 4),
    ("h264", ".mkv", 8, (16, 219), 0.5, 4),
    ("hevc", ".mp4", 10, (64, 876), 0.25, 8),
    ("av1", ".mkv", 10, (64, 876), 0.25, 20),
    ("ffv1", ".mkv", 16, (0, 65535), 0.001, 0.002),
]


@pytest.mark.parametrize(("codec", "suffix", "bits", "levels", "mean", "most"), CODECS)
def test_near_comes_back(
    source: Path, tmp_path: Path, codec: str, suffix: str, bits: int,
    levels: tuple[int, int], mean: float, most: float,
) -> None:  # fmt: skip
    target = tmp_path / f"a{suffix}"
    written = write(source, target, picture=lambda index, _: near_map(index), codec=codec)
    found = luma(target)
    assert written.frames == len(found) == 15
    errors = np.array(
        [
            (plane.astype(np.float64) - levels[0]) / levels[1] - near_map(index)
            for index, plane in enumerate(found)
        ]
    )
    errors = np.abs(errors) * 255
    assert errors.mean() < mean
    assert errors.max() < most
    with av.open(str(target)) as film:
        context = film.streams.video[0].codec_context
        assert next(film.decode(video=0)).format.components[0].bits == bits
        said = (
            context.color_range,
            context.color_primaries,
            context.color_trc,
            context.colorspace,
        )
    assert said == ((2, 2, 2, 2) if codec == "ffv1" else (1, 1, 1, 1))
    assert is_own_film(target)
    assert not is_own_film(source)


def test_a_viewer_sees_the_near_map(source: Path, tmp_path: Path) -> None:
    """As gray of full range, by FFmpeg's own reading of the tags: what editors work with."""
    target = tmp_path / "a.mp4"
    write(source, target, picture=lambda index, _: near_map(index))
    with av.open(str(target)) as film:
        frames = [frame.to_ndarray(format="gray") for frame in film.decode(video=0)]
    errors = np.abs(np.array(frames) - 255 * np.array([near_map(i) for i in range(15)]))
    assert errors.max() <= 4 + 1  # as above, and what the conversion rounds
    assert errors.mean() < 0.6
    assert (frames[0][65:75, 60:80] == 0).all()
    assert (frames[0][25:45, 18:32] == 255).all()


@pytest.mark.parametrize("codec", ["h264", "hevc"])
def test_colours_are_where_they_were(source: Path, tmp_path: Path, codec: str) -> None:
    """Chroma is sited on every second column: H.264 and H.265, chroma sample location type 0."""
    x = np.arange(128)
    blue = 128 + 100 * np.sin(x / 5)
    rgb = np.zeros((96, 128, 3))
    rgb[..., 0], rgb[..., 1], rgb[..., 2] = 60, 90, blue
    rgb = np.rint(rgb).astype(np.uint8)
    target = tmp_path / "a.mp4"
    write(source, target, "rgb", picture=lambda *_: rgb, codec=codec, crf=1)
    with av.open(str(target)) as film:
        frame = next(film.decode(video=0))
    plane, dtype = frame.planes[1], np.uint8 if codec == "h264" else np.dtype("<u2")
    step = 1 if codec == "h264" else 4
    stored = np.frombuffer(plane, dtype).reshape(48, -1)[20, :64] / step
    # BT.709, limited range: H.273, equations 38 and 41
    luma = 0.2126 * 60 + 0.7152 * 90 + 0.0722 * blue
    chroma = 128 + 224 / 255 * (blue - luma) / 1.8556

    def error(shift: float) -> float:
        return float(np.abs(np.interp(x[4:-4:2] + shift, x, chroma) - stored[2:-2]).mean())

    assert error(0) < 0.6
    assert error(0) < 0.2 * min(error(-0.5), error(0.5))


@pytest.mark.parametrize("content", ["gray", "rgb"])
def test_frames_stay_in_order(source: Path, tmp_path: Path, content: str) -> None:
    target = tmp_path / "a.mkv"
    write(source, target, content, segment=4)
    assert [frame_number(rgb) for rgb in rgb_frames(target)] == list(range(15))


def test_colours_come_back(source: Path, tmp_path: Path) -> None:
    """Flat colours through BT.709 in limited range, and without loss as R'G'B'."""
    flat = np.zeros((96, 128, 3), np.uint8)
    flat[:48, :64], flat[:48, 64:] = (200, 40, 40), (40, 180, 60)
    flat[48:, :64], flat[48:, 64:] = (50, 60, 210), (255, 255, 255)
    for codec, suffix, most in (("h264", ".mp4", 3), ("hevc", ".mp4", 3), ("ffv1", ".mkv", 0)):
        target = tmp_path / f"{codec}{suffix}"
        write(source, target, "rgb", picture=lambda *_: flat, codec=codec)
        [*frames] = FilmReader(probe(target))
        for rows, columns in ((24, 32), (24, 96), (72, 32), (72, 96)):
            off = frames[3].rgb[rows, columns].astype(int) - flat[rows, columns]
            assert np.abs(off).max() <= most, (codec, rows, columns, off)
    with av.open(str(tmp_path / "h264.mp4")) as film:
        context = film.streams.video[0].codec_context
        said = (
            context.color_range,
            context.color_primaries,
            context.color_trc,
            context.colorspace,
        )
    assert said == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("codec", "suffix"), [("hevc", ".mp4"), ("hevc", ".mkv"), ("av1", ".mp4"), ("ffv1", ".mkv")]
)
def test_hdr_stays_hdr(tmp_path: Path, codec: str, suffix: str) -> None:
    """Ten bits, PQ, BT.2020, and the screen's data in the pictures and in the container."""
    source = make_film_file(
        tmp_path / "pq.mkv", codec="libx265", pix_fmt="yuv420p10le", color=PQ, parts=((1, 10),)
    )
    target = tmp_path / f"out{suffix}"
    # Nearly lossless: this is about colours, not about how well they are compressed.
    options = {} if codec == "ffv1" else {"crf": 1}
    write(source, target, "deep", codec=codec, **options)
    before, after = probe(source), probe(target)
    assert (after.color.primaries, after.color.transfer) == (9, 16)
    assert after.color.matrix == (0 if codec == "ffv1" else 9)
    assert after.color.mastering == before.color.mastering == PQ.mastering
    assert after.color.content_light == (1000, 400)
    head = target.read_bytes()
    if suffix == ".mp4":
        entry = head[head.index(b"stsd") :]
        assert b"mdcv" in entry
        assert b"clli" in entry
    pairs = zip(FilmReader(before, deep=True), FilmReader(after, deep=True), strict=True)
    off = [np.abs(a.deep[..., 1].astype(int) - b.deep[..., 1]) for a, b in pairs]
    assert np.median(off) <= (0 if codec == "ffv1" else 75)  # one of 876 levels


def test_no_pq_in_eight_bits() -> None:
    with pytest.raises(UsageError, match="hevc"):
        choose_encoding(Path("a.mp4"), "deep", codec="h264", color=ColorTags(9, 16, 9))
    encoding = choose_encoding(Path("a.mp4"), "deep", color=ColorTags(9, 18, 9))
    assert (encoding.codec, encoding.color.transfer, encoding.color.bit_depth) == ("hevc", 18, 10)
    # What is shown in eight bits is tone-mapped, and says so.
    assert choose_encoding(Path("a.mp4"), "rgb", color=ColorTags(9, 16, 9)).color.transfer == 1


@pytest.mark.parametrize(
    ("size", "coded"), [((241, 321), (242, 322)), ((2, 2), (2, 2)), ((1, 3), (2, 4))]
)
def test_odd_sizes_are_padded_with_the_edge(
    tmp_path: Path, size: tuple[int, int], coded: tuple[int, int]
) -> None:
    source = make_film_file(
        tmp_path / "a.mkv", size=size, parts=((1, 5),), codec="ffv1", pix_fmt="gbrp16le"
    )
    target = tmp_path / "b.mp4"
    near = np.linspace(0.2, 0.9, size[1], dtype=np.float32)[None].repeat(size[0], axis=0)
    info = probe(source)
    notes = check_size(choose_encoding(target, "gray"), info.size)
    assert any("padded" in note for note in notes) == (size != coded)
    write(source, target, picture=lambda *_: near)
    for plane in luma(target):
        assert plane.shape == coded
        padded = np.pad(near, [(0, c - s) for c, s in zip(coded, size, strict=True)], mode="edge")
        assert np.abs((plane - 16.0) / 219 - padded).max() < 2.5 / 219
    lossless = tmp_path / "b.mkv"
    write(source, lossless, picture=lambda *_: near, codec="ffv1")
    assert luma(lossless)[0].shape == size
    assert np.array_equal(luma(lossless)[0], np.rint(near * 65535))


def test_turned_and_stretched_films_are_written_upright(tmp_path: Path) -> None:
    source = make_film_file(
        tmp_path / "a.mp4", turn_deg=90, sample_aspect=Fraction(4, 3), size=(96, 128),
        parts=((1, 5),),
    )  # fmt: skip
    target = tmp_path / "b.mp4"
    write(source, target, "rgb")
    info = probe(target)
    assert info.size == info.coded == probe(source).size
    assert (info.turn_deg, info.flipped, info.sample_aspect) == (0, False, 1)
    assert [frame_number(rgb) for rgb in rgb_frames(target)] == list(range(5))


REFUSED = [
    ("a.avi", "gray", {}, "avi"),
    ("a.mp4", "gray", {"codec": "ffv1"}, "mkv"),
    ("a.mkv", "gray", {"codec": "ffv1", "crf": 3}, "lossless"),
    ("a.mov", "gray", {"codec": "av1"}, "av1"),
    ("a.mp4", "gray", {"crf": 20, "bit_rate": 1_000_000}, "contradict"),
    ("a.mp4", "gray", {"crf": 52}, "51"),
    ("a.mp4", "gray", {"preset": "quick"}, "veryfast"),
    ("a.mp4", "gray", {"codec": "vp9"}, "ffv1"),
    ("a.mp4", "gray", {"bit_rate": 10}, "low"),
]


@pytest.mark.parametrize(("name", "content", "options", "word"), REFUSED)
def test_contradictions_are_refused(name: str, content: str, options: dict, word: str) -> None:
    with pytest.raises(UsageError, match=word) as caught:
        choose_encoding(Path(name), content, **options)
    assert "\n" not in str(caught.value)


def test_hardware_that_is_not_there() -> None:
    """What FFmpeg lists is no proof: an encoder is used when it has encoded."""
    works = {}
    for platform in ("nvenc", "qsv", "videotoolbox", "vaapi", "amf"):
        try:
            works[platform] = choose_encoding(Path("a.mp4"), "gray", hardware=platform).encoder
        except ProviderError as error:
            assert "CPU" in str(error)
    chosen = choose_encoding(Path("a.mp4"), "gray", hardware="auto").encoder
    assert chosen in (works.values() if works else ["libx264"])


LARGE = [
    ("h264", (4320, 7680), True),
    ("h264", (4320, 15360), False),
    ("hevc", (4320, 8192), True),
    ("hevc", (4320, 15360), False),
    ("hevc", (8, 8), False),
    ("ffv1", (4320, 15360), True),
    ("av1", (2, 2), False),
]


@pytest.mark.parametrize(("codec", "size", "fits"), LARGE)
def test_limits_of_codecs(codec: str, size: tuple[int, int], fits: bool) -> None:
    encoding = choose_encoding(Path("a.mkv"), "rgb", codec=codec)
    if fits:
        assert check_size(encoding, Size(*size)) == ()
    else:
        with pytest.raises(UsageError, match=codec):
            check_size(encoding, Size(*size))


def test_a_poor_source_needs_less() -> None:
    def info(bit_rate: int | None, codec: str = "h264") -> FilmInfo:
        return FilmInfo(
            Path("a"), 0, Size(1080, 1920), Size(1080, 1920), Fraction(1, 1000),
            frame_rate=Fraction(24), bit_rate=bit_rate, codec=codec,
        )  # fmt: skip

    encoding = choose_encoding(Path("a.mp4"), "rgb")
    crfs = [default_crf(info(rate * 1_000_000), encoding) for rate in (1, 2, 4, 8, 40)]
    assert crfs == sorted(crfs, reverse=True)
    assert len(set(crfs)) >= 4
    assert 16 <= min(crfs) <= max(crfs) <= 24
    assert default_crf(info(2_000_000, "hevc"), encoding) < default_crf(info(2_000_000), encoding)
    assert default_crf(info(None), encoding) == 18
    gray = choose_encoding(Path("a.mp4"), "gray")
    assert default_crf(info(1), gray) == default_crf(info(10**9), gray)


@pytest.mark.parametrize("codec", ["h264", "hevc", "av1", "ffv1"])
def test_the_same_frames_make_the_same_packets(source: Path, tmp_path: Path, codec: str) -> None:
    both = []
    for name in ("a.mkv", "b.mkv"):
        write(source, tmp_path / name, picture=lambda index, _: near_map(index), codec=codec)
        both.append(packets(tmp_path / name))
    assert both[0] == both[1]


_ENCODE = """
import hashlib, sys
from fractions import Fraction
from pathlib import Path
import av, numpy as np
from depthsmith.film import StereoLayout
from depthsmith.media.film.encoding import choose_encoding
from depthsmith.media.film.segments import SegmentWriter
from depthsmith.types import Size

path = Path(sys.argv[1])
picture = np.random.default_rng(0).integers(0, 256, (15, 20, 3), np.uint8).repeat(16, 0)
encoding = choose_encoding(path, "rgb", codec=sys.argv[2])
writer = SegmentWriter(path, encoding, Size(240, 320), Fraction(25), StereoLayout(), path)
for number in range(40):
    writer.write(np.roll(picture.repeat(16, 1), 3 * number, axis=1))
writer.close()
with av.open(str(path)) as film:
    print(hashlib.md5(b"".join(map(bytes, film.demux(video=0)))).hexdigest())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc fills memory with what is asked for")
@pytest.mark.parametrize("codec", ["h264", "hevc", "av1"])
def test_packets_do_not_depend_on_what_was_in_memory(codec: str, tmp_path: Path) -> None:
    """Rows of 20 macroblocks, with which x264 has read more than there is."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _ENCODE, str(tmp_path / f"{filled}.mkv"), codec],
            env=os.environ | {"MALLOC_PERTURB_": filled},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for filled in ("1", "170")
    }
    assert len(found) == 1


def test_half_formats_say_so_in_the_pictures(source: Path, tmp_path: Path) -> None:
    """FFmpeg reads the frame packing SEI of H.264 and HEVC as side data of a frame."""
    for codec in ("h264", "hevc"):
        target = tmp_path / f"{codec}.mp4"
        layout = StereoLayout("half-sbs")
        write(source, target, "rgb", codec=codec, sink_options={"layout": layout})
        with av.open(str(target)) as film:
            frame = next(film.decode(video=0))
            assert "STEREO3D" in [side.type.name for side in frame.side_data]
        assert len(frame_times(target)) == 15


def test_a_film_for_apple_players(source: Path, tmp_path: Path) -> None:
    write(source, tmp_path / "a.mp4", codec="hevc")
    with (tmp_path / "a.mp4").open("rb") as file:
        kinds = set()
        while (tmp_path / "a.mp4").stat().st_size > file.tell():
            box = Box.parse_stream(file)
            kinds.add(box.type)
            if box.type == b"moov":
                [track] = [b for b in box.children if b.type == b"trak"]
                media = next(b for b in track.children if b.type == b"mdia")
                tables = next(b for b in media.children if b.type == b"minf").children
                table = next(b for b in tables if b.type == b"stbl").children
                entry = next(b for b in table if b.type == b"stsd").entries[0]
    assert {b"ftyp", b"mdat", b"moov"} <= kinds
    assert entry.format == b"hvc1"
    assert streams(tmp_path / "a.mp4") == [("video", "hevc", "und")]


def test_pictures_that_cannot_be_are_refused(source: Path, tmp_path: Path) -> None:
    wrong = [
        near_map(0) * 2, near_map(0) - 1, near_map(0)[:-1], near_map(0).astype(np.float64),
        np.full((96, 128), np.nan, np.float32), draw_frame(0, (96, 128)),
    ]  # fmt: skip
    for pixels in wrong:
        with pytest.raises(ValueError, match="pictures"):
            write(source, tmp_path / "a.mp4", picture=lambda *_, p=pixels: p)
    assert not (tmp_path / "a.mp4").exists()
