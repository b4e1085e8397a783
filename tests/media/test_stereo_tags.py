"""Tags of stereo films, read back by FFmpeg, which did not write them."""

from __future__ import annotations

import struct
from fractions import Fraction

import av
import numpy as np
import pytest
from av.sidedata.sidedata import Type

from depthsmith.errors import FilmError, UsageError
from depthsmith.film import StereoLayout
from depthsmith.media.film.frame_packing import frame_packing_sei, with_sei
from depthsmith.media.film.stereo_tags import tag_file
from films import AudioSpec, SubtitleSpec, make_film_file

# enum AVStereo3DType of FFmpeg's libavutil/stereo3d.h, and its flag for exchanged views.
SIDE_BY_SIDE, TOP_BOTTOM, LINES, INVERTED = 1, 2, 6, 1
TILE = 2  # AV_SPHERICAL_EQUIRECTANGULAR_TILE of libavutil/spherical.h

SHORT = {"preset": "ultrafast"}
ENCODERS = {"h264": "libx264", "hevc": "libx265"}


def make(path, codec="libx264", frames=12, options=None, **metadata):
    """A film of a moving bar; returns its packets, as encoded."""
    with av.open(str(path), "w", options=options or {}) as container:
        stream = container.add_stream(codec, rate=24, options=SHORT if "26" in codec else {})
        stream.width, stream.height, stream.pix_fmt = 128, 64, "yuv420p"
        stream.codec_context.sample_aspect_ratio = 1
        for name, value in metadata.items():
            stream.metadata[name] = value
        for n in range(frames):
            picture = np.zeros((64, 128, 3), np.uint8)
            picture[:, 8 * n : 8 * n + 8] = 200
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = n
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def read(path):
    """All pictures and times, and what FFmpeg says of them."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        said = {data.type: bytes(data) for data in frames[0].side_data}
        pictures = [(f.pts, f.to_ndarray(format="rgb24")) for f in frames]
        return pictures, said, stream.sample_aspect_ratio


def stereo(said):
    """Type and flags of struct AVStereo3D."""
    return struct.unpack_from("=ii", said[Type.STEREO3D]) if Type.STEREO3D in said else None


def bounds(said):
    """Projection and left, top, right, bottom of struct AVSphericalMapping."""
    fields = struct.unpack_from("=iiiiIIII", said[Type.SPHERICAL])
    return fields[0], fields[4:]


def same_pictures(a, b):
    return len(a) == len(b) and all(
        p == q and np.array_equal(x, y) for (p, x), (q, y) in zip(a, b, strict=True)
    )


LAYOUTS = [
    (StereoLayout("sbs"), SIDE_BY_SIDE, 0),
    (StereoLayout("half-sbs"), SIDE_BY_SIDE, 0),
    (StereoLayout("tb"), TOP_BOTTOM, 0),
    (StereoLayout("half-tb"), TOP_BOTTOM, 0),
]


@pytest.mark.parametrize("suffix", [".mp4", ".mov", ".mkv"])
@pytest.mark.parametrize(("layout", "kind", "flags"), LAYOUTS)
def test_packing_is_what_ffmpeg_reads(tmp_path, suffix, layout, kind, flags):
    film = make(tmp_path / f"film{suffix}")
    before, said, _ = read(film)
    assert Type.STEREO3D not in said
    assert tag_file(film, layout) == ()
    after, said, _ = read(film)
    assert stereo(said) == (kind, flags)
    assert Type.SPHERICAL not in said
    assert same_pictures(before, after)


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        (StereoLayout("sbs", right_first=True), SIDE_BY_SIDE),
        (StereoLayout("tb", right_first=True), TOP_BOTTOM),
        (StereoLayout("interlaced", right_first=True), LINES),
    ],
)
def test_matroska_says_that_the_right_view_is_first(tmp_path, layout, kind):
    film = make(tmp_path / "film.mkv")
    assert tag_file(film, layout) == ()
    assert stereo(read(film)[1]) == (kind, INVERTED)


def test_what_mp4_cannot_say_is_reported(tmp_path):
    film = make(tmp_path / "film.mp4")
    content = film.read_bytes()
    for layout in (StereoLayout("tb", right_first=True), StereoLayout("interlaced")):
        (note,) = tag_file(film, layout)
        assert layout.packing in note
    for layout in (StereoLayout(), StereoLayout("other")):
        assert tag_file(film, layout) == ()
    (note,) = tag_file(tmp_path / "film.avi", StereoLayout("sbs"))
    assert ".avi" in note
    assert film.read_bytes() == content


@pytest.mark.parametrize("suffix", [".mp4", ".mov", ".mkv", ".webm"])
def test_vr180_is_an_equirectangular_projection_of_half_the_sphere(tmp_path, suffix):
    film = make(tmp_path / f"film{suffix}", "libvpx-vp9" if suffix == ".webm" else "libx264")
    before, _, _ = read(film)
    assert tag_file(film, StereoLayout("sbs", projection="vr180")) == ()
    after, said, _ = read(film)
    projection, (left, top, right, bottom) = bounds(said)
    assert projection == TILE
    assert (top, bottom) == (0, 0)
    assert left / 2**32 == pytest.approx(0.25) and right == left
    assert stereo(said) == (SIDE_BY_SIDE, 0)
    assert same_pictures(before, after)


def test_fisheye_is_left_to_the_name(tmp_path):
    film = make(tmp_path / "film.mp4")
    (note,) = tag_file(film, StereoLayout("sbs", projection="fisheye180"))
    assert "name" in note
    _, said, _ = read(film)
    assert stereo(said) == (SIDE_BY_SIDE, 0) and Type.SPHERICAL not in said


def test_boxes_are_those_of_the_rfc(tmp_path):
    """Where it wants them, after avcC and before pasp, and value by value. Google, "Spherical
    Video V2 RFC"; FFmpeg knows no right-left `st3d` yet."""
    film = make(tmp_path / "film.mp4")
    tag_file(film, StereoLayout("sbs", right_first=True, projection="vr180"))
    at = dict(walk(film.read_bytes()))[b"moov"]
    for kind in (b"trak", b"mdia", b"minf", b"stbl", b"stsd"):
        at = dict(walk(at))[kind]
    entry = dict(walk(at[8:]))[b"avc1"]  # after version, flags and count
    boxes = list(walk(entry[78:]))
    kinds = [kind for kind, _ in boxes]
    assert kinds.index(b"st3d") == kinds.index(b"avcC") + 1
    assert kinds[kinds.index(b"st3d") :][:3] == [b"st3d", b"sv3d", b"pasp"]
    inside = dict(boxes)
    assert inside[b"st3d"] == bytes([0, 0, 0, 0, 4])
    sphere = list(walk(inside[b"sv3d"]))
    assert [kind for kind, _ in sphere] == [b"svhd", b"proj"]
    assert sphere[0][1] == b"\0\0\0\0depthsmith\0"
    projection = list(walk(sphere[1][1]))
    assert [kind for kind, _ in projection] == [b"prhd", b"equi"]
    assert projection[0][1] == bytes(16)  # looks straight ahead
    assert struct.unpack(">5I", projection[1][1])[:3] == (0, 0, 0)


