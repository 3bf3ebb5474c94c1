"""Alerts on `headwater serve`: each has a real cause, fires, and is over once the cause is mended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from headwater_benchmarks.processes import ServeProcess, serving
from headwater_benchmarks.soak.links import FaultyLink
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    IncidentAction,
    IncidentEvent,
    IncidentSeverity,
    JobEvent,
    JobRef,
    LineageEvent,
)
from headwater_schemas.events.build import lineage_event
from headwater_server.identity import Scope
from support.api_tokens import TOKEN, tokens_file
from support.graph.emptying import delete_nodes
from support.materializer.events import START
from support.materializer.worlds import RealWorld
from support.openlineage import run_event
from support.prometheus_server import free_port, prometheus
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]

INTAKE = "/api/v1/lineage"
SCOPES = (Scope.READ, Scope.WRITE, Scope.OPERATE)


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def client(port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=patience(60)) as client:
        yield client


@contextlib.contextmanager
def served(settings: dict[str, str], port: int, **others: str) -> Iterator[ServeProcess]:
    """A server on the port; further settings as `threads`."""
    chosen = {f"HEADWATER_SERVE_{name.upper()}": value for name, value in {**others, "port": str(port)}.items()}
    with serving({**settings, **chosen}) as server:
        server.url()
        yield server


def ask(client: httpx.Client, **headers: str) -> Callable[[], httpx.Response]:
    return lambda: client.get("/api/v1/assets/orders/downstream", headers=headers)


def incident(action: IncidentAction, **stated: Any) -> LineageEvent:
    body = IncidentEvent(incident="INC-1", action=action, by="tests", **stated)
    return lineage_event(body, producer="p", event_time=START + timedelta(seconds=action is not IncidentAction.OPENED))


def test_neo4j_is_away_or_slow_and_rules_are_broken(
    settings: dict[str, str], port: int, client: httpx.Client, clean_database: Driver, tmp_path: Path
) -> None:
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    with (
        FaultyLink(int(settings["HEADWATER_NEO4J_URI"].rpartition(":")[2])) as link,
        served(
            {**settings, "HEADWATER_NEO4J_URI": f"bolt://127.0.0.1:{link.port}"},
            port,
            check_every_seconds="2",
            threads="1",
        ) as server,
        prometheus(tmp_path, {"headwater-serve": [port]}) as watching,
    ):
        broken_rule = watching.watch("HeadwaterCheckFinds")
        unseen = watching.watch("HeadwaterIncidentNew")
        writer.apply(fold([incident(IncidentAction.OPENED, title="t", severity=IncidentSeverity.SEV1)]))
        assert unseen.fire()["HeadwaterIncidentNew"]["severity"] == "critical"
        writer.apply(fold([incident(IncidentAction.ACKNOWLEDGED)]))
        unseen.clear()
        orphan = lineage_event(JobEvent(), job=JobRef("f", "orphan"), producer="p", event_time=START)
        writer.apply(fold([orphan]))
        eventually(lambda: watching.value("headwater_check_findings"), 90, expecting="the rules were checked")

        away = watching.watch("HeadwaterServeNotReady", "HeadwaterServeErrors", "HeadwaterCheckStale")
        link.cut()
        away.fire(ask(client))
        link.mend()
        away.clear(ask(client))
        assert "The rules weren't checked" in server.stderr

        assert broken_rule.fire()["HeadwaterCheckFinds"]["rule"] == "orphan-jobs"
        delete_nodes(clean_database)
        broken_rule.clear()

        slow = watching.watch("HeadwaterServeSlow")
        link.slow_down(0.05)
        with ThreadPoolExecutor(8) as people:
            asking: set[Future[httpx.Response]] = set()

            def keep_asking() -> None:
                asking.difference_update([question for question in asking if question.done()])
                asking.update(people.submit(ask(client)) for _ in range(8 - len(asking)))

            slow.fire(keep_asking)
            link.mend()
        slow.clear()


def test_credentials_files_and_the_audit(
    settings: dict[str, str], world: RealWorld, port: int, client: httpx.Client, tmp_path: Path
) -> None:
    tokens, audit = tmp_path / "tokens.json", tmp_path / "audit"
    audit.mkdir()
    tokens_file(tokens, *SCOPES)
    given = {**settings, "HEADWATER_AUDIT_FILE": str(audit / "audit.jsonl")}
    known = {"Authorization": f"Bearer {TOKEN}"}
    with (
        served(given, port, tokens_file=str(tokens), intake="true") as server,
        prometheus(tmp_path, {"headwater-serve": [port]}, token=TOKEN) as watching,
    ):
        assert ask(client, **known)().status_code == 404

        refused = watching.watch(
            "HeadwaterServeCredentialsRefused", "HeadwaterIntakeRefuses", "HeadwaterServeFilesBroken"
        )
        assert client.post(INTAKE, json={"no": "event"}, headers=known).status_code == 400
        tokens.write_text("{", encoding="utf-8")
        texts = refused.fire(ask(client, Authorization="Bearer hw_" + "00" * 32))
        assert texts["HeadwaterServeCredentialsRefused"]["reason"] == "unknown"
        assert ask(client, **known)().status_code == 404, "valid tokens remain so"
        tokens_file(tokens, *SCOPES)
        refused.clear()
        assert f"The tokens file {tokens} is broken" in server.stderr

        unwritten = watching.watch("HeadwaterServeAuditBroken")
        audit.rename(tmp_path / "elsewhere")
        unwritten.fire(ask(client, **known))
        (tmp_path / "elsewhere").rename(audit)
        unwritten.clear(ask(client, **known))


def test_it_is_down_and_kafka_is_away(
    settings: dict[str, str], world: RealWorld, stack: StackUnderTest, port: int, client: httpx.Client, tmp_path: Path
) -> None:
    intake = {"intake": "true", "intake_timeout_seconds": "1"}
    with prometheus(tmp_path, {"headwater-serve": [port]}) as watching:
        with served(settings, port, **intake) as server:
            down = watching.watch("HeadwaterServeDown")
            rejected = watching.watch("HeadwaterIntakeRejects")

            def send() -> httpx.Response:
                return client.post(INTAKE, json=run_event(0))

            with stack.paused("kafka"):
                assert rejected.fire(send)["HeadwaterIntakeRejects"]["reason"] == "kafka"
            rejected.clear(send)
            server.kill()
            down.fire()
        with served(settings, port, **intake):
            down.clear()
