"""Each finding of the checklist has a case that makes it, and one that nearly does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.doctor import access, backup, clocks, graph, lag, letters, outbox, topics
from headwater.doctor.examine import Examined
from headwater.doctor.finding import DoctorFinding, FindingSeverity, duration_text
from headwater_graph.schema import GRAPH_VERSION
from headwater_graph.statements import names
from headwater_producers.outbox.store import Store
from headwater_schemas.record import Record
from headwater_schemas.topics import TopicNames, topic_specs

if TYPE_CHECKING:
    import pytest

NOW = datetime(2025, 1, 31, 12, tzinfo=UTC)
NAMES = TopicNames()
DAY = 86_400.0
LONGEST = 16_777_216
FAIL, WARN, UNKNOWN, OK = FindingSeverity.FAIL, FindingSeverity.WARN, FindingSeverity.UNKNOWN, FindingSeverity.OK


def of(check: str, found: Iterable[DoctorFinding], subject: str | None = None) -> list[FindingSeverity]:
    """Severities of one check, also that everything but OK says what to do, unless nothing can be."""
    findings = list(found)
    for each in findings:
        assert each.message.endswith((".", "…")), each
        assert each.fix or each.severity in (OK, UNKNOWN), each
    return [each.severity for each in findings if each.check == check and subject in (None, each.subject)]


# Topics.


def topic(name: str = NAMES.events, replicas: int = 3, in_sync: int | None = None, **config: str) -> topics.SeenTopic:
    settings = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1", "min.insync.replicas": "2"}
    changed = {key.replace("_", "."): value for key, value in config.items()}
    behind = replicas if in_sync is None else in_sync
    return topics.SeenTopic(name, settings | changed, (replicas, replicas), (replicas, behind))


def judged(seen: topics.SeenTopic, brokers: int = 3, budget: float = 3 * DAY) -> list[DoctorFinding]:
    specs = [spec for spec in topic_specs(max_message_bytes=1_000_000) if spec.name == seen.name]
    return list(
        topics.judge({seen.name: seen}, specs, brokers=brokers, budget_seconds=budget, record_max_bytes=LONGEST)
    )


def test_a_topic_that_is_not_there() -> None:
    found = list(topics.judge({}, topic_specs(), brokers=3, budget_seconds=DAY, record_max_bytes=LONGEST))
    assert of("topics", found) == [FAIL, FAIL, FAIL]
    assert of("topics", judged(topic())) == []


def test_whose_time_records_have() -> None:
    hour = {"message.timestamp.after.max.ms": "3600000"}
    cases: list[tuple[dict[str, Any], FindingSeverity]] = [
        ({"message.timestamp.type": "LogAppendTime"}, OK),
        (hour, OK),
        ({}, WARN),
        ({"message.timestamp.after.max.ms": str(2**63 - 1)}, WARN),
    ]
    for config, severity in cases:
        assert of("timestamps", judged(topic(**config))) == [severity], config
    assert of("timestamps", judged(topic(NAMES.dead_letters))) == []


RETENTIONS: list[tuple[dict[str, str], FindingSeverity]] = [
    ({}, OK),
    ({"retention.ms": str(3 * 86_400_000 - 1)}, FAIL),
    ({"retention.ms": str(3 * 86_400_000)}, WARN),
    ({"retention.ms": "0"}, FAIL),
    ({"retention.bytes": "1000000000"}, WARN),
    ({"retention.bytes": "0"}, WARN),
    ({"retention.bytes": "1000000000", "retention.ms": str(3 * 86_400_000 - 1)}, FAIL),
]


def test_retention_against_the_outage_budget(subtests: pytest.Subtests) -> None:
    for retention, severity in RETENTIONS:
        with subtests.test(retention=retention):
            seen = topic()
            limited = replace(seen, config={**seen.config, **retention})
            assert of("retention", judged(limited)) == [severity]
            # What expires can't be made anew from the topic alone: the check of the backup asks for an archive.
            assert topics.expires(limited) is (severity is not OK)


POLICIES: list[tuple[str, str, FindingSeverity]] = [
    (NAMES.events, "delete", OK),
    (NAMES.events, "compact", FAIL),
    (NAMES.events, "compact,delete", FAIL),
    (NAMES.dead_letters, "compact", FAIL),
    (NAMES.schemas, "compact", OK),
    (NAMES.schemas, "delete", FAIL),
    (NAMES.schemas, "compact,delete", FAIL),
]


def test_compaction(subtests: pytest.Subtests) -> None:
    for name, policy, severity in POLICIES:
        with subtests.test(name=name, policy=policy):
            assert of("compaction", judged(topic(name, cleanup_policy=policy))) == [severity]


REPLICATIONS: list[tuple[topics.SeenTopic, int, FindingSeverity]] = [
    (topic(), 3, OK),
    (topic(in_sync=2), 3, FAIL),
    (topic(replicas=1), 3, FAIL),
    (topic(replicas=1), 2, FAIL),
    (topic(replicas=1), 1, WARN),
    (topic(replicas=4, min_insync_replicas="3"), 3, OK),
    (topic(min_insync_replicas="1"), 3, WARN),
    (topic(min_insync_replicas="3"), 3, WARN),
    (topic(replicas=2, min_insync_replicas="2"), 3, WARN),
    (topic(replicas=2, min_insync_replicas="1"), 3, WARN),
]


def test_replication(subtests: pytest.Subtests) -> None:
    for seen, brokers, severity in REPLICATIONS:
        with subtests.test(seen=seen, brokers=brokers):
            assert of("replication", judged(seen, brokers)) == [severity]


def test_the_largest_record() -> None:
    assert of("max.message.bytes", judged(topic(max_message_bytes="1000000"))) == [OK]
    assert of("max.message.bytes", judged(topic(max_message_bytes="999999"))) == [FAIL]
    assert of("max.message.bytes", judged(topic(max_message_bytes=str(LONGEST)))) == [OK]
    assert of("max.message.bytes", judged(topic(max_message_bytes=str(LONGEST + 1)))) == [FAIL], (
        "consumers can't take it"
    )
    assert of("max.message.bytes", judged(topic(NAMES.dead_letters, max_message_bytes="1000000"))) == [FAIL]
    assert of("max.message.bytes", judged(topic(NAMES.dead_letters, max_message_bytes="1065536"))) == [OK]


# Access.


def seen_access(
    own: Mapping[str, frozenset[str] | None] | None = None,
    rules: tuple[access.SeenRule, ...] | None = (),
    *,
    enforced: bool | None = True,
) -> list[DoctorFinding]:
    every = dict.fromkeys((NAMES.events, NAMES.dead_letters, NAMES.schemas), frozenset({"READ", "WRITE", "DESCRIBE"}))
    return list(access.judge(access.SeenAccess(every if own is None else own, rules, enforced), NAMES))


def test_what_the_own_user_needs() -> None:
    assert of("access", seen_access()) == [OK, OK, OK]
    assert of("access", seen_access({NAMES.events: frozenset({"DESCRIBE"})})) == [FAIL]
    assert of("access", seen_access({NAMES.events: frozenset({"DESCRIBE", "READ"})})) == [OK]
    assert of("access", seen_access({NAMES.events: frozenset({"READ"})})) == [FAIL]
    assert of("access", seen_access({NAMES.dead_letters: frozenset({"READ"})})) == [FAIL]
    assert of("access", seen_access({NAMES.dead_letters: frozenset({"WRITE"})})) == [FAIL]
    assert of("access", seen_access({NAMES.dead_letters: frozenset({"READ", "WRITE"})})) == [OK]
    assert of("access", seen_access({NAMES.schemas: frozenset({"DESCRIBE"})})) == [FAIL]
    assert of("access", seen_access({NAMES.schemas: frozenset({"READ"})})) == [OK]
    assert of("access", seen_access({NAMES.dead_letters: frozenset({"ALL"})})) == [OK]
    assert of("access", seen_access({NAMES.events: None})) == [UNKNOWN]


def test_what_everybody_may_do() -> None:
    def rule(principal: str, operation: str) -> list[FindingSeverity]:
        return of("ACLs", seen_access(rules=(access.SeenRule(NAMES.events, principal, operation),)))

    for changes in ("WRITE", "DELETE", "ALTER", "ALTER_CONFIGS", "ALL"):
        assert rule("User:*", changes) == [FAIL], changes
    for looks in ("READ", "DESCRIBE", "DESCRIBE_CONFIGS"):
        assert rule("User:*", looks) == [OK], looks
    assert rule("User:spark", "WRITE") == [OK]
    assert of("ACLs", seen_access(rules=None)) == [UNKNOWN]
    assert of("ACLs", seen_access(rules=None, enforced=False)) == [WARN]


# Graph.


def whole() -> graph.SeenGraph:
    return graph.SeenGraph(
        GRAPH_VERSION,
        frozenset(name for name, kind in graph.wanted().items() if kind == "CONSTRAINT"),
        {name: "ONLINE" for name, kind in graph.wanted().items() if kind == "INDEX"},
    )


def test_every_statement_of_the_schema_is_wanted() -> None:
    assert len(graph.wanted()) == len(names("schema"))


def test_version_constraints_and_indexes() -> None:
    seen = whole()
    assert {each.severity for each in graph.judge(seen, "neo4j")} == {OK}
    assert of("graph version", graph.judge(replace(seen, version=None), "neo4j")) == [WARN]
    for version in (GRAPH_VERSION - 1, GRAPH_VERSION + 1):
        (first, *_) = graph.judge(replace(seen, version=version), "neo4j")
        assert first.severity is FAIL
        assert "graph rebuild" in first.fix
    fewer = frozenset(list(seen.constraints)[1:])
    assert of("constraints", graph.judge(replace(seen, constraints=fewer), "neo4j")) == [FAIL]
    more = seen.constraints | {"somebody_elses"}
    assert of("constraints", graph.judge(replace(seen, constraints=more), "neo4j")) == [OK]
    name = next(iter(seen.indexes))
    without = {each: state for each, state in seen.indexes.items() if each != name}
    assert of("indexes", graph.judge(replace(seen, indexes=without), "neo4j")) == [FAIL]
    assert of("indexes", graph.judge(replace(seen, indexes={**seen.indexes, name: "FAILED"}), "neo4j")) == [OK, FAIL]
    filling = {**seen.indexes, name: "POPULATING"}
    assert of("indexes", graph.judge(replace(seen, indexes=filling), "neo4j")) == [OK, WARN]
    others = {**seen.indexes, "somebody_elses": "FAILED"}
    assert of("indexes", graph.judge(replace(seen, indexes=others), "neo4j")) == [OK]


# Clocks.


def test_a_clock_is_compared_with_the_span_of_the_question(subtests: pytest.Subtests) -> None:
    for seconds, severity in ((0, OK), (2, OK), (7, OK), (7.1, WARN), (-5, OK), (-5.1, WARN), (3_600, WARN)):
        with subtests.test(seconds=seconds):
            # Asked for two seconds: what lies within, or five seconds off, agrees.
            clock = clocks.SeenClock("Neo4j", NOW + timedelta(seconds=seconds), NOW, NOW + timedelta(seconds=2))
            assert of("clocks", [clocks.judge(clock)]) == [severity]


def test_an_event_of_the_future() -> None:
    def at(seconds: float) -> list[FindingSeverity]:
        return of("clocks", clocks.judge_events([NOW, None, NOW + timedelta(seconds=seconds)], NAMES.events, NOW))

    assert at(61) == [FAIL]
    assert at(60) == [OK]
    assert at(-DAY) == [OK]
    assert list(clocks.judge_events([None], NAMES.events, NOW)) == []


# Outbox.

HERE = outbox.SeenOutbox(Path("/var/outbox"), True, True, "ext4")


FOLDERS: list[tuple[outbox.SeenOutbox, list[FindingSeverity]]] = [
    (HERE, [OK, OK]),
    (replace(HERE, writable=False), [FAIL, OK]),
    (replace(HERE, there=False), [OK]),
    *((replace(HERE, filesystem=kind), [FAIL, OK]) for kind in ("tmpfs", "ramfs", "devtmpfs")),
    *((replace(HERE, filesystem=kind), [WARN, OK]) for kind in ("overlay", "overlayfs", "aufs")),
    (replace(HERE, filesystem=None), [UNKNOWN, OK]),
    (replace(HERE, damaged=1), [OK, WARN, OK]),
    (replace(HERE, files=1, events=13, oldest=NOW), [OK, WARN]),
    (replace(HERE, files=1, problem="damaged", oldest=NOW), [OK, WARN]),
    (replace(HERE, in_use=1), [OK, UNKNOWN]),
    (replace(HERE, files=1, events=13, oldest=NOW, in_use=1), [OK, WARN, UNKNOWN]),
    (replace(HERE, problem="can't be read"), [OK, UNKNOWN]),
]


def test_the_folder_of_outboxes(subtests: pytest.Subtests) -> None:
    for seen, severities in FOLDERS:
        with subtests.test(seen=seen):
            found = list(outbox.judge(seen, NOW))
            assert of("outbox", found, "/var/outbox") == severities
            assert of("outbox", found, "other machines") == [UNKNOWN]


def test_the_file_system_is_that_of_the_longest_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("a / ext4 rw 0 0\nb /tmp tmpfs rw 0 0\nc /tmp/my\\040disk xfs rw 0 0\nd /tmpx nfs4 rw 0 0\n")
    assert outbox.filesystem_of(Path("/tmp/my disk/outbox"), mounts) == "xfs"
    assert outbox.filesystem_of(Path("/tmp/other"), mounts) == "tmpfs"
    assert outbox.filesystem_of(Path("/tmpx/other"), mounts) == "nfs4"
    assert outbox.filesystem_of(Path("/srv/outbox"), mounts) == "ext4"
    assert outbox.filesystem_of(Path("/srv/outbox"), tmp_path / "none") is None


def test_a_folder_is_not_made_by_a_look(tmp_path: Path) -> None:
    missing = tmp_path / "state" / "outbox"
    seen = outbox.look(missing)
    assert (seen.there, seen.writable, seen.files) == (False, True, 0)
    assert not missing.parent.exists()


def test_events_that_an_ended_job_left_are_no_ok(tmp_path: Path) -> None:
    folder = tmp_path / "broker-1"
    folder.mkdir()
    ended, live = Store.create(folder), Store.create(folder)
    for store in (ended, live):
        records = [(number, Record(f"id{number}", "RUN", b"key", b"value")) for number in range(1, 14)]
        store.append(records)
        store.admit(records)
    ended.close()
    long_ago = (NOW - timedelta(days=30)).timestamp()
    os.utime(ended.path, (long_ago, long_ago))
    # No job relays it, and `headwater outbox relay` doesn't either: it has a finding of its own.
    (folder / "b.outbox.damaged").write_bytes(b"x")
    (folder / "notes.txt").write_bytes(b"x")
    before = sorted(folder.iterdir())
    seen = outbox.look(tmp_path)
    assert (seen.files, seen.events, seen.in_use, seen.damaged, seen.problem) == (1, 13, 1, 1, None)
    found = [each.message for each in outbox.judge(seen, NOW) if each.subject == str(tmp_path)]
    assert "1 damaged files are kept." in found
    assert any(
        each.startswith("13 events wait in 1 outboxes of ended jobs, the oldest untouched for 30 d") for each in found
    )
    assert not any("No event waits" in each for each in found)
    assert sorted(folder.iterdir()) == before
    live.close()
    (folder / "c.outbox").write_bytes(b"no database" * 1_000)
    seen = outbox.look(tmp_path)
    assert (seen.files, seen.events, seen.in_use) == (3, 26, 0)
    assert "not a database" in str(seen.problem)


# Dead letters, lag, backup.


def test_dead_letters_that_age() -> None:
    def aged(days: float) -> list[FindingSeverity]:
        seen = letters.SeenLetters(3, NOW - timedelta(days=days), {"NOT_AN_EVENT": 3})
        return of("dead letters", letters.judge(seen, NAMES.dead_letters, NOW))

    assert aged(7 + 1 / DAY) == [FAIL]
    assert aged(7) == [WARN]
    assert aged(0) == [WARN]
    one = letters.SeenLetters(1, None, {"NOT_AN_EVENT": 1})
    assert of("dead letters", letters.judge(one, NAMES.dead_letters, NOW)) == [WARN]
    assert of("dead letters", letters.judge(letters.SeenLetters(0, None, {}), NAMES.dead_letters, NOW)) == [OK]
    done = letters.SeenLetters(0, None, {}, acknowledged=4)
    (finding,) = letters.judge(done, NAMES.dead_letters, NOW)
    assert (finding.severity, "4 are acknowledged" in finding.message) == (OK, True)


LAGS: list[tuple[lag.SeenLag, list[FindingSeverity]]] = [
    (lag.SeenLag(1, 0, 0, None), [OK]),
    (lag.SeenLag(0, 0, 0, None), [OK]),
    (lag.SeenLag(0, 1, 0, NOW), [FAIL]),
    (lag.SeenLag(1, 1, 0, NOW), [OK]),
    (lag.SeenLag(1, 1, 0, None), [UNKNOWN]),
    (lag.SeenLag(0, 1, 0, None), [FAIL]),
    (lag.SeenLag(1, 9, 0, NOW - timedelta(minutes=10)), [OK]),
    (lag.SeenLag(1, 9, 0, NOW - timedelta(minutes=10, seconds=1)), [WARN]),
    (lag.SeenLag(1, 0, 1, None), [FAIL, OK]),
]


def test_lag(subtests: pytest.Subtests) -> None:
    for seen, severities in LAGS:
        with subtests.test(seen=seen):
            assert of("lag", lag.judge(seen, topic=NAMES.events, group="g", now=NOW)) == severities


BACKUPS: list[tuple[backup.SeenArchive | None, int, bool, FindingSeverity]] = [
    (None, 0, False, OK),
    (None, 0, True, WARN),
    (None, 1, True, FAIL),
    (None, 1, False, FAIL),
    (backup.SeenArchive("/archive", 10, 0, 0, 5), 4, True, OK),
    (backup.SeenArchive("/archive", 10, 0, 1, 5), 4, True, FAIL),
    (backup.SeenArchive("/archive", 10, 1, 0, 5), 4, True, WARN),
]


def test_backup(subtests: pytest.Subtests) -> None:
    for archive, begins, expires, severity in BACKUPS:
        with subtests.test(archive=archive, begins=begins):
            found = list(backup.judge(archive, topic=NAMES.events, begins=begins, expires=expires))
            assert of("backup", found) == [severity, UNKNOWN]


# The whole.

_NAMED = re.compile(r"SubjectCheck\(\"([^\"]+)\"")
_BY_VARIABLE = {"constraints", "indexes"}
"""Named by a variable in `graph`."""
_ONLY_WITH_SERVERS = {"servers"}
"""Nothing is judged: it is a server that doesn't answer, in tests/integration/doctor."""


