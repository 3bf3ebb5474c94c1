"""Clients that send slowly, half, too much or nothing, and take no answers: others are answered all the same."""

from __future__ import annotations

import contextlib
import itertools
import logging
import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx

from headwater.commands.serve import RepeatLimit
from headwater_server.connections import network_of
from headwater_server.server import HttpServer
from support.api import fake_graph, slow_lineage
from support.waiting import eventually, patience

if TYPE_CHECKING:
    import pytest

HALF_A_HEAD = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-More: "
IMPACT = "/api/v1/impact/analyze"
UPSTREAM = "/api/v1/assets/orders/upstream"
SOON = 30


def post(length: int, body: bytes = b"") -> bytes:
    head = f"POST {IMPACT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}"
    return f"{head}\r\n\r\n".encode() + body


@contextlib.contextmanager
def listening(**serve: Any) -> Iterator[HttpServer]:
    with contextlib.closing(HttpServer(fake_graph(**serve))) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join(patience(SOON))
            assert not thread.is_alive()


@contextlib.contextmanager
def raw(server: HttpServer, *sent: bytes) -> Iterator[list[socket.socket]]:
    """A connection for each of `sent`, which is sent over it."""
    port = int(server.url.rpartition(":")[2])
    with contextlib.ExitStack() as open_:
        connections = []
        for each in sent:
            connections.append(
                open_.enter_context(socket.create_connection(("127.0.0.1", port), timeout=patience(SOON)))
            )
            connections[-1].sendall(each)
        yield connections


