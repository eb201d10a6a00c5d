"""The gate to the web: what it returns, and where it doesn't go."""

from __future__ import annotations

import http.server
import importlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import circlet.gates.address
import pytest
from circlet.gates import fetch
from hypothesis import given
from hypothesis import strategies as st

CERTIFICATE = Path(__file__).with_name("localhost.pem")
private = fetch.bind(allow_private=True)


class Handler(http.server.BaseHTTPRequestHandler):
    """A server of a few fixed pages; `seen` is what it was asked."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = {
        "/": (200, {"Content-Type": "text/plain; charset=utf-8"}, "häll".encode()),
        "/latin": (200, {"Content-Type": "text/html; charset=latin-1"}, b"caf\xe9"),
        "/json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
        "/image": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
        "/untyped": (200, {}, b"?"),
        "/odd": (200, {"Content-Type": "text/plain; charset=nonsense"}, b"x"),
        "/gzip": (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, b"zipped"),
        "/missing": (404, {"Content-Type": "text/plain"}, b"no"),
        "/short": (200, {"Content-Length": "99"}, b"short"),
        "/there": (302, {"Location": "/json?x=1#part"}, b""),
        "/loop": (302, {"Location": "/loop"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
        "/login": (302, {"Location": "http://me:pw@127.0.0.1/"}, b""),
        "/public": (302, {"Location": "http://192.0.2.1/"}, b""),
        "/big": (200, {"Content-Type": "text/plain"}, b"x" * 2_000_000),
    }
    seen: list[tuple[str, dict[str, str]]] = []

    def do_GET(self) -> None:
        self.seen.append((self.path, dict(self.headers)))
        status, headers, body = self.pages[self.path.partition("?")[0]]
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server on this machine."""
    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        yield port


class serving:  # noqa: N801 - reads as a context manager
    """Runs a server while it is open; what it was asked is forgotten first."""

    def __init__(self, server: http.server.HTTPServer) -> None:
        self.server = server
        self.thread = threading.Thread(target=server.serve_forever, args=(0.01,))

    def __enter__(self) -> int:
        Handler.seen.clear()
        self.thread.start()
        return self.server.server_port

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def test_a_page_comes_with_its_status_type_and_text(call, port):
    """The answer says where it is from, and text is a str in the page's own encoding."""
    url = f"http://127.0.0.1:{port}/"
    assert call(private, url) == {
        "url": url,
        "status": 200,
        "type": "text/plain",
        "body": "häll",
        "truncated": False,
    }
    assert call(private, f"{url}latin")["body"] == "café"
    assert call(private, f"{url}json")["body"] == '{"a": 1}'


def test_what_is_no_text_comes_as_bytes(call, port):
    """Images, what has no type, an unknown encoding and packed content are left as they are."""
    for page, body in (
        ("image", b"\x89PNG"),
        ("untyped", b"?"),
        ("odd", b"x"),
        ("gzip", b"zipped"),
    ):
        assert call(private, f"http://127.0.0.1:{port}/{page}")["body"] == body


def test_an_error_status_is_an_answer(call, port):
    """A 404 is something the entity can look at."""
    answer = call(private, f"http://127.0.0.1:{port}/missing")
    assert (answer["status"], answer["body"]) == (404, "no")


def test_the_body_is_bounded(call, port):
    """A longer body is cut, and the answer says so; the bound has a bound."""
    url = f"http://127.0.0.1:{port}/big"
    assert len(call(private, url)["body"]) == 1_000_000
    assert call(private, url, max_bytes=3)["body"] == "xxx"
    assert call(private, url, max_bytes=3)["truncated"] is True
    assert call(private, url, max_bytes=2_000_000)["truncated"] is False
    with pytest.raises(TypeError, match="max_bytes must be less than or equal to 10000000"):
        call(private, url, max_bytes=10_000_001)


def test_a_server_that_breaks_off_is_an_error(call, port):
    """Half a page isn't passed off as a whole one."""
    with pytest.raises(
        ConnectionError, match=r"127\.0\.0\.1: the server broke off, 94 bytes before"
    ):
        call(private, f"http://127.0.0.1:{port}/short")


def test_a_redirect_is_followed(call, port):
    """The answer gives the address it came from in the end."""
    answer = call(private, f"http://127.0.0.1:{port}/there")
    assert answer["url"] == f"http://127.0.0.1:{port}/json?x=1#part"
    assert [path for path, _ in Handler.seen] == ["/there", "/json?x=1"]


def test_redirects_end(call, port):
    """Five redirects are followed, not more."""
    with pytest.raises(ConnectionError, match="more than 5 redirects"):
        call(private, f"http://127.0.0.1:{port}/loop")
    assert len(Handler.seen) == 6


@pytest.mark.parametrize(
    ("page", "complaint"), [("file", "neither http"), ("login", "credentials")]
)
def test_a_redirect_to_what_may_not_be_fetched(call, port, page, complaint):
    """Every redirect is checked as the first address is."""
    with pytest.raises(ValueError, match=complaint):
        call(private, f"http://127.0.0.1:{port}/{page}")


