"""Middleware that every request passes through."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headwater_server.app import create_app
from headwater_server.page import page_routes
from headwater_server.settings import ServeSettings
from support.api import client_of, fake_graph, metrics_with, slow_lineage
from support.waiting import eventually, patience


def test_browsers_are_reported_not_to_guess_frame_or_share(subtests: pytest.Subtests) -> None:
    with client_of(fake_graph()) as client:
        for path in ["/livez", "/api/v1/nothing", "/nothing", "/metrics", "/openapi.json"]:
            with subtests.test(path=path):
                headers = client.get(path, headers={"Origin": "https://elsewhere.example"}).headers
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["x-frame-options"] == "DENY"
                assert headers["referrer-policy"] == "no-referrer"
                assert "default-src 'none'" in headers["content-security-policy"]
                assert "unsafe-eval" not in headers["content-security-policy"]
                assert not [name for name in headers if name.startswith("access-control-")]
                assert "server" not in headers


def test_another_sites_name_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str, int]] = [
        ({}, "localhost:8470", 200),
        ({}, "LOCALHOST", 200),
        ({}, "127.0.0.1:1", 200),
        ({}, "[::1]:8470", 200),
        ({}, "elsewhere.example", 421),
        ({}, "localhost.elsewhere.example", 421),
        ({}, "", 421),
        ({"host": "127.0.0.2"}, "elsewhere.example", 421),
        ({"host": "127.0.0.2"}, "127.0.0.2:8470", 200),
        ({"host": "0.0.0.0"}, "lineage.example", 421),
        ({"host": "0.0.0.0", "allowed_hosts": "lineage.example, other"}, "lineage.example:80", 200),
        ({"host": "0.0.0.0", "allowed_hosts": "lineage.example, other"}, "elsewhere.example", 421),
        ({"allowed_hosts": "*"}, "elsewhere.example", 200),
    ]
    for settings, of_one_server in itertools.groupby(cases, key=lambda case: case[0]):
        with client_of(fake_graph(**settings)) as client:
            for _, host, status in of_one_server:
                with subtests.test(settings=settings, host=host):
                    answer = client.get("/livez", headers={"Host": host})
                    assert answer.status_code == status
                    assert (answer.headers["content-type"] == "application/problem+json") == (status == 421)


def test_a_body_that_is_too_large_is_refused() -> None:
    with client_of(fake_graph(body_max_bytes=2_000)) as client:
        path = "/api/v1/impact/analyze"
        for body in (b"x" * 2_001, _pieces()):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["type"]) == (413, "urn:headwater:too-large")
        assert client.post(path, content=b"x" * 2_000, headers={"Content-Type": "application/json"}).status_code == 422


def _pieces() -> Iterator[bytes]:
    """Without a Content-Length."""
    for _ in range(30):
        yield b"x" * 100


def test_more_questions_than_may_wait_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, release = slow_lineage(monkeypatch)
    path = "/api/v1/assets/orders/upstream"
    with client_of(fake_graph(threads=1, waiting_max=1)) as client, ThreadPoolExecutor(2) as pool:
        first = pool.submit(client.get, path)
        assert begun.acquire(timeout=patience(30))
        second = pool.submit(client.get, path)
        under_way = "headwater_serve_requests_under_way 3.0"  # the request for metrics is the third
        eventually(lambda: under_way in client.get("/metrics").text or second.done())
        assert not second.done()
        refused = client.get(path)
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:headwater:busy")
        assert refused.headers["retry-after"]
        assert client.get("/livez").status_code == 200
        assert not begun.acquire(blocking=False), "the second waits for the only thread"
        release.set()
        assert [each.result(patience(30)).status_code for each in (first, second)] == [200, 200]
        assert client.get(path).status_code == 200


def test_requests_are_counted_by_route_and_status() -> None:
    with client_of(fake_graph()) as client:
        client.get("/livez")
        client.get("/livez")
        client.get("/api/v1/assets/some-name/upstream?depth=0")
        client.get("/nothing/at/some-name")
        text = metrics_with(
            client,
            'headwater_serve_requests_total{route="/livez",status="200"} 2.0',
            'headwater_serve_requests_total{route="/api/v1/assets/{id}/upstream",status="422"} 1.0',
            'headwater_serve_requests_total{route="other",status="404"} 1.0',
            'headwater_serve_request_duration_seconds_count{route="/livez"} 2.0',
            'headwater_serve_requests_total{route="/api/v1/graph",status="503"} 0.0',
            "headwater_serve_requests_under_way 1.0",
        )
        assert client.get("/metrics").headers["content-type"].startswith("text/plain")
    assert "some-name" not in text


def test_a_server_without_its_graph_is_alive_and_not_ready() -> None:
    from headwater_analysis.errors import GraphUnreachableError

    with client_of(fake_graph(raises=GraphUnreachableError("away"))) as client:
        assert client.get("/livez").json() == {"alive": True}
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()) == (
            503,
            {"ready": False, "graph_reachable": False, "kafka_reachable": None},
        )
        assert "headwater_serve_graph_up 0.0" in client.get("/metrics").text
    with client_of(fake_graph()) as client:
        assert "headwater_serve_graph_up 1.0" in client.get("/metrics").text, "nobody has asked /readyz"
        assert client.get("/readyz").json() == {"ready": True, "graph_reachable": True, "kafka_reachable": None}


def test_the_page_is_its_files_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Lineage</title>")
    (tmp_path / "parts" / "a.js").write_text("'use strict'")
    (tmp_path.parent / "secret.txt").write_text("secret")
    app = create_app(fake_graph())
    app.router.routes = [route for route in app.router.routes if getattr(route, "path", "").startswith("/api/")]
    app.router.routes.extend(page_routes(tmp_path))
    with client_of(fake_graph(), app) as client:
        index = client.get("/")
        assert index.headers["content-type"].startswith("text/html")
        assert index.text == client.get("/index.html").text
        assert "script-src 'self'" in index.headers["content-security-policy"]
        again = client.get("/", headers={"If-None-Match": index.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        script = client.get("/parts/a.js", headers={"Accept-Encoding": "gzip"})
        assert script.headers["content-type"].startswith("text/javascript")
        assert (script.headers["content-encoding"], script.headers["vary"]) == ("gzip", "Accept-Encoding")
        plain = client.get("/parts/a.js", headers={"Accept-Encoding": "identity"})
        assert (plain.text, "content-encoding" in plain.headers) == (script.text, False)
        for path in (
            "/parts",
            "/parts/",
            "/parts/b.js",
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/parts/..%2f..%2fsecret.txt",
        ):
            assert client.get(path).status_code == 404, path
        refused = client.post("/")
        assert (refused.status_code, set(refused.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
        assert client.get("/api/v1/impact/analyze").status_code == 405
        assert client.delete("/api/v1/graph").headers["allow"] == "GET"
        assert client.head("/").status_code == 200


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_pages_that_are_shipped_are_served(path: str) -> None:
    with client_of(fake_graph()) as client:
        page = client.get(path)
        assert page.status_code == 200
        assert "script-src 'self';" in page.headers["content-security-policy"]
        for name in re.findall(r"""(?:src|href)="([\w./-]+)\"""", page.text):
            assert client.get(f"/{name.removeprefix('./')}").status_code == 200, name


