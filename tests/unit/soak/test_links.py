"""A link that is cut, frozen, slowed down and mended."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from headwater_benchmarks.soak.links import FaultyLink
from support.waiting import eventually, patience

pytestmark = pytest.mark.nightly


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that answers with what it receives."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(1_000):
                connection.sendall(data)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def connected(link: FaultyLink) -> socket.socket:
    return socket.create_connection(("127.0.0.1", link.port), timeout=patience(10))


def says(end: socket.socket, text: bytes) -> bytes:
    end.sendall(text)
    return end.recv(1_000)


def received(end: socket.socket) -> bytes:
    """Answer of the connection; nothing where it is gone, which systems report in two ways."""
    try:
        return says(end, b"b")
    except OSError:
        return b""


def test_what_is_cut_is_reset_and_what_is_mended_takes_new_connections(echo: int) -> None:
    with FaultyLink(echo) as link:
        before = connected(link)
        assert says(before, b"a") == b"a"
        link.cut()
        assert not received(before)
        before.close()
        link.mend()
        with connected(link) as after:
            assert says(after, b"c") == b"c"


def test_what_is_frozen_says_nothing_until_it_flows_again(echo: int) -> None:
    with FaultyLink(echo) as link, connected(link) as end:
        assert says(end, b"a") == b"a"
        link.freeze()
        end.settimeout(0.2)
        end.sendall(b"b")
        with pytest.raises(TimeoutError):
            end.recv(10)
        link.mend()
        end.settimeout(patience(10))
        assert end.recv(10) == b"b", "nothing was lost"


def test_what_is_slowed_down_takes_its_time(echo: int) -> None:
    with FaultyLink(echo) as link, connected(link) as end:
        link.slow_down(0.1)
        began = time.monotonic()
        assert says(end, b"a") == b"a"
        assert time.monotonic() - began >= 0.2, "there and back"


def test_a_link_counts_what_it_did_to_whom(echo: int) -> None:
    with FaultyLink(echo) as link, connected(link) as end:
        assert says(end, b"a") == b"a"
        assert (link.held_back, link.delayed) == (0, 0)
        link.slow_down(0.01)
        assert says(end, b"a") == b"a"
        assert link.delayed == 2, "there and back"
        link.mend()
        link.freeze()
        end.sendall(b"b")
        eventually(lambda: link.held_back)
        assert link.held_back == 1
        link.mend()
        assert link.cut() == 1
        assert link.cut() == 0, "nobody is left"