def test_a_redirect_to_a_private_address_is_refused(call, port, monkeypatch):
    """A public page can't send the gate inside: the redirect's own address is checked."""
    # The one name that counts as public here is the server's; what it sends on to doesn't.
    monkeypatch.setitem(Handler.pages, "/in", (302, {"Location": "http://127.0.0.2/"}, b""))
    actual = circlet.gates.address.is_public
    monkeypatch.setattr(
        importlib.import_module("circlet.gates.fetch"),
        "is_public",
        lambda where: where == "127.0.0.1" or actual(where),
    )
    with pytest.raises(PermissionError, match=r"127\.0\.0\.2 leads to 127\.0\.0\.2"):
        call(fetch, f"http://127.0.0.1:{port}/in")
    assert [path for path, _ in Handler.seen] == ["/in"]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "[::]",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::ffff:127.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[fe80::1]",
        "[fd00::1]",
        "[ff02::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ],
)
def test_what_is_not_public_is_refused(call, port, host):
    """Loopback, private, link-local, multicast and reserved addresses, however written."""
    with pytest.raises(PermissionError, match=r"not a public address.*allow_private=True"):
        call(fetch, f"http://{host}:{port}/")
    assert not Handler.seen


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1", "64:ff9b::808:808"]
)
def test_what_is_public_is_allowed(address):
    """Ordinary addresses, and those that stand for one, are not refused."""
    assert circlet.gates.address.is_public(address)


@given(st.ip_addresses(v=4, network="10.0.0.0/8") | st.ip_addresses(v=4, network="127.0.0.0/8"))
def test_a_private_address_is_private_in_every_dress(address):
    """An IPv6 address that stands for a private IPv4 one is no way round."""
    dressed = (f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}")
    assert not any(map(circlet.gates.address.is_public, (str(address), *dressed)))


def test_a_name_is_resolved_once_and_its_address_connected_to(call, port, monkeypatch):
    """A name that resolves to somewhere else the next moment gains nothing."""
    answers = [("127.0.0.1", port), ("127.0.0.2", port)]
    asked = []

    def resolve(host, *_, **__):
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", answers[len(asked) - 1])]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    assert call(private, "http://rebind.example/")["status"] == 200
    assert asked == ["rebind.example"]
    assert Handler.seen[0][1]["Host"] == "rebind.example"


def test_one_private_address_among_several_is_enough_to_refuse(call, monkeypatch):
    """All addresses of a name are checked before any is connected to."""
    found = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (where, 80))
        for where in ("8.8.8.8", "10.0.0.1")
    ]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    with pytest.raises(PermissionError, match=r"mixed\.example leads to 10\.0\.0\.1"):
        call(fetch, "http://mixed.example/")


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("file:///etc/passwd", "neither http nor https"),
        ("ftp://example.com/", "neither http nor https"),
        ("example.com", "neither http nor https"),
        ("http://", "no usable host"),
        ("http://x:0/", "no usable host"),
        ("http://x:99999/", "malformed"),
        ("http://x:y/", "malformed"),
        ("http://[::1/", "malformed"),
        ("http://me@example.com/", "credentials"),
        ("http://me:pw@example.com/", "credentials"),
        ("http://example.com/a b", "spaces or control"),
        ("http://example.com/\r\nX: y", "spaces or control"),
    ],
)
def test_an_address_that_will_not_do(call, url, complaint):
    """A malformed address, another scheme, or credentials: one line, without the password."""
    with pytest.raises(ValueError, match=complaint) as caught:
        call(fetch, url)
    assert "pw" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_host_that_is_not_there(call, unused_port):
    """A refused connection is one line with the host."""
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1: .*refused"):
        call(private, f"http://127.0.0.1:{unused_port}/")


@pytest.fixture
def unused_port() -> int:
    """A port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_server_that_says_nothing_is_given_up(call):
    """All of a fetch has one deadline."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(TimeoutError, match=r"127\.0\.0\.1 gave no answer in time"),
    ):
        call(private.bind(within_s=0.3), f"http://127.0.0.1:{server.getsockname()[1]}/")


def test_a_server_that_drips_is_given_up(call):
    """A byte now and then doesn't put the deadline off."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                try:
                    while connection.send(b"H"):
                        threading.Event().wait(0.01)
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        with pytest.raises(TimeoutError, match="no answer in time"):
            call(private.bind(within_s=0.3), f"http://127.0.0.1:{server.getsockname()[1]}/")
        dripping.join()


def test_nothing_of_the_environment_is_used(call, port, monkeypatch):
    """No proxy, no stored credentials: the request has only what the gate puts there."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9/")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    call(private, f"http://127.0.0.1:{port}/")
    assert Handler.seen[0][1] == {
        "Host": f"127.0.0.1:{port}",
        "User-Agent": "circlet",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }


def test_other_letters_are_sent_as_the_web_wants_them(call, port):
    """A path or query outside ASCII is percent-encoded, what is encoded already stays."""
    call(private, f"http://127.0.0.1:{port}/?q=ä%20b")
    assert Handler.seen[0][0] == "/?q=%C3%A4%20b"


@pytest.fixture
def secure_port() -> Iterator[int]:
    """The port of a server with TLS, whose certificate is for `localhost`, by nobody."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server) as port:
        yield port


def test_a_certificate_that_nobody_vouches_for_is_refused(call, secure_port):
    """TLS is verified; the error says what is wrong."""
    with pytest.raises(ConnectionError, match="localhost: no secure connection: self-signed"):
        call(private, f"https://localhost:{secure_port}/")
    assert not Handler.seen


def test_tls_is_verified_against_the_name(call, secure_port, monkeypatch):
    """Though the connection goes to an address, it is the name that the certificate is for."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    assert call(private, f"https://localhost:{secure_port}/")["body"] == "häll"
    assert Handler.seen[0][1]["Host"] == f"localhost:{secure_port}"
    with pytest.raises(ConnectionError, match="IP address mismatch"):
        call(private, f"https://127.0.0.1:{secure_port}/")
