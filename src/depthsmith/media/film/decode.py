"""Decoded frames of one stream, in order of presentation, past all damage."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

from depthsmith.errors import FilmError
from depthsmith.film import FilmInfo
from depthsmith.media.film.open_file import opened, reason
from depthsmith.media.film.probe import declared_end_s

MAX_THREADS = 8  # each holds a picture or more
_GIVE_UP = 200  # reads in a row that fail
_GROUP = 600  # packets kept for a second try at the end of the film, at most
_LATEST = (1 << 62) - 1
_IN_DECODER = MAX_THREADS + 24
_INDEXED = {"mov", "matroska", "webm"}

Damage = Callable[[float | None, str], None]


class Decoder:
    """One open file and the decoder of its pictures.

    Args:
        damage: is told the time in seconds (or None) and the reason of everything that did
            not decode.

    Attributes:
        declared_end: see `DeclaredEnd`.
        end_s: the end of the last packet of any stream, in seconds of the file.
        at_end: whether the file was read to its end.
    """

    def __init__(self, info: FilmInfo, damage: Damage) -> None:
        self._exit = ExitStack()
        self._damage = damage
        self._info = info
        self.container = self._exit.enter_context(opened(info.path))
        if info.stream >= len(self.container.streams):
            self.close()
            raise FilmError(f"{info.path} has changed since it was looked at")
        self.stream = self.container.streams[info.stream]
        self.stream.thread_type = "AUTO"
        self.stream.codec_context.thread_count = min(os.cpu_count() or 1, MAX_THREADS)
        self.declared_end = declared_end_s(self.container, self.stream)
        self.end_s = 0.0
        self.at_end = False
        self._group: list[Any] = []
        self._sound = False  # whether a frame that others can refer to has been seen
        self._first: int | None = None  # its time
        self._suspect: int | None = None  # time of a packet that has been reported

    def close(self) -> None:
        """Close the file."""
        self._group.clear()
        self._exit.close()

    @property
    def seekable(self) -> bool:
        """Whether the file has an index by time."""
        return bool(set(self.container.format.name.split(",")) & _INDEXED)

    def seek(self, pts: int) -> None:
        """Go to the last key frame that the index has at or before ``pts``."""
        import av

        with suppress(av.error.FFmpegError):
            self.container.seek(min(pts, _LATEST), stream=self.stream)
        self._group.clear()
        self._sound = False

    def frames(self) -> Iterator[Any]:
        """PyAV frames from here to the end, without those that are damaged."""
        waiting = 0  # packets whose frames have not come yet
        last: int | None = None
        for packet in self._packets():
            waiting += bool(packet.size)
            for frame in self._decoded(packet, self.stream.codec_context):
                waiting -= 1
                if frame is None:
                    continue
                last = frame.pts if frame.pts is not None else last
                yield frame
        if waiting > 0 and last is not None:
            yield from self._second_try(last)
        self.at_end = True

    def _packets(self) -> Iterator[Any]:
        """Packets of the stream; the last one is empty and flushes the decoder."""
        import av

        failures = 0
        while failures < _GIVE_UP:
            try:
                for packet in self.container.demux():
                    if packet.size:
                        failures = 0
                    if packet.dts is not None and packet.time_base:
                        end = (packet.pts or packet.dts) + (packet.duration or 0)
                        self.end_s = max(self.end_s, float(end * packet.time_base))
                    if packet.stream_index == self._info.stream:
                        self._keep(packet)
                        yield packet
                break
            except IndexError:  # PyAV, at the end of files in which streams appear late
                break
            except av.error.FFmpegError as error:
                failures += 1
                if failures == 1:
                    self._damage(None, reason(error))
        yield av.Packet()  # once more does no harm

    def _keep(self, packet: Any) -> None:
        """Remember what a second try at the end needs: packets from a key frame on, and so
        many that all frames which may still be in the decoder are among them."""
        if packet.is_keyframe:
            starts = [n for n, p in enumerate(self._group[:-_IN_DECODER]) if p.is_keyframe]
            del self._group[: starts[-1] if starts else 0]
        if packet.size and len(self._group) < _GROUP:
            self._group.append(packet)

    def _decoded(self, packet: Any, context: Any) -> list[Any]:
        """Frames that come out; None stands for a packet or frame that is damaged."""
        import av

        found: list[Any] = []
        if packet.is_keyframe and not self._sound:
            self._sound, self._first = True, packet.pts
        if packet.is_corrupt:  # says the container; the codec may know how to go on
            self._suspect = packet.pts
            self._report(packet.pts, "its data is incomplete")
        try:
            frames = context.decode(packet if packet.size else None)
        except EOFError:
            return found
        except (av.error.FFmpegError, MemoryError) as error:
            self._report(packet.pts, reason(error))
            return [None]
        for frame in frames:
            frame.time_base = self._info.time_base
            if frame.is_corrupt and (frame.pts is None or frame.pts != self._suspect):
                self._report(frame.pts, "its data is damaged")
            found.append(None if frame.is_corrupt else frame)
        return found

    def _report(self, pts: int | None, reason: str) -> None:
        # Else the recording began between two key frames: what is shown before the first of
        # them may refer to what is not there.
        if self._sound and not (pts is not None and self._first is not None and pts < self._first):
            self._damage(None if pts is None else float(pts * self._info.time_base), reason)

    def _second_try(self, last: int) -> Iterator[Any]:
        """The last group of pictures once more, on one thread.

        PyAV stops to flush at the first error, and with threads some good frames wait behind
        a damaged one.
        """
        import av

        group, damage, self._damage = self._group, self._damage, lambda *_: None
        self._group = []
        try:
            # The file again, for a decoder that knows all the header says.
            with opened(self._info.path) as container:
                context = container.streams[self._info.stream].codec_context
                context.thread_count = 1
                for packet in [*group, av.Packet()]:
                    for frame in self._decoded(packet, context):
                        if frame is not None and frame.pts is not None and frame.pts > last:
                            yield frame
        finally:
            self._damage = damage