def test_loopback_is_the_default() -> None:
    settings = ServeSettings()
    assert settings.host == "127.0.0.1"
    assert settings.hosts() == frozenset({"localhost", "127.0.0.1", "::1"})


def test_which_addresses_are_loopback(subtests: pytest.Subtests) -> None:
    cases = [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.255.1.9", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("127.0.0.1.example", False),
    ]
    for host, loopback in cases:
        with subtests.test(host=host):
            assert ServeSettings(host=host).loopback is loopback


FROM_A_SCRIPT = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
BY_A_LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-User": "?1"}
IN_A_FRAME = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
AS_AN_IMAGE = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}


def test_another_site_may_link_here_and_no_more(subtests: pytest.Subtests) -> None:
    cases = [
        ("none", BY_A_LINK, True),
        ("same-origin", FROM_A_SCRIPT, True),
        ("cross-site", FROM_A_SCRIPT, False),
        ("cross-site", IN_A_FRAME, False),
        ("cross-site", AS_AN_IMAGE, False),
        ("cross-site", {}, False),
        ("same-site", FROM_A_SCRIPT, False),
        ("cross-site", BY_A_LINK, True),
        ("same-site", BY_A_LINK, True),
    ]
    paths = ["/", "/livez", "/api/v1/assets/orders/upstream", "/openapi.json"]
    with client_of(fake_graph()) as client:
        for (site, how, welcome), path in itertools.product(cases, paths):
            with subtests.test(path=path, site=site, how=how):
                answer = client.get(path, headers={"Sec-Fetch-Site": site, **how})
                assert (answer.status_code == 200) is welcome
                if not welcome:
                    assert (answer.status_code, answer.json()["type"]) == (403, "urn:headwater:cross-site")


def test_another_sites_form_is_refused() -> None:
    with client_of(fake_graph()) as client:
        own = str(client.base_url).rstrip("/")
        for headers in (
            {"Sec-Fetch-Site": "cross-site", **BY_A_LINK},
            {"Sec-Fetch-Site": "same-site", **BY_A_LINK},
            {"Sec-Fetch-Site": "cross-site", "Origin": own},
            # Browsers without Fetch Metadata.
            *(
                {"Origin": each}
                for each in ("https://evil.example", "null", f"{own}.evil.example", own.rpartition(":")[0])
            ),
        ):
            answer = client.post("/api/v1/impact/analyze", json={}, headers=headers)
            assert (answer.status_code, answer.json()["type"]) == (403, "urn:headwater:cross-site"), headers
        for headers in ({}, {"Origin": own}, {"Sec-Fetch-Site": "same-origin", "Origin": own}):
            assert client.post("/api/v1/impact/analyze", json={}, headers=headers).status_code == 422