def walk(data):
    """Boxes of ISO/IEC 14496-12: size, kind, payload."""
    at = 0
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8 : at + size]
        at += size
    assert at == len(data)


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_tags_are_replaced(tmp_path, suffix):
    film = make(tmp_path / f"film{suffix}")
    before = read(film)[0]
    tag_file(film, StereoLayout("sbs", projection="vr180"))
    big = film.stat().st_size
    tag_file(film, StereoLayout("sbs", projection="vr180"))
    assert film.stat().st_size == big
    tag_file(film, StereoLayout("tb"))
    after, said, _ = read(film)
    assert stereo(said) == (TOP_BOTTOM, 0) and Type.SPHERICAL not in said
    assert same_pictures(before, after)


def test_pictures_behind_the_head_move(tmp_path):
    """`faststart` puts moov in front, so every offset in it changes."""
    film = make(tmp_path / "film.mp4", frames=40, options={"movflags": "faststart"})
    content = film.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")
    before = read(film)[0]
    tag_file(film, StereoLayout("sbs", projection="vr180"))
    after, said, _ = read(film)
    assert same_pictures(before, after) and stereo(said) == (SIDE_BY_SIDE, 0)
    tag_file(film, StereoLayout("sbs"))  # and back again, by less
    assert same_pictures(before, read(film)[0])
    with av.open(str(film)) as container:
        container.seek(int(1.2 * av.time_base))
        assert next(container.decode(video=0)).pts is not None


def test_pictures_that_cannot_move_stay(tmp_path):
    """Offsets of 32 bits that would not hold the moved position: moov goes last instead."""
    film = make(tmp_path / "film.mp4", options={"movflags": "faststart"})
    before = read(film)[0]
    raw = bytearray(film.read_bytes())
    table = raw.index(b"stco") + 12
    (offset,) = struct.unpack_from(">I", raw, table)
    struct.pack_into(">I", raw, table, 2**32 - 5)  # as if the file were that long
    film.write_bytes(raw)
    tag_file(film, StereoLayout("sbs"))
    tagged = bytearray(film.read_bytes())
    kinds = [kind for kind, _ in walk(tagged)]
    assert kinds == [b"ftyp", b"free", b"free", b"mdat", b"moov"]
    table = tagged.rindex(b"stco") + 12
    assert struct.unpack_from(">I", tagged, table)[0] == 2**32 - 5
    struct.pack_into(">I", tagged, table, offset)  # where the pictures really still are
    film.write_bytes(tagged)
    after, said, _ = read(film)
    assert same_pictures(before, after) and stereo(said) == (SIDE_BY_SIDE, 0)


