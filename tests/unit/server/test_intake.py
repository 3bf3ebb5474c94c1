"""Events sent over HTTP: who may, what is answered, and when."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx

from headwater_openlineage.intake import request
from headwater_openlineage.intake.settings import IntakeSettings
from headwater_openlineage.intake.sink import Undeliverable
from headwater_schemas.identity import run_id_of
from headwater_server.middleware import intake
from headwater_server.routes import intake as routes
from support.api import client_of, fake_graph, held_back, metrics_with
from support.openlineage import FakeSink, run_data, run_event, run_id
from support.waiting import eventually, patience, stays

if TYPE_CHECKING:
    import pytest

ONE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
JSON = {"Content-Type": "application/json"}


@contextmanager
def door(sink: FakeSink | None = None, **serve: Any) -> Iterator[tuple[httpx.Client, FakeSink]]:
    sink = sink or FakeSink()
    graph = replace(fake_graph(**{"intake": True, **serve}), sink=sink)
    with client_of(graph) as client:
        yield client, sink


def metric(client: httpx.Client, name: str) -> float:
    (line,) = [line for line in client.get("/metrics").text.splitlines() if line.startswith(f"headwater_serve_{name} ")]
    return float(line.rpartition(" ")[2])


def ids(sink: FakeSink) -> list[str]:
    return [event.run.run_id for event in sink.taken if event.kind == "RUN" and event.run is not None]


def test_an_event_is_answered_201_once_it_is_acknowledged() -> None:
    with door() as (client, sink), ThreadPoolExecutor(1) as pool:
        sink.holding = True
        posted = pool.submit(client.post, ONE, content=run_data(), headers=JSON)
        eventually(lambda: sink.taken or posted.done())
        stays(lambda: not posted.done(), 0.2)
        sink.release()
        answer = posted.result(patience(30))
        assert (answer.status_code, answer.json()["events"]) == (201, len(sink.taken))
        assert run_id(1) in ids(sink)
        assert metric(client, "intake_accepted_total") == 1
        assert metric(client, "intake_duration_seconds_count") == 1


def test_an_event_is_counted_for_its_route_and_takes_no_parameters() -> None:
    with door() as (client, sink):
        assert client.post(ONE, json=run_event()).status_code == 201
        assert client.post(BATCH, json=[run_event(2)]).status_code == 201
        refused = client.post(ONE, json=run_event(3), params={"x": "1"})
        assert (refused.status_code, refused.json()["type"]) == (422, "urn:headwater:parameters")
        assert client.post("/api/v1/line%61ge", json=run_event(4)).status_code == 404
        assert ids(sink) == [run_id(1), run_id(2)]
        metrics_with(
            client,
            'headwater_serve_requests_total{route="/api/v1/lineage",status="201"} 1.0',
            'headwater_serve_requests_total{route="/api/v1/lineage/batch",status="201"} 1.0',
        )


def test_events_are_of_the_servers_tenant() -> None:
    with door() as (client, sink):
        client.post(ONE, json=run_event())
        assert {event.tenant for event in sink.taken} == {"default"}


def test_without_the_setting_nothing_is_accepted() -> None:
    with door(intake=False) as (client, sink):
        answer = client.post(ONE, json=run_event())
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:no-such-path")
        assert "HEADWATER_SERVE_INTAKE" in answer.json()["detail"]
        assert not sink.taken
    with client_of(fake_graph(intake=True)) as client:
        assert client.post(ONE, json=run_event()).status_code == 404


def test_what_is_no_event_is_refused_with_its_pointer(subtests: pytest.Subtests) -> None:
    cases = [
        (b"", ""),
        (b"nonsense", ""),
        (b"[]", ""),
        (b'"text"', ""),
        (b'{"a": NaN}', "/a"),
        (b"[" * 1_000 + b"]" * 1_000, ""),
        (b'{"a":' * 1_000 + b"1" + b"}" * 1_000, ""),
        (b"\xff\xfe", ""),
        (run_data(run={}), "/run/runId"),
        (run_data(run={"runId": True}), "/run/runId"),
    ]
    with door() as (client, sink):
        for body, pointer in cases:
            with subtests.test(body=body):
                answer = client.post(ONE, content=body, headers=JSON)
                document = answer.json()
                assert (answer.status_code, document["type"]) == (400, "urn:headwater:event"), answer.text
                assert answer.headers["content-type"] == "application/problem+json"
                assert document["errors"][0]["field"] == pointer
                assert document["errors"][0]["message"]
                assert not sink.taken
        assert metric(client, "intake_accepted_total") == 0
        for kind, count in (("not_an_event", 2), ("not_json", 8)):
            refused = f'headwater_serve_intake_refused_total{{reason="{kind}"}} {count}.0'
            assert refused in client.get("/metrics").text
        assert client.post(ONE, json=run_event()).status_code == 201


def test_an_event_that_is_not_to_the_letter_is_taken_with_notes_or_refused_if_strict() -> None:
    by_hand = run_event(1, run={"runId": "run-17"}, producer=None)
    with door() as (client, sink):
        answer = client.post(ONE, json=by_hand)
        assert answer.status_code == 201, answer.text
        assert [each["pointer"] for each in answer.json()["notes"]] == ["/producer", "/run/runId"]
        batch = client.post(BATCH, json=[run_event(2), by_hand])
        assert (batch.status_code, batch.json()["accepted"]) == (201, 2)
        assert [(each["index"], each["pointer"]) for each in batch.json()["notes"]] == [
            (1, "/producer"),
            (1, "/run/runId"),
        ]
        assert 'headwater_serve_intake_noted_total{kind="run_id"} 2.0' in client.get("/metrics").text
        assert run_id_of("run-17") in ids(sink)
    sink = FakeSink()
    graph = replace(fake_graph(intake=True), sink=sink, intake=IntakeSettings(strict=True))
    with client_of(graph) as client:
        answer = client.post(ONE, json=by_hand)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "/producer")
        assert not sink.taken


def test_an_event_that_kafka_finds_too_large_is_refused() -> None:
    with door() as (client, sink):
        sink.failure = Undeliverable("id", "MSG_SIZE_TOO_LARGE: it has 2,000,000 bytes", for_good=True)
        answer = client.post(ONE, json=run_event())
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:headwater:event")
        assert "2,000,000 bytes" in answer.json()["detail"]


def test_good_events_of_a_batch_are_published_and_the_others_listed(subtests: pytest.Subtests) -> None:
    for media in ["application/json", "application/x-ndjson"]:
        with subtests.test(media=media), door() as (client, sink):
            bodies = [run_data(1), b"{ nonsense", run_data(2, run={}), run_data(3)]
            body = b"[" + b",\n".join(bodies) + b"]" if media == "application/json" else b"\n".join(bodies)
            if media == "application/json":
                body = body.replace(b"{ nonsense", b"{ nonsense }")
            answer = client.post(BATCH, content=body, headers={"Content-Type": media})
            document = answer.json()
            assert answer.status_code == 207, answer.text
            assert (document["received"], document["accepted"]) == (4, 2)
            assert [(each["index"], each["pointer"]) for each in document["refused"]] == [(1, ""), (2, "/run/runId")]
            assert {run_id(1), run_id(3)} == set(ids(sink))
            assert metric(client, "intake_accepted_total") == 2


def test_a_batch_of_good_events_is_201_and_one_of_bad_events_400() -> None:
    with door() as (client, sink):
        good = client.post(BATCH, json=[run_event(1), run_event(2)])
        assert (good.status_code, good.json()["accepted"], good.json()["refused"]) == (201, 2, [])
        assert client.post(BATCH, json=[]).json() == {
            "received": 0,
            "accepted": 0,
            "refused": [],
            "events": 0,
            "notes": [],
        }
        sink.taken.clear()
        bad = client.post(BATCH, json=[{}, run_event(3, run={})])
        assert (bad.status_code, bad.json()["errors"][1]["field"]) == (400, "/1/run/runId")
        torn = client.post(BATCH, content=b"[" + run_data(4) + b", ", headers=JSON)
        assert (torn.status_code, torn.json()["type"]) == (400, "urn:headwater:event")
        assert not sink.taken


def test_a_batch_has_so_many_events_at_most() -> None:
    with door(intake_batch_max_events=3) as (client, sink):
        answer = client.post(BATCH, json=[run_event(number) for number in range(4)])
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:headwater:too-large")
        assert not sink.taken
        assert client.post(BATCH, json=[run_event(number) for number in range(3)]).status_code == 201


def test_a_kafka_that_doesnt_answer_is_503_and_is_tried_again() -> None:
    with door(intake_timeout_seconds=0.3) as (client, sink):
        sink.holding = True
        for path, body in ((ONE, run_event()), (BATCH, [run_event()])):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
            assert int(answer.headers["retry-after"]) > 0
            assert "broker-1" not in answer.text, "addresses of ours are for the log"
        assert metric(client, "intake_accepted_total") == 0
        assert metric(client, "intake_kafka_up") == 0
        ready = client.get("/readyz")
        assert ready.status_code == 200
        assert ready.json() == {"ready": True, "graph_reachable": True, "kafka_reachable": False}
        sink.holding = False
        assert metric(client, "intake_kafka_up") == 1
        assert client.get("/readyz").json() == {"ready": True, "graph_reachable": True, "kafka_reachable": True}
        eventually(lambda: client.post(ONE, json=run_event()).status_code == 201)


def test_the_longest_document_is_a_setting() -> None:
    sink = FakeSink()
    graph = replace(fake_graph(intake=True), sink=sink, intake=IntakeSettings(document_max_bytes=4_096))
    with client_of(graph) as client:
        answer = client.post(ONE, json=run_event(producer="https://example.com/" + "x" * 4_096))
        assert answer.status_code == 400
        assert "at most 4,096" in answer.text
        assert client.post(ONE, json=run_event()).status_code == 201


def test_a_full_buffer_is_503_and_costs_no_good_event() -> None:
    with door() as (client, sink):
        sink.room = 1
        assert client.post(BATCH, json=[run_event(1), run_event(2)]).status_code == 503
        sink.room = None
        assert client.post(BATCH, json=[run_event(1), run_event(2)]).status_code == 201


def test_no_more_requests_are_under_way_than_may_be() -> None:
    with door(intake_requests_max=2) as (client, sink), ThreadPoolExecutor(2) as pool:
        sink.holding = True
        posted = [pool.submit(client.post, ONE, json=run_event(number)) for number in range(2)]
        eventually(lambda: len(set(ids(sink))) == 2 or any(each.done() for each in posted))
        assert not any(each.done() for each in posted)
        answer = client.post(ONE, json=run_event(3))
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:busy")
        assert answer.headers["retry-after"]
        assert client.get("/api/v1/assets/x/upstream?depth=0").status_code == 422, "questions have places of their own"
        sink.release()
        assert [each.result(patience(30)).status_code for each in posted] == [201, 201]


def test_bodies_take_no_more_memory_together_than_they_may() -> None:
    with door(intake_buffer_max_bytes=1_048_576) as (client, sink), ThreadPoolExecutor(2) as pool:
        sink.holding = True
        large = run_event(1, eventTime="2026-11-20T10:00:00Z", padding="x" * 900_000)
        first = pool.submit(client.post, ONE, json=large)
        eventually(lambda: sink.taken or first.done())
        assert not first.done(), first.result().text
        answer = client.post(ONE, json=large)
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:busy")
        sink.release()
        assert first.result(patience(30)).status_code == 201
        sink.holding = False
        assert client.post(ONE, json=large).status_code == 201, "what was held is given back"


def test_a_body_that_is_too_large_is_413() -> None:
    with door(intake_body_max_bytes=2_000) as (client, sink):
        for body in (b" " * 2_001, iter([b" " * 1_500, b" " * 1_500])):
            answer = client.post(ONE, content=body, headers=JSON)
            assert (answer.status_code, answer.json()["type"]) == (413, "urn:headwater:too-large")
        assert not sink.taken


def test_gzip_is_unpacked(subtests: pytest.Subtests) -> None:
    body = run_data()
    with door() as (client, sink):
        for members in [1, 3]:
            with subtests.test(members=members):
                sink.taken.clear()
                cut = len(body) // members + 1
                packed = b"".join(gzip.compress(body[at : at + cut]) for at in range(0, len(body), cut))
                answer = client.post(ONE, content=packed, headers={**JSON, "Content-Encoding": "gzip"})
                assert answer.status_code == 201, answer.text
                assert run_id(1) in ids(sink)
        many = gzip.compress(json.dumps([run_event(number) for number in range(500)]).encode())
        answer = client.post(BATCH, content=many, headers={**JSON, "Content-Encoding": "gzip"})
        assert (answer.status_code, answer.json()["accepted"]) == (201, 500)


class CountingMember:
    """Decompressor of one gzip member that notes how many bytes each call returns."""

    def __init__(self, sizes: list[int], wbits: int) -> None:
        self._member = zlib.decompressobj(wbits)
        self._sizes = sizes

    def decompress(self, packed: bytes, most: int) -> bytes:
        part = self._member.decompress(packed, most)
        self._sizes.append(len(part))
        return part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._member, name)


def test_what_unpacks_to_more_than_it_may_is_413_and_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=9)
    assert len(bomb) < 250_000
    sizes: list[int] = []
    monkeypatch.setattr(
        intake, "zlib", SimpleNamespace(decompressobj=lambda wbits: CountingMember(sizes, wbits), error=zlib.error)
    )
    with door(intake_body_max_bytes=2_000_000) as (client, _):
        answer = client.post(ONE, content=bomb, headers={**JSON, "Content-Encoding": "gzip"})
        assert (answer.status_code, answer.json()["type"]) == (413, "urn:headwater:too-large")
        assert sum(sizes) == 2_000_001, "one byte more than allowed is unpacked, and no other"
        assert client.post(ONE, json=run_event()).status_code == 201
    assert intake.unpacked(bomb, most=1_000) is None


def test_what_isnt_gzip_is_refused(subtests: pytest.Subtests) -> None:
    with door() as (client, sink):
        for body in [b"no gzip", gzip.compress(run_data())[:-10], b""]:
            with subtests.test(body=body):
                answer = client.post(ONE, content=body, headers={**JSON, "Content-Encoding": "gzip"})
                assert (answer.status_code, answer.json()["type"]) == (415, "urn:headwater:media-type")
                assert not sink.taken


def test_other_media_sites_and_hosts_are_refused(subtests: pytest.Subtests) -> None:
    cases = [
        (ONE, {"Content-Type": "text/plain"}, 415),
        (ONE, {"Content-Type": "application/x-ndjson"}, 415),
        (ONE, {"Content-Type": "application/vnd.lineage+json; charset=utf-8"}, 201),
        (ONE, {**JSON, "Content-Encoding": "br"}, 415),
        (ONE, {**JSON, "Sec-Fetch-Site": "cross-site"}, 403),
        (ONE, {**JSON, "Host": "elsewhere.example"}, 421),
        (f"{ONE}?x=1", JSON, 422),
    ]
    with door() as (client, sink):
        for path, headers, status in cases:
            with subtests.test(path=path, headers=headers):
                sink.taken.clear()
                assert client.post(path, content=run_data(), headers=headers).status_code == status
                assert bool(sink.taken) == (status == 201)


def test_a_client_that_stalls_is_cut_off() -> None:
    with (
        door(body_timeout_seconds=0.5) as (client, _),
        socket.create_connection(("127.0.0.1", client.base_url.port or 0), patience(10)) as connection,
    ):
        head = (
            f"POST {ONE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n"
        )
        connection.sendall(head.encode() + b'{"eventType":')
        answer = b""
        while more := connection.recv(1_000):
            answer += more
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"A body has 0.5 s to arrive" in answer


def test_a_large_event_holds_nobody_else_up(subtests: pytest.Subtests) -> None:
    """Splitting, decoding and sending run in a thread."""
    large = [run_event(number, padding=["x"] * 2_000) for number in range(40)]
    for owner, step in [(routes, "_split"), (request, "receive"), (FakeSink, "send")]:
        with subtests.test(step=step), door() as (client, sink), ThreadPoolExecutor(1) as pool:
            with held_back(owner, step) as begun:
                posted = pool.submit(client.post, BATCH, json=large)
                assert begun.wait(patience(60))
                assert client.get("/livez").status_code == 200
                assert not posted.done()
            assert posted.result(patience(60)).status_code == 201
            assert len(set(ids(sink))) == 40


def test_no_spelling_of_the_path_gets_around_the_token(tmp_path: Path, subtests: pytest.Subtests) -> None:
    cases = ["/api/v1/line%61ge", "/api/v1/lineage/", "/api//v1/lineage", "/api/v1/lineage%2Fbatch"]
    with door(tokens_file=str(tmp_path / "tokens.json")) as (client, sink):
        for path in cases:
            with subtests.test(path=path):
                assert client.post(path, json=run_event()).status_code == 401
                assert not sink.taken


def test_get_is_no_way_to_send() -> None:
    with door() as (client, _):
        answer = client.get(ONE)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_what_waits_when_the_server_is_stopped_is_answered() -> None:
    sink = FakeSink()
    sink.holding = True
    answers: list[httpx.Response] = []
    with door(sink, drain_seconds=1, intake_timeout_seconds=60) as (client, _):
        url = f"{client.base_url}".rstrip("/")
        thread = threading.Thread(
            target=lambda: answers.append(httpx.post(url + ONE, json=run_event(), timeout=patience(30)))
        )
        thread.start()
        eventually(lambda: sink.taken)
    thread.join(patience(30))
    assert answers[0].status_code == 503