def all_of(connection: socket.socket) -> bytes:
    """Bytes received until the server closes the connection."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65_536):
            received += more
    return received


def get(server: HttpServer, path: str = "/livez") -> httpx.Response:
    return httpx.get(f"{server.url}{path}", trust_env=False, timeout=patience(SOON))


def test_a_head_that_never_ends_is_answered_408_in_time() -> None:
    with listening(head_timeout_seconds=0.3) as server, raw(server, HALF_A_HEAD, b"") as (half, nothing):
        assert all_of(half).startswith(b"HTTP/1.1 408 ")
        assert all_of(nothing) == b""
        assert server.connections.late == 2


def test_a_head_that_trickles_in_has_no_more_time() -> None:
    with listening(head_timeout_seconds=0.5) as server, raw(server, HALF_A_HEAD) as (half,):
        half.settimeout(0.02)

        def answered_or_closed() -> bool:
            try:
                half.sendall(b"x")
                return half.recv(64) != b""
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        eventually(answered_or_closed, SOON)
        assert server.connections.late == 1


def test_a_second_request_on_a_connection_has_a_deadline_too() -> None:
    first = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(head_timeout_seconds=patience(0.3), keep_alive_seconds=60) as server, raw(server, first) as (kept,):
        assert kept.recv(65_536).startswith(b"HTTP/1.1 200 ")
        kept.sendall(HALF_A_HEAD)
        assert b"HTTP/1.1 408 " in all_of(kept)


def test_a_connection_that_is_kept_is_closed_when_nothing_more_comes() -> None:
    first = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(keep_alive_seconds=1) as server, raw(server, first) as (kept,):
        assert all_of(kept).endswith(b'{"alive":true}')


def test_half_sent_heads_take_no_place_from_requests() -> None:
    limits = {"connections_max": 20, "connections_per_client_max": 20, "head_timeout_seconds": 600}
    with listening(**limits) as server, raw(server, *[HALF_A_HEAD] * 150) as halves:
        for path in ("/livez", "/readyz", "/metrics", "/", UPSTREAM):
            assert get(server, path).status_code == 200, path
        assert all_of(halves[0]) == b"", "the one that has waited longest made room"
        assert server.connections.evicted >= 130
        assert server.connections.counts.total() <= 20


def test_one_client_has_a_part_of_the_connections() -> None:
    with (
        listening(connections_max=20, connections_per_client_max=5, head_timeout_seconds=600) as server,
        raw(server, *[HALF_A_HEAD] * 10) as halves,
    ):
        assert all_of(halves[0]) == b""
        assert get(server).status_code == 200
        assert server.connections.counts.total() <= 5


def test_health_is_answered_while_every_connection_has_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = slow_lineage(monkeypatch)
    question = f"GET {UPSTREAM} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with listening(connections_max=3, threads=3) as server, raw(server, *[question] * 3) as asked:
        try:
            assert all(begun.acquire(timeout=patience(SOON)) for _ in asked)
            for path in ("/livez", "/readyz", "/metrics"):
                assert get(server, path).status_code == 200, path
            refused = get(server, UPSTREAM)
            assert (refused.status_code, refused.json()["type"]) == (503, "urn:headwater:busy")
            with raw(server, *[HALF_A_HEAD] * 40):
                assert get(server).status_code == 200
        finally:
            release.set()
        assert all(each.recv(65_536).startswith(b"HTTP/1.1 200 ") for each in asked)


def test_bodies_on_their_way_hold_no_place_among_questions() -> None:
    limits = {"threads": 1, "waiting_max": 1, "bodies_per_client_max": 200, "body_timeout_seconds": 600}
    with listening(**limits) as server, raw(server, *[post(100, b"{")] * 72):
        assert get(server, UPSTREAM).status_code == 200
        answer = httpx.post(
            f"{server.url}{IMPACT}",
            json={"dataset": "x", "type": "DATA_INCORRECT"},
            trust_env=False,
            timeout=patience(SOON),
        )
        assert answer.status_code == 200


def test_a_body_that_never_ends_is_answered_408_in_time() -> None:
    with listening(body_timeout_seconds=0.3) as server, raw(server, post(100, b"{")) as (half,):
        answer = all_of(half)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"urn:headwater:too-slow" in answer
        assert b"connection: close" in answer.lower()


def test_of_more_bodies_than_one_client_may_send_the_oldest_is_given_up() -> None:
    limits = {"bodies_per_client_max": 2, "body_timeout_seconds": 600}
    with listening(**limits) as server, raw(server, *[post(100, b"{")] * 3) as halves:
        assert all_of(halves[0]).startswith(b"HTTP/1.1 408 ")
        for each in halves[1:]:
            each.sendall(b"x" * 99)
            assert each.recv(65_536).startswith(b"HTTP/1.1 422 ")


def test_a_client_that_sends_too_much_reads_why(subtests: pytest.Subtests) -> None:
    chunked = post(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    for announced, size in itertools.product([True, False], [3_000, 10_000_000]):
        with subtests.test(announced=announced, size=size), listening(body_max_bytes=2_000) as server:
            # One that writes the whole of its body before it reads anything.
            port = int(server.url.rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", port), timeout=patience(SOON)) as connection:
                if announced:
                    connection.sendall(post(size, b"x" * size))
                else:
                    connection.sendall(chunked)
                    for _ in range(size // 1_000):
                        connection.sendall(b"3e8\r\n%b\r\n" % (b"x" * 1_000))
                    connection.sendall(b"0\r\n\r\n")
                answer = all_of(connection)
            assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
            assert b"urn:headwater:too-large" in answer


def test_a_body_that_nobody_reads_keeps_no_connection() -> None:
    elsewhere = post(100, b"{").replace(b"Host: localhost", b"Host: elsewhere.example")
    with listening() as server, raw(server, elsewhere) as (half,):
        assert all_of(half).startswith(b"HTTP/1.1 421 ")


def test_an_answer_that_is_not_taken_is_given_up() -> None:
    # Answers in a row that nobody reads: the second waits until the first is taken.
    script = b"GET /elk-worker.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(send_timeout_seconds=0.2, keep_alive_seconds=60) as server, raw(server, script * 8) as (_lazy,):

        def given_up() -> int:
            assert get(server).status_code == 200
            return server.connections.late

        eventually(given_up, SOON)


def test_an_address_stands_for_a_client() -> None:
    assert network_of("192.0.2.7") == "192.0.2.7"
    assert network_of("2001:db8:1:2:3::4") == network_of("2001:db8:1:2:ffff::1") == "2001:db8:1:2::/64"
    assert network_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert network_of("fe80::1%eth0") == "fe80::/64"
    assert network_of("no address") == "no address"


def test_a_message_is_logged_so_often_a_minute_and_then_how_often_it_was_not() -> None:
    now = 0.0
    limit = RepeatLimit(most=2, clock=lambda: now)

    def logged(text: str, *values: object) -> str | None:
        record = logging.LogRecord("uvicorn.error", logging.WARNING, __file__, 1, text, values, None)
        return record.getMessage() if limit.filter(record) else None

    assert [logged("from %s", n) for n in range(5)] == ["from 0", "from 1", None, None, None]
    assert logged("something else") == "something else"
    now = 61.0
    assert logged("from %s", 5) == "from 5 (and 3 times more that weren't logged)"
    assert logged("from %s", 6) == "from 6"
    assert logged("from %s", 7) is None