def test_all_tracks_and_seeking_survive_in_matroska(tmp_path):
    """Sound, chapters, attachments and the index behind the tracks are where they were."""
    film = tmp_path / "film.mkv"
    with av.open(str(film), "w") as container:
        video = container.add_stream("libx264", rate=24, options={**SHORT, "g": "6"})
        video.width, video.height, video.pix_fmt = 128, 64, "yuv420p"
        audio = container.add_stream("aac", rate=48000)
        audio.metadata["language"] = "deu"
        container.metadata["title"] = "Bars"
        chapter = {"id": 1, "start": 0, "end": 900, "time_base": Fraction(1, 1000)}
        container.set_chapters([{**chapter, "metadata": {"title": "One"}}])
        container.add_attachment("font.ttf", "font/ttf", bytes(70000))
        for n in range(48):
            frame = av.VideoFrame.from_ndarray(np.full((64, 128, 3), n, np.uint8), format="rgb24")
            frame.pts = n
            container.mux(video.encode(frame))
            sound = av.AudioFrame.from_ndarray(
                np.zeros((1, 2000), np.float32), format="flt", layout="mono"
            )
            sound.sample_rate, sound.pts = 48000, 2000 * n
            container.mux(audio.encode(sound))
        container.mux(video.encode())
        container.mux(audio.encode())

    def packets():
        with av.open(str(film)) as container:
            container.seek(int(1.1 * av.time_base))
            later = [(p.stream.index, p.pts, bytes(p)) for p in container.demux() if p.size]
            container.seek(0)
            whole = [(p.stream.index, p.pts, bytes(p)) for p in container.demux() if p.size]
            about = [(s.type, dict(s.metadata)) for s in container.streams]
            return later, whole, about, dict(container.metadata), container.chapters()

    before = packets()
    size = film.stat().st_size
    tag_file(film, StereoLayout("half-sbs", projection="vr180"))
    later, whole, about, metadata, chapters = packets()
    assert later == before[0] and 0 < len(later) < len(whole)
    assert whole == before[1]
    assert [kind for kind, _ in about] == ["video", "audio", "attachment"]
    assert metadata["title"] == "Bars" and about[1][1]["language"] == "deu"
    assert chapters == before[4] and chapters[0]["metadata"]["title"] == "One"
    assert film.stat().st_size == size


def test_many_tracks_in_matroska(tmp_path):
    """FFmpeg writes the sizes of tracks longer than they must be."""
    film = make_film_file(
        tmp_path / "film.mkv",
        audio=[AudioSpec("ac3", language="ger"), AudioSpec(language="eng", title="English")],
        subtitles=[SubtitleSpec(((0.1, 0.5, "text"),), language="eng")],
        chapters=[(0, 0.5, "One"), (0.5, 1, "Two")],
        attachments=[("font.ttf", "font/ttf", bytes(100))],
    )
    with av.open(str(film)) as container:
        before = [(p.stream_index, p.pts, bytes(p)) for p in container.demux() if p.size]
    size = film.stat().st_size
    tag_file(film, StereoLayout("sbs"))
    assert stereo(read(film)[1]) == (SIDE_BY_SIDE, 0)
    with av.open(str(film)) as container:
        assert len(container.chapters()) == 2 and len(container.streams) == 5
        assert [(p.stream_index, p.pts, bytes(p)) for p in container.demux() if p.size] == before
    assert film.stat().st_size == size


@pytest.mark.parametrize(
    ("packing", "aspect"),
    [("sbs", 1), ("half-sbs", 2), ("tb", 1), ("half-tb", 0.5), ("interlaced", 1)],
)
def test_matroska_shows_one_view(tmp_path, packing, aspect):
    """DisplayWidth and -Height are of one view (RFC 9559, 18.10); FFmpeg makes of them the
    shape of a pixel: square in full formats, stretched in half ones."""
    film = make(tmp_path / "film.mkv")
    tag_file(film, StereoLayout(packing))
    assert read(film)[2] == aspect