def test_no_check_is_without_a_pair_here_and_a_row_in_the_document() -> None:
    sources = Path(graph.__file__).parent.glob("*.py")
    checks = {name for each in sources for name in _NAMED.findall(each.read_text(encoding="utf-8"))} | _BY_VARIABLE
    own = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in checks - _ONLY_WITH_SERVERS if f'of("{name}"' not in own} == set()
    table = Path("docs/doctor.md").read_text(encoding="utf-8").partition("| check |")[2]
    rows = {name.strip() for line in table.splitlines() for name in line.split("|")[1:2]}
    listed = {name.strip() for row in rows for name in row.split(",")}
    assert checks - listed == set()


def test_the_worst_come_first_and_only_a_failure_fails() -> None:
    found = Examined.of(DoctorFinding("c", severity, "s", "m", "f") for severity in (OK, WARN, UNKNOWN))
    assert [each.severity for each in found.findings] == [WARN, UNKNOWN, OK]
    assert not found.failed
    found = Examined.of(DoctorFinding("c", severity, "s", "m", "f") for severity in (OK, FAIL))
    assert found.failed
    assert found.totals == {FAIL: 1, WARN: 0, UNKNOWN: 0, OK: 1}


def test_durations(subtests: pytest.Subtests) -> None:
    for seconds, text in ((0, "0 s"), (90, "1.5 min"), (89, "89 s"), (5_400, "1.5 h"), (259_200, "3 d")):
        with subtests.test(seconds=seconds):
            assert duration_text(seconds) == text
