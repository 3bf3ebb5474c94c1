"""The whole checklist. Checks are independent, so a failed check doesn't affect the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from headwater.connection import client_config
from headwater.decoding import event_decoder
from headwater.doctor import access, backup, clocks, graph, lag, letters, outbox, topics
from headwater.doctor.finding import DoctorFinding, FindingSeverity, SubjectCheck
from headwater.errors import HeadwaterError
from headwater.events_topic import topic_state
from headwater.graph_driver import graph_driver
from headwater.kafka_errors import asking_kafka
from headwater.settings import Settings
from headwater_consumers.archive import ArchiveError
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.errors import LineageError

if TYPE_CHECKING:
    from neo4j import Driver

_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Examined:
    """Result of the checklist.

    Attributes:
        findings: findings sorted by severity, then in the order of the checklist.
    """

    findings: tuple[DoctorFinding, ...]
    totals: dict[FindingSeverity, int] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Iterable[DoctorFinding]) -> Examined:
        """Sort and count findings."""
        order = list(FindingSeverity)
        findings = tuple(sorted(found, key=lambda each: order.index(each.severity)))
        return cls(findings, {each: sum(f.severity is each for f in findings) for each in FindingSeverity})

    @property
    def failed(self) -> bool:
        """True if something has to be fixed."""
        return bool(self.totals[FindingSeverity.FAIL])


def examine(settings: Settings, *, folder: Path | None, budget_seconds: float, archive: str | None) -> Examined:
    """Make every check. Writes nothing.

    Args:
        folder: folder of outboxes on this machine; None: no job runs here.
        budget_seconds: longest time that consumers may be away.
        archive: archive of the events topic, if any.
    """
    now = datetime.now(UTC)
    found = [*_kafka(settings, now, budget_seconds, archive), *_neo4j(settings)]
    return Examined.of([*found, *(() if folder is None else outbox.judge(outbox.look(folder), now))])


def _kafka(settings: Settings, now: datetime, budget_seconds: float, archive: str | None) -> Iterator[DoctorFinding]:
    try:
        client = client_config(settings.kafka)
        specs = settings.topic.specs()
        with asking_kafka(settings.kafka, doing="describing topics"):
            seen, brokers = topics.look(client, [spec.name for spec in specs])
    except HeadwaterError as error:
        yield from _failed_server("Kafka", error, "HEADWATER_KAFKA_BOOTSTRAP_SERVERS")
        for check in ("topics", "ACLs", "dead letters", "lag", "backup"):
            yield SubjectCheck(check, "Kafka").unknown(
                "Not checked: Kafka doesn't answer.", "Run it again once Kafka answers."
            )
        return
    longest = settings.materializer.record_max_bytes
    yield from topics.judge(seen, specs, brokers=brokers, budget_seconds=budget_seconds, record_max_bytes=longest)
    names, group = settings.topic.names(), settings.materializer.group
    yield from _tried("ACLs", names.events, lambda: access.judge(access.look(client, list(seen)), names))
    if names.dead_letters in seen:
        topic = names.dead_letters
        yield from _tried("dead letters", topic, lambda: letters.judge(letters.look(client, topic, group), topic, now))
    if names.events not in seen:
        return
    events = names.events
    yield from _tried(
        "lag", group, lambda: lag.judge(lag.look(client, events, group), topic=events, group=group, now=now)
    )
    yield from _tried("clocks", events, lambda: _producers(settings, client, now))
    expires = topics.expires(seen[events])
    yield from _tried("backup", events, lambda: _backup(client, events, group, archive, expires=expires))


def _producers(settings: Settings, client: dict[str, str], now: datetime) -> Iterator[DoctorFinding]:
    topic = settings.topic.names().events
    state = topic_state(client, topic, settings.materializer.group)
    with event_decoder(settings) as decoder:
        stated = clocks.latest_event(client, topic, decoder)
    yield from clocks.judge_events([stated, None if state is None else state.last_event], topic, now)
    yield SubjectCheck("clocks", "Kafka").unknown("Brokers don't report their clocks.", "Run NTP or chrony on them.")


def _backup(
    client: dict[str, str], topic: str, group: str, location: str | None, *, expires: bool
) -> Iterator[DoctorFinding]:
    positions = OffsetReader(client, group=group).positions(topic, timeout_seconds=_SECONDS)
    found = None if location is None else backup.look(location, positions)
    begins = sum(each.begin for each in positions)
    yield from backup.judge(found, topic=topic, begins=begins, expires=expires)


def _neo4j(settings: Settings) -> Iterator[DoctorFinding]:
    try:
        with graph_driver(settings.neo4j) as driver:
            yield from _database(driver, settings.neo4j.database)
    except HeadwaterError as error:
        yield from _failed_server("Neo4j", error, "HEADWATER_NEO4J_URI")
        for check in ("graph version", "constraints", "indexes"):
            yield SubjectCheck(check, "Neo4j").unknown(
                "Not checked: Neo4j doesn't answer.", "Run it again once Neo4j answers."
            )


def _database(driver: Driver, database: str) -> list[DoctorFinding]:
    return [*graph.judge(graph.look(driver, database), database), clocks.judge(clocks.look(driver, database))]


def _failed_server(server: str, error: HeadwaterError, setting: str) -> Iterator[DoctorFinding]:
    fix = error.fix or f"Start it, or check {setting}."
    yield SubjectCheck("servers", server).fail(error.message, fix)


def _tried(check: str, subject: str, run: Callable[[], Iterable[DoctorFinding]]) -> list[DoctorFinding]:
    """Run a check and return its findings; if it raises an error, return a finding with this error."""
    try:
        return list(run())
    except ArchiveError as error:
        return [SubjectCheck(check, subject).fail(str(error), "Give --archive the --output of the archive job.")]
    except (KafkaException, LineageError, TimeoutError, ModuleNotFoundError) as error:
        return [
            SubjectCheck(check, subject).unknown(f"Not checked: {_text(error)}", "Remove the cause, and run it again.")
        ]


def _text(error: Exception) -> str:
    return f"{(error.args[0].str() if isinstance(error, KafkaException) else str(error)).rstrip('.')}."