def test_files_that_cannot_be_tagged(tmp_path):
    fragmented = make(tmp_path / "f.mp4", options={"movflags": "frag_keyframe+empty_moov"})
    content = fragmented.read_bytes()
    with pytest.raises(FilmError, match="fragmented"):
        tag_file(fragmented, StereoLayout("sbs"))
    assert fragmented.read_bytes() == content
    for name in ("no.mp4", "no.mkv"):
        other = tmp_path / name
        for junk in (b"", b"nothing of this is a film" * 9, bytes(200), bytes([255]) * 200):
            other.write_bytes(junk)
            with pytest.raises(FilmError):
                tag_file(other, StereoLayout("sbs"))
    for suffix in (".mp4", ".mkv"):
        film = make(tmp_path / f"cut{suffix}")
        raw = film.read_bytes()
        for end in range(60, len(raw), 97):
            film.write_bytes(raw[:end])
            try:
                tag_file(film, StereoLayout("sbs"))
            except FilmError:
                continue  # refused
            assert suffix == ".mkv"  # whose head was there
    sound = tmp_path / "sound.mp4"
    with av.open(str(sound), "w") as container:
        stream = container.add_stream("aac", rate=48000)
        silence = np.zeros((1, 4096), np.float32)
        frame = av.AudioFrame.from_ndarray(silence, format="flt", layout="mono")
        frame.sample_rate = 48000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(FilmError, match="no video"):
        tag_file(sound, StereoLayout("sbs"))


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize(("layout", "kind", "flags"), LAYOUTS)
def test_frame_packing_is_what_ffmpegs_decoder_reads(codec, layout, kind, flags):
    del flags
    for right_first in (False, True):
        turned = StereoLayout(layout.packing, right_first=right_first)
        sei = frame_packing_sei(codec, turned)
        packets = encoded(ENCODERS[codec])
        packets[0] = with_sei(packets[0], codec, sei)
        frames = decode(codec, packets)
        said = {data.type: bytes(data) for data in frames[0].side_data}
        assert stereo(said) == (kind, INVERTED if right_first else 0)
        plain = decode(codec, encoded(ENCODERS[codec]))
        assert len(frames) == len(plain)
        for a, b in zip(frames, plain, strict=True):
            assert np.array_equal(a.to_ndarray(), b.to_ndarray())


def test_frame_packing_is_that_of_x264():
    """libx264 writes the same message with its own option."""
    theirs = encoded("libx264", {"x264-params": "frame-packing=3"})[0]
    ours = frame_packing_sei("h264", StereoLayout("half-sbs"))
    message = ours[1:]  # x264 puts it into a NAL unit of its own, too
    assert message[0] == 45
    at = theirs.index(bytes([6, 45]))
    their_message = theirs[at + 1 : at + 1 + len(message)]
    # All but whether the frames refer to each other (it says no: self-contained) and the flag
    # of the frame it is, which has no meaning here.
    assert bits(their_message)[16:35] == bits(message)[16:35]


def bits(message):
    return "".join(f"{byte:08b}" for byte in message)


def test_sei_in_packets_with_lengths(tmp_path):
    """As MP4 has them: the SEI gets a length of its own, and stands before the slice."""
    film = make(tmp_path / "film.mp4", "libx265")
    sei = frame_packing_sei("hevc", StereoLayout("half-tb"))
    with av.open(str(film)) as container:
        packet = next(p for p in container.demux(video=0) if p.size)
        extra = container.streams.video[0].codec_context.extradata
        units = with_sei(bytes(packet), "hevc", sei, length_size=4)
    assert len(units) == packet.size + 4 + len(sei)
    decoder = av.CodecContext.create("hevc", "r")
    decoder.extradata = extra
    frames = decoder.decode(av.Packet(units)) + decoder.decode(None)
    said = {data.type: bytes(data) for data in frames[0].side_data}
    assert stereo(said) == (TOP_BOTTOM, 0)


def test_nothing_to_say_or_nobody_to_say_it():
    assert frame_packing_sei("h264", StereoLayout()) == b""
    assert with_sei(b"\0\0\1\x65abc", "h264", b"") == b"\0\0\1\x65abc"
    with pytest.raises(UsageError, match="vp9"):
        frame_packing_sei("vp9", StereoLayout("sbs"))


def encoded(name, options=None):
    """Packets of a short film, with start codes."""
    context = av.CodecContext.create(name, "w")
    context.width, context.height, context.pix_fmt = 128, 64, "yuv420p"
    context.time_base = Fraction(1, 24)
    context.options = {**SHORT, **(options or {})}
    packets = []
    for n in range(4):
        frame = av.VideoFrame.from_ndarray(np.full((64, 128, 3), 50 * n, np.uint8), format="rgb24")
        frame.pts = n
        packets += context.encode(frame)
    return [bytes(packet) for packet in packets + context.encode(None)]


def decode(codec, packets):
    decoder = av.CodecContext.create(codec, "r")
    frames = [frame for data in packets for frame in decoder.decode(av.Packet(data))]
    return frames + decoder.decode(None)
