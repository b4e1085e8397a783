"""Every error that depthsmith raises on purpose, and the exit code each becomes.

::

    DepthsmithError                 1  a fault of ours
    ├── UsageError                  2  options that contradict each other
    ├── InputError                  3  something we were given is unusable
    │   ├── ImageError                   a picture or depth file
    │   ├── FilmError                    a film
    │   ├── CheckpointError              weights
    │   ├── ModelError                   an ONNX file or its contract
    │   └── DatasetError                 ground truth for an evaluation
    ├── LicenseError                4  the licence is outside the allow-list
    ├── VerificationError           5  a graph does not do what it should
    ├── ProviderError               6  the requested execution provider did not load
    ├── OutputError                 7  a file could not be written
    └── FetchError                  8  weights could not be had from the hub

Messages are one line: what is wrong, then what to do. The library raises them, the
command line prints them. Interrupting with Ctrl-C ends with 130, as in a shell.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of the ``depthsmith`` command."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    BAD_INPUT = 3
    LICENSE = 4
    VERIFICATION = 5
    PROVIDER = 6
    OUTPUT = 7
    FETCH = 8
    INTERRUPTED = 130


class DepthsmithError(Exception):
    """Base of all errors raised on purpose."""

    exit_code = ExitCode.INTERNAL


class UsageError(DepthsmithError):
    """Options or arguments that do not go together."""

    exit_code = ExitCode.USAGE


class InputError(DepthsmithError):
    """Something we were given is missing, broken or of an unsupported form."""

    exit_code = ExitCode.BAD_INPUT


class ImageError(InputError):
    """A picture or depth file that cannot be read."""


class FilmError(InputError):
    """A film that cannot be read, or whose pictures are damaged."""


class CheckpointError(InputError):
    """Weights that are missing, misshapen, not finite, hostile, or of no known network."""


class ModelError(InputError):
    """An ONNX file that cannot be loaded, or whose meaning is not known."""


class DatasetError(InputError):
    """Ground truth that cannot be used."""


class LicenseError(DepthsmithError):
    """Weights under a licence that the caller has not allowed."""

    exit_code = ExitCode.LICENSE


class VerificationError(DepthsmithError):
    """A graph whose output is not what the network computes."""

    exit_code = ExitCode.VERIFICATION


class ProviderError(DepthsmithError):
    """An execution provider that was asked for and is not there."""

    exit_code = ExitCode.PROVIDER


class OutputError(DepthsmithError):
    """A result that could not be written."""

    exit_code = ExitCode.OUTPUT


class FetchError(DepthsmithError):
    """The hub is out of reach, or what it sent is not what it announced."""

    exit_code = ExitCode.FETCH
