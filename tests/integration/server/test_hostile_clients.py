"""`headwater serve` as a process, attacked by hundreds of clients on the loopback; no graph is needed for that."""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Iterator

import httpx
import pytest

from headwater_benchmarks.processes import serving
from support.waiting import patience

pytestmark = pytest.mark.timeout(180)

# Nobody listens there: port 9 is `discard`, and privileged.
SETTINGS = {
    "HEADWATER_NEO4J_URI": "bolt://127.0.0.1:9",
    "HEADWATER_NEO4J_PASSWORD": "unused-password",
    "HEADWATER_SERVE_PORT": "0",
}
HALF_A_HEAD = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-More: "

TWO_LENGTHS = (
    b"Content-Length: 5\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5",
    b"Content-Length: 5\r\nContent-Length: 60",
)


@contextlib.contextmanager
def connected(url: str, sent: bytes, times: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as open_:
        connections = []
        for _ in range(times):
            address = ("127.0.0.1", int(url.rpartition(":")[2]))
            connections.append(open_.enter_context(socket.create_connection(address, timeout=patience(30))))
            connections[-1].sendall(sent)
        yield connections


@pytest.mark.nightly
def test_a_body_with_two_lengths_is_refused() -> None:
    # One of two lengths is a proxy's, and what follows would be somebody else's request.
    hidden = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(SETTINGS) as server:
        for headers in TWO_LENGTHS:
            head = b"POST /api/v1/impact/analyze HTTP/1.1\r\nHost: localhost\r\n" + headers
            with connected(server.url(), head + b"\r\n\r\n0\r\n\r\n" + hidden, 1) as (connection,):
                answer = b"".join(iter(lambda: connection.recv(4_096), b""))
                assert answer.startswith(b"HTTP/1.1 400 "), answer
                assert answer.count(b"HTTP/1.1 ") == 1, answer
        assert server.stop() == 0


@pytest.mark.nightly
@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process can be set on Linux alone")
def test_a_process_out_of_files_waits_for_some_and_logs_little() -> None:
    with serving(SETTINGS | {"HEADWATER_SERVE_HEAD_TIMEOUT_SECONDS": "1"}) as server:
        url = server.url()
        with httpx.Client(base_url=url, trust_env=False, timeout=patience(60)) as client:
            lines = client.get("/metrics").text.splitlines()
            (held,) = [int(float(line.split()[1])) for line in lines if line.startswith("process_open_fds ")]
            _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (held + 40, hard))
            with connected(url, HALF_A_HEAD, 120) as halves:
                assert halves[0].recv(64).startswith(b"HTTP/1.1 408 ")
                assert httpx.get(f"{url}/livez", trust_env=False, timeout=patience(60)).status_code == 200
        assert server.stop() == 0
        assert server.stderr.count("out of system resource") <= 40


@pytest.mark.nightly
def test_what_is_no_http_is_logged_a_few_times() -> None:
    with serving(SETTINGS) as server:
        url = server.url()
        with connected(url, b"\x16\x03\x01 no HTTP\r\n\r\n", 300) as connections:
            for each in connections:
                assert each.recv(64).startswith(b"HTTP/1.1 400 ")
        assert server.stop() == 0
        assert 1 <= server.stderr.count("Invalid HTTP request") <= 40


@pytest.mark.nightly
def test_another_address_needs_the_names_that_it_is_called_by() -> None:
    anybody = ("--host", "0.0.0.0", "--allow-anonymous-reads")
    with serving(SETTINGS, *anybody) as server:
        assert server.wait() == 2
        assert "--allowed-host" in server.stderr
        assert "Lineage on" not in server.stderr
    with serving(SETTINGS, *anybody, "--allowed-host", "lineage.example", "--allowed-host", "b") as server:
        url = server.url().replace("0.0.0.0", "127.0.0.1")
        with httpx.Client(base_url=url, trust_env=False, timeout=patience(30)) as client:
            for host, status in (("lineage.example", 200), ("b:80", 200), ("elsewhere.example", 421)):
                assert client.get("/livez", headers={"Host": host}).status_code == status
        assert server.stop() == 0
    with serving(SETTINGS, "--host", "127.0.0.2") as server:
        with httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(30)) as client:
            assert client.get("/livez").status_code == 200
            assert client.get("/livez", headers={"Host": "elsewhere.example"}).status_code == 421
        assert server.stop() == 0
