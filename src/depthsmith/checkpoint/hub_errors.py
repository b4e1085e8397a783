"""What went wrong between us and the hub, in one line."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from typing import Any


class HubError(Exception):
    """The hub gave no good answer.

    Attributes:
        passing: whether it may work later or elsewhere (no network, hub overloaded), so that
            a cached copy is as good as what the hub would have sent.
    """

    def __init__(self, reason: str, *, passing: bool) -> None:
        super().__init__(reason)
        self.passing = passing


def explain(error: BaseException, what: str, revision: str, endpoint: str) -> HubError:
    """Put an exception of ``huggingface_hub``, or of what is under it, in words.

    The HTTP library below differs between versions of ``huggingface_hub``; its exceptions
    are recognised by name.

    Args:
        what: repository, or repository/file.
        revision: branch, tag or commit that was asked for.
        endpoint: address of the hub.
    """
    chain = list(_chain(error))
    for cause in chain:
        disk = _explain_disk(cause)
        if disk:
            return HubError(f"{what} cannot be stored: {disk}", passing=False)
    for cause in chain:
        if _status(cause):
            return _explain_status(cause, what, revision, endpoint)
    for cause in chain:
        network = _explain_network(cause)
        if network:
            return HubError(f"{endpoint} cannot be reached ({network})", passing=True)
    text = _first_line(error)
    if any(isinstance(cause, ValueError | KeyError | TypeError) for cause in chain) or any(
        type(cause).__name__ == "FileMetadataError" for cause in chain
    ):
        return HubError(
            f"what answers at {endpoint} is not a model hub ({text}); "
            "check HF_ENDPOINT, and whether this network asks for a login",
            passing=True,
        )
    return HubError(f"{what} could not be fetched from {endpoint} ({text})", passing=True)


def _explain_status(error: BaseException, what: str, revision: str, endpoint: str) -> HubError:
    from huggingface_hub import errors, get_token

    status, token, passing = _status(error), get_token(), False
    if isinstance(error, errors.GatedRepoError):
        page = f"{endpoint}/{'/'.join(what.split('/')[:2])}"
        then = "the token in use has none" if token else "then set HF_TOKEN"
        reason = f"{what} is gated; ask for access at {page} ({then})"
    elif isinstance(error, errors.RevisionNotFoundError):
        reason = f"{what} has no revision {revision} on {endpoint}"
    elif isinstance(error, errors.EntryNotFoundError):
        reason = f"there is no {what} at {revision} on {endpoint}"
    elif status == 401 and token:
        reason = f"{endpoint} does not accept the token in use for {what} (401); renew HF_TOKEN"
    elif status == 401:
        reason = (
            f"{endpoint} has no public {what} (401); check the name, "
            "or set HF_TOKEN if it is private"
        )
    elif status == 403:
        said = (getattr(error, "server_message", None) or "no reason given").splitlines()[0]
        reason = f"{endpoint} refuses access to {what} (403: {said})"
    elif status == 404:
        reason = f"there is no {what} on {endpoint} (404)"
    elif status == 429:
        wait = _header(error, "Retry-After")
        when = f"in {wait} s" if wait.isdigit() else "later"
        reason = f"{endpoint} is asked too often from here (429); try again {when}"
        passing = True
    elif status == 408 or status >= 500:
        reason = f"{endpoint} has a fault of its own ({status})"
        passing = True
    else:
        reason = f"{endpoint} answers {status} for {what}"
    return HubError(reason, passing=passing)


def _explain_disk(error: BaseException) -> str | None:
    # TLS errors are OSErrors with numbers of their own; a connection that a firewall forbids
    # is a PermissionError without a file name.
    if not isinstance(error, OSError) or isinstance(error, ssl.SSLError):
        return None
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    if error.errno and error.filename:
        reason = (error.strerror or type(error).__name__).lower()
        return f"{reason}: {error.filename}; set HF_HOME to a folder that can be written"
    return None


def _explain_network(error: BaseException) -> str | None:
    name = type(error).__name__
    reason: str | None = None
    if isinstance(error, ssl.SSLError):
        detail = getattr(error, "verify_message", "") or error.reason or "TLS failed"
        reason = f"TLS: {detail}; behind a company proxy, set SSL_CERT_FILE to its certificate"
    elif isinstance(error, socket.gaierror):
        reason = "its name cannot be looked up"
    elif isinstance(error, ConnectionRefusedError):
        reason = "connection refused"
    elif isinstance(error, TimeoutError) or "Timeout" in name:
        reason = "no answer in time"
    elif name == "ProxyError":
        reason = f"the proxy refuses: {_first_line(error)}"
    elif name in ("RemoteProtocolError", "ReadError"):
        reason = "it cut the connection"
    elif isinstance(error, OSError) and error.errno in _NETWORK:
        reason = (error.strerror or "network error").lower()
    return reason


_NETWORK = {
    errno.ENETUNREACH,
    errno.EHOSTUNREACH,
    errno.ENETDOWN,
    errno.ECONNRESET,
    errno.ECONNABORTED,
    errno.EPIPE,
    errno.EACCES,
    errno.EPERM,
}


def _status(error: BaseException) -> int:
    response: Any = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) and status >= 400 else 0


def _header(error: BaseException, name: str) -> str:
    response: Any = getattr(error, "response", None)
    return str(response.headers.get(name) or "")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that led to it, innermost last."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        seen.add(id(step))
        yield step
        step = step.__cause__ or step.__context__


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].strip() if lines else type(error).__name__
