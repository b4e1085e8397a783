"""Iterators that run ahead on a thread of their own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

# Waiting without end cannot be interrupted on Windows.
_WAIT_S = 0.5


class Relay(Generic[T]):
    """The items of ``source``, made ahead of their use on another thread.

    So stages that follow each other work at the same time::

        with Relay(decode(path), 4) as frames, Relay(estimate(frames), 4) as depths:
            for depth in depths: ...

    Args:
        source: is iterated, and closed if it can be, on the new thread only.
        ahead: so many items at most wait for their use; the source waits then.
        name: of the thread.

    What the source raises is raised where the item would have come. Leaving the ``with``
    block, or `close`, ends the thread after the item that it is at work on.
    """

    def __init__(self, source: Iterable[T], ahead: int, name: str = "relay") -> None:
        self._source = source
        self._ahead = ahead
        self._items: deque[T] = deque()
        self._changed = threading.Condition()
        self._closed = self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=f"depthsmith {name}", daemon=True)
        self._thread.start()

    def __enter__(self) -> Relay[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._changed:
            while not self._items and not self._ended:
                self._changed.wait(_WAIT_S)
            if self._items:
                item = self._items.popleft()
                self._changed.notify_all()
                return item
            error, self._error = self._error, None
        if error is not None:
            raise error
        raise StopIteration

    def close(self) -> None:
        """Stop the thread and wait for its end; what is made already is dropped."""
        with self._changed:
            self._closed = True
            self._items.clear()
            self._changed.notify_all()
        if self._thread is not threading.current_thread():
            while self._thread.is_alive():
                self._thread.join(_WAIT_S)

    def _work(self) -> None:
        try:
            for item in self._source:
                if not self._hand_over(item):
                    break
                del item  # or a frame more than said would be kept
        except BaseException as error:  # of any kind: it is raised on the other side
            self._error = error
        finally:
            close = getattr(self._source, "close", None)
            try:
                if close is not None:
                    close()
            except BaseException as error:
                self._error = self._error or error
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _hand_over(self, item: T) -> bool:
        """Wait for room; False when nobody wants items any more."""
        with self._changed:
            while len(self._items) >= self._ahead and not self._closed:
                self._changed.wait(_WAIT_S)
            if self._closed:
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True
