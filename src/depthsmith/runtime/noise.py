"""What ONNX Runtime prints while it loads a provider: kept from the user, quoted on failure."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

from depthsmith.runtime.failures import one_line

_LOCK = threading.Lock()


class Noise:
    """Text that was printed; empty until the block that captures it has ended."""

    text = ""

    def reason(self) -> str | None:
        """The line that says why a provider did not load, or None."""
        library = re.search(r"Failed to load library (\S+) with error: (.+)", self.text)
        if library:
            return one_line(library[2])
        failed = re.search(r"(?:Failed to create|EP Error|error code|Error:).*", self.text)
        return one_line(failed[0]) if failed else None


@contextlib.contextmanager
def captured() -> Iterator[Noise]:
    """Capture what the block writes to file descriptors 1 and 2, from C++ as well.

    A provider library says why it cannot load on standard error only; there is no call that
    returns it. The descriptors belong to the whole process, so this is used around the
    opening of a session that is not the CPU's, and nowhere else.
    """
    noise = Noise()
    printed = io.StringIO()  # where sys.stdout is not descriptor 1, as in a notebook
    with _LOCK, tempfile.TemporaryFile() as sink, contextlib.ExitStack() as stack:
        for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
            # No such descriptor in a program without a console.
            with contextlib.suppress(OSError):
                with contextlib.suppress(AttributeError, ValueError):
                    stream.flush()
                saved = os.dup(descriptor)
                stack.callback(_restore, saved, descriptor)
                os.dup2(sink.fileno(), descriptor)
        stack.enter_context(contextlib.redirect_stdout(printed))
        try:
            yield noise
        finally:
            with contextlib.suppress(AttributeError, ValueError, OSError):
                sys.stderr.flush()
            sink.seek(0)
            noise.text = sink.read().decode(errors="replace") + printed.getvalue()


def _restore(saved: int, descriptor: int) -> None:
    os.dup2(saved, descriptor)
    os.close(saved)
