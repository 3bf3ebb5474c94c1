"""Start and stop of the server."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from headwater_analysis.errors import AnalysisError, GraphUnreachableError, TimeLimitError
from headwater_server.server import HttpServer
from support.api import fake_graph, slow_lineage
from support.waiting import eventually, patience


def listens(url: str) -> bool:
    try:
        httpx.get(f"{url}/livez", trust_env=False, timeout=patience(30))
    except httpx.TransportError:
        return False
    return True


@pytest.mark.parametrize("error", [GraphUnreachableError("away"), TimeLimitError(5.0)])
def test_it_serves_while_neo4j_is_away_or_takes_its_time_after_a_start(error: AnalysisError) -> None:
    with contextlib.closing(HttpServer(fake_graph(raises=error))) as server:
        assert not server.check()


def test_what_takes_too_long_to_finish_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = slow_lineage(monkeypatch)
    with contextlib.closing(HttpServer(fake_graph(drain_seconds=1))) as server, ThreadPoolExecutor(1) as pool:
        running = threading.Thread(target=server.run)
        running.start()
        with httpx.Client(base_url=server.url, trust_env=False, timeout=patience(30)) as client:
            answer = pool.submit(client.get, "/api/v1/assets/orders/upstream")
            assert begun.acquire(timeout=patience(30))
            server.stop()
            reported = answer.result(patience(30))
            release.set()
        assert (reported.status_code, reported.json()["detail"]) == (503, "The server is being stopped.")
        running.join(patience(30))
        assert not running.is_alive()


def test_a_request_under_way_is_answered_and_no_other_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = slow_lineage(monkeypatch)
    with contextlib.closing(HttpServer(fake_graph(drain_seconds=60))) as server, ThreadPoolExecutor(1) as pool:
        running, url = threading.Thread(target=server.run), server.url
        running.start()
        with httpx.Client(base_url=url, trust_env=False, timeout=patience(30)) as client:
            answer = pool.submit(client.get, "/api/v1/assets/orders/upstream")
            assert begun.acquire(timeout=patience(30))
            server.stop()
            eventually(lambda: not listens(url))
            assert not answer.done()
            release.set()
            assert answer.result(patience(30)).json() == "done"
        running.join(patience(30))
        assert not running.is_alive()


def test_a_port_that_is_taken_is_an_error_at_once() -> None:
    with contextlib.closing(HttpServer(fake_graph())) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            HttpServer(fake_graph(port=port))


def test_an_ipv6_address_is_spelled_as_urls_have_it() -> None:
    with contextlib.suppress(OSError), contextlib.closing(HttpServer(fake_graph(host="::1"))) as server:
        assert server.url.startswith("http://[::1]:")
