"""The gate to the web: one GET, to a public address, bounded in size and time.

A name is resolved once, every address it has is checked, and the connection goes to one of
those very addresses: a name that resolves differently the next moment gains nothing. Each
redirect is checked in the same way. Proxies and credentials of the environment play no part.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from pydantic import Field

from .address import is_public
from .gate import gate

WITHIN_S = 30.0
"""Seconds for all of a fetch, redirects included, unless ``within_s`` is bound."""
MAX_BYTES = 10_000_000
"""Most bytes of a body that can be asked for."""
MAX_REDIRECTS = 5

_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_CHUNK = 65_536
_TEXT = re.compile(r"text/.*|application/(json|xml|javascript)|.*\+(json|xml)")
_UNTYPED = "application/octet-stream"
_URL_SAFE = "!#$%&'()*+,/:;=?@[]~"


@gate(idempotent=True, binds=("allow_private", "within_s"))
def fetch(
    url: str,
    max_bytes: Annotated[int, Field(ge=1, le=MAX_BYTES)] = 1_000_000,
    *,
    allow_private: bool = False,
    within_s: float = WITHIN_S,
) -> dict[str, Any]:
    """Get a page or file from the web: its url, status, type, body, and whether it was cut.

    The body is a str where it is text, bytes otherwise. An error status such as 404 is an
    answer like any other.

    Args:
        url: An http or https address without credentials.
        max_bytes: How much of the body to return; a longer one is cut, and `truncated` true.
        allow_private: Let it reach addresses that are not public; bound beforehand.
        within_s: Seconds for all of it; bound beforehand. Default 30.

    Raises:
        ValueError: The address is malformed, or of another scheme.
        PermissionError: It leads to an address that is not public.
        TimeoutError: It took too long.
        ConnectionError: The server can't be reached, or breaks off.
    """
    deadline = time.monotonic() + within_s
    for _ in range(MAX_REDIRECTS + 1):
        parts = _checked(url)
        with _exchange(parts, deadline, allow_private) as response:
            location = response.getheader("Location")
            if response.status not in _REDIRECTS or not location:
                return _answer(url, response, max_bytes)
        url = urljoin(url, location)
    raise ConnectionError(f"more than {MAX_REDIRECTS} redirects, the last to {_shown(url)}")


def _checked(url: str) -> SplitResult:
    """The parts of a URL that may be fetched."""
    if any(character <= " " or character == "\x7f" for character in url):
        raise ValueError(f"the url {_shown(url)} has spaces or control characters; escape them")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"the url {_shown(url)} is malformed: {error}") from None
    if parts.scheme not in _PORTS:
        raise ValueError(f"the url {_shown(url)} is neither http nor https")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a url with credentials is not fetched; leave out what is before the @")
    if not host or port == 0:
        raise ValueError(f"the url {_shown(url)} has no usable host and port")
    return parts


def _shown(url: str) -> str:
    return repr(url if len(url) <= 200 else f"{url[:200]}...")


@contextmanager
def _exchange(
    parts: SplitResult, deadline: float, allow_private: bool
) -> Iterator[http.client.HTTPResponse]:
    """Send the request; what fails on the way is raised in one line that names the host."""
    host = parts.hostname or ""
    try:
        with _connected(parts, deadline, allow_private) as connection:
            wire = http.client.HTTPConnection(host, parts.port or _PORTS[parts.scheme])
            wire.sock = _Timed(connection, deadline)
            wire.request("GET", _target(parts), headers=_headers(parts))
            yield wire.getresponse()
    except TimeoutError:
        raise TimeoutError(f"{host} gave no answer in time") from None
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", "") or error.reason or str(error)
        raise ConnectionError(f"{host}: no secure connection: {reason}") from None
    except http.client.HTTPException as error:
        raise ConnectionError(f"{host} broke the protocol: {type(error).__name__}") from None
    except (PermissionError, ConnectionError) as error:
        raise type(error)(str(error) if host in str(error) else f"{host}: {error}") from None
    except OSError as error:
        raise ConnectionError(f"{host} can't be reached: {error.strerror or error}") from None


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe=_URL_SAFE)
    return f"{path}?{quote(parts.query, safe=_URL_SAFE)}" if parts.query else path


def _headers(parts: SplitResult) -> dict[str, str]:
    host = _ascii(parts.hostname or "")
    shown = f"[{host}]" if ":" in host else host
    if parts.port not in (None, _PORTS[parts.scheme]):
        shown = f"{shown}:{parts.port}"
    return {"Host": shown, "User-Agent": "circlet", "Accept": "*/*", "Connection": "close"}


def _ascii(host: str) -> str:
    """The name as the network knows it: an international one in its ASCII form."""
    try:
        return host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise ConnectionError(f"{host} is no name of a host") from None


@contextmanager
def _connected(parts: SplitResult, deadline: float, allow_private: bool) -> Iterator[socket.socket]:
    """A connection to an address that was checked, with TLS for https."""
    host = _ascii(parts.hostname or "")
    found = _resolve(host, parts.port or _PORTS[parts.scheme])
    for *_, where in found:
        if not allow_private and not is_public(str(where[0])):
            raise PermissionError(
                f"{host} leads to {where[0]}, which is not a public address; "
                "the gate may be bound with allow_private=True"
            )
    with _connect(found, deadline) as connection:
        if parts.scheme == "http":
            yield connection
            return
        connection.settimeout(_left(deadline))
        context = ssl.create_default_context()
        with context.wrap_socket(connection, server_hostname=host) as secure:
            yield secure


_Found = Sequence[tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[Any, ...]]]


def _resolve(host: str, port: int) -> _Found:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConnectionError(f"{host} can't be resolved: {error.strerror}") from None
    except UnicodeError:
        raise ConnectionError(f"{host} is no name of a host") from None


def _connect(found: _Found, deadline: float) -> socket.socket:
    """A connection to the first of the addresses that answers."""
    failure: OSError = ConnectionError("no address")
    for family, kind, protocol, _, where in found:
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(_left(deadline))
            connection.connect(where)
            return connection
        except OSError as error:
            connection.close()
            failure = error
    raise failure


def _left(deadline: float) -> float:
    """Seconds until the deadline."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Timed(io.RawIOBase):
    """A connection of which every single read and write ends by the deadline.

    A timeout of the socket's own bounds each read by itself, and a server that sends a byte
    now and then would hold the thread for ever.
    """

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        """As a socket's; ``http.client`` sends with it."""
        self._connection.settimeout(_left(self._deadline))
        self._connection.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """As a socket's; ``http.client`` reads from it."""
        return io.BufferedReader(self, _CHUNK)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_left(self._deadline))
        return self._connection.recv_into(buffer)

    def close(self) -> None:
        """Nothing: who opened the connection closes it, once the body has been read."""


def _answer(url: str, response: http.client.HTTPResponse, max_bytes: int) -> dict[str, Any]:
    data = response.read(max_bytes + 1)
    truncated = len(data) > max_bytes
    if not truncated and response.length:
        raise ConnectionError(f"the server broke off, {response.length:,} bytes before the end")
    return {
        "url": url,
        "status": response.status,
        "type": _type(response),
        "body": _body(response, data[:max_bytes]),
        "truncated": truncated,
    }


def _type(response: http.client.HTTPResponse) -> str:
    return response.headers.get_content_type() if "Content-Type" in response.headers else _UNTYPED


def _body(response: http.client.HTTPResponse, data: bytes) -> str | bytes:
    """Text as text, where the headers say that it is; a character cut in two is marked."""
    charset = response.headers.get_content_charset()
    packed = response.getheader("Content-Encoding", "identity") != "identity"
    if packed or not (charset or _TEXT.fullmatch(_type(response))):
        return data
    try:
        return data.decode(charset or "utf-8", "replace")
    except LookupError:
        return data
