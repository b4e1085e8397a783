"""What fails among many does not stop the rest: it is reported at the end."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from depthsmith.cli import console

if TYPE_CHECKING:
    from depthsmith.errors import DepthsmithError, OutputError


class Failures:
    """Collects errors of single inputs; says them when its ``with`` block is left, however.

    Args:
        what: an input is called, in the plural.
        total: how many there are. The failure of the only one is raised.
    """

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total = what, total
        self._errors: list[DepthsmithError] = []

    @contextlib.contextmanager
    def one(self, name: str) -> Iterator[None]:
        """While the input of that name is worked on."""
        from depthsmith.errors import InputError, ModelError, OutputError, UsageError

        try:
            yield
        except ModelError:
            raise  # all would fail in the same way
        except (InputError, UsageError, OutputError) as error:
            others_would = isinstance(error, OutputError) and not _is_of_name(error)
            if self.total == 1 or others_would:
                raise
            text = str(error)
            self._errors.append(error if name in text else type(error)(f"{name}: {text}"))

    def status(self) -> int:
        """The exit code of the first that failed, or 0; says how many failed."""
        if not self._errors:
            return 0
        console.error(f"{len(self._errors)} of {self.total} {self.what} failed")
        return self._errors[0].exit_code

    def __enter__(self) -> Failures:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for failure in self._errors:
            console.error(str(failure))


def _is_of_name(error: OutputError) -> bool:
    """Whether only the name of that file was too long."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno == errno.ENAMETOOLONG
