"""`headwater graph verify` and `rebuild` on a real Kafka and Neo4j."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater_consumers.kafka.records import FetchedRecord
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, DeadLetterStage
from headwater_consumers.materializer.dead_letters.replay import replay
from headwater_consumers.materializer.dead_letters.topic import letters
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_graph.dump import dump
from headwater_graph.facts.model import Label
from headwater_graph.schema import GRAPH_VERSION
from headwater_graph.segments.segment import Place, Stored
from headwater_graph.segments.slots import DatasetName
from headwater_schemas.codec import encode
from support.events import FULL_EVENTS
from support.gate import first_in_gate
from support.materializer import events
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld, patiently
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


HEADERS = ("headwater.reason", "__connect.errors.offset", "headwater.offset.end", "headwater.left.out.bytes")


@pytest.fixture
def graph(headwater: Command, world: RealWorld) -> Command:
    return partial(headwater, "graph")


@pytest.fixture
def filled(world: RealWorld, settings: dict[str, str]) -> None:
    world.put_many([events.good(number) for number in range(20)])
    world.put_many([encode(events.interval(batch)) for batch in range(10)], partition=1)
    world.put(events.GARBAGE)
    assert run_until_caught_up(settings)["applied"] == 30


def test_a_group_goes_on_where_a_restored_graph_ends(
    filled: None, world: RealWorld, settings: dict[str, str], graph: Command, neo4j_driver: Driver
) -> None:
    backup = neo4j_driver.execute_query("MATCH (p:HwProgress) RETURN properties(p) AS p ORDER BY p.key").records
    assert graph("restored", "--yes")["records"] == 0, "it is as far as the group"
    world.put_many([events.good(number) for number in range(20, 25)])
    assert run_until_caught_up(settings)["applied"] == 5
    expected = list(dump(neo4j_driver))
    later = [run.run_id for number in range(20, 25) if (run := events.run_start(number).run) is not None]
    # As a restore leaves it: without the last events, and with the progress of then.
    neo4j_driver.execute_query("MATCH (n) WHERE n.run_id IN $ids DETACH DELETE n", ids=later)
    for record in backup:
        neo4j_driver.execute_query("MATCH (p:HwProgress {key: $p.key}) SET p = $p", p=record["p"])
    assert list(dump(neo4j_driver)) != expected
    assert graph("restored", status=2)["error"]["fix"] == "--yes does it without asking."

    found = graph("restored", "--yes")
    assert (found["records"], found["expired"]) == (5, 0)
    assert found["partitions"] == {f"{world.topics.events}[0]": 21}
    assert run_until_caught_up(settings)["applied"] == 5
    assert list(dump(neo4j_driver)) == expected
    assert graph("verify")["holds"]


def test_a_graph_is_what_its_events_say_until_somebody_changes_it(
    filled: None, world: RealWorld, graph: Command, neo4j_driver: Driver
) -> None:
    sound = graph("verify")
    assert sound["holds"]
    assert sound["accounting"] == {
        "acknowledged": 31,
        "applied": 30,
        "dead_lettered": 1,
        "pending": 0,
        "expired": 0,
        "unaccounted": [],
        "left_out": [],
    }
    assert [(chain["intervals"], chain["gaps"]) for chain in sound["chains"]] == [(10, 0)]
    assert sound["graph"]["equal"] == len(list(dump(neo4j_driver)))
    assert graph("verify", "--skip-graph")["graph"] is None

    neo4j_driver.execute_query("MATCH (r:HwRun) WITH r ORDER BY r.key LIMIT 1 SET r.state = 'ABORT'")
    neo4j_driver.execute_query("MATCH (:HwRun)-[o:OF]->(:HwJob) WITH o LIMIT 1 DELETE o")
    neo4j_driver.execute_query("CREATE (:HwDataset {key: 'zz', name: 'nobody told of it'})")
    changed = graph("verify", status=5)["graph"]
    assert (changed["missing"], changed["extra"], changed["changed"]) == (1, 1, 1)
    assert {sample["key"] for sample in changed["samples"] if sample["expected"] is None} == {"zz"}

    world.put(events.good(99))
    behind = graph("verify", "--skip-graph", status=5)
    assert behind["accounting"]["pending"] == 1


def test_a_record_that_is_neither_applied_nor_dead_lettered_is_found(
    filled: None, world: RealWorld, graph: Command
) -> None:
    # The letter of the broken record, gone as by retention: nothing shows any more what became of it.
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import AdminClient

    admin = AdminClient(dict(world.client))
    letters = TopicPartition(world.topics.dead_letters, 0, 1)
    admin.delete_records([letters])[letters].result(patience(20))
    lost = graph("verify", status=5)["accounting"]
    assert lost["unaccounted"] == [f"{world.topics.events}[0]@20"]


@pytest.mark.nightly
def test_a_good_event_that_was_dead_lettered_is_found_until_it_is_replayed(
    filled: None, world: RealWorld, settings: dict[str, str], graph: Command, neo4j_driver: Driver
) -> None:
    """Leave the graph like a consumer that takes an outage for a fault of the event: letter, offset, and no node."""
    source = next(each.partition for each in patiently(world.source().positions) if each.partition.number == 0)
    letter = DeadLetter(
        FetchedRecord(source, 3, events.good(3)),
        DeadLetterReason.WRITE_REFUSED,
        DeadLetterStage.APPLY,
        error="E",
        message="m",
    )
    world.dead_letters().send([letter])
    run = events.run_start(3).run
    assert run is not None
    neo4j_driver.execute_query("MATCH (r:HwRun {run_id: $run}) DETACH DELETE r", run=run.run_id)

    found = graph("verify", status=5)
    assert found["good_letters"] == [f"{world.topics.events}[0]@3 (WRITE_REFUSED)"]
    assert found["accounting"]["dead_lettered"] == 2

    [sent] = [each for each in letters(world.client, world.topics.dead_letters) if each.reason == "WRITE_REFUSED"]
    assert replay(world.client, world.topics.events, [sent], sent=lambda: None).sent == 1
    assert run_until_caught_up(settings)["applied"] == 1
    replayed = graph("verify")
    assert replayed["holds"]
    assert replayed["good_letters"] == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    "change",
    first_in_gate(
        1,
        [
            "MATCH (r:HwRun) WITH r ORDER BY r.key LIMIT 1 SET r._stamp = '0' + substring(r._stamp, 1)",
            "MATCH (j:HwJob) SET j._words = 'other'",
            "MATCH (r:HwRun) WITH r ORDER BY r.key LIMIT 1 REMOVE r._id_start",
        ],
    ),
)
def test_what_later_merges_depend_on_is_compared_too(
    filled: None, graph: Command, neo4j_driver: Driver, change: str
) -> None:
    neo4j_driver.execute_query(change)
    changed = graph("verify", status=5)["graph"]
    assert (changed["missing"], changed["extra"], changed["changed"]) == (0, 0, 1)
    assert graph("dump", "--internal")["sha256"] != graph("dump")["sha256"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "change",
    first_in_gate(
        1,
        [
            "MATCH (s:HwSegment) SET s.last_batch = 8",
            "MATCH (s:HwSegment) SET s.broken = [3], s.missing = [1], s._broken = s.query",
            "MATCH (s:HwSegment) REMOVE s.first_time",
            "MATCH (s:HwSegment) CREATE (s)-[:NEXT]->(s)",
            "MATCH (:HwSegment)-[r:IN_QUERY]->() DELETE r",
            "MATCH (:HwSegment)-[r:IN_RUN]->() SET r.batches = 9",
            "MATCH (:HwSegment)-[r:CONSUMED]->() SET r.to_exclusive = [90]",
        ],
    ),
)
def test_what_a_segment_is_found_by_follows_from_its_micro_batches(
    filled: None, graph: Command, neo4j_driver: Driver, change: str
) -> None:
    key = neo4j_driver.execute_query("MATCH (s:HwSegment) RETURN s.key").records[0][0]
    neo4j_driver.execute_query(change)
    changed = graph("verify", status=5)["graph"]
    assert (changed["missing"], changed["extra"], changed["changed"]) == (0, 1, 0)
    assert [sample["key"] for sample in changed["samples"]] == [key]


def test_a_micro_batch_in_the_bytes_of_a_segment_is_compared_with_what_was_emitted(
    filled: None, graph: Command, neo4j_driver: Driver
) -> None:
    stored = neo4j_driver.execute_query("MATCH (s:HwSegment) RETURN properties(s)").records[0][0]
    place = Place(stored["tenant"], stored["query_id"], stored["query"], 0)
    blocks, names = Stored.of(stored), dict[str, DatasetName]()
    intervals = blocks.read(place, names)
    _, quietly = intervals[3].variants[intervals[3].winner].registers["run"]
    assert isinstance(quietly, dict)
    quietly["_run"] = "x"
    neo4j_driver.execute_query("MATCH (s:HwSegment) SET s += $new", new=blocks.rewritten(place, intervals, names))
    changed = graph("verify", status=5)["graph"]
    # The run that it is of now is another one; and one micro-batch less is of the run that the segment is of.
    batch, segment = str(intervals[3].identity["key"]), place.key
    keys = {sample["key"].split("/")[0] for sample in changed["samples"]}
    assert keys == {batch, segment}
    assert changed["changed"] == 1
    assert graph("dump", "--internal")["sha256"] != graph("dump")["sha256"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "change", first_in_gate(1, ["SET s._head = s._last", "REMOVE s._head", "SET s._tail = s._head"])
)
def test_a_block_that_cant_be_read_is_named(filled: None, graph: Command, neo4j_driver: Driver, change: str) -> None:
    key = neo4j_driver.execute_query("MATCH (s:HwSegment) RETURN s.key").records[0][0]
    neo4j_driver.execute_query(f"MATCH (s:HwSegment) {change}")
    assert not graph("verify", status=5)["holds"]
    assert any(key in line and "is damaged" in line for line in dump(neo4j_driver, internal=True))
    error = graph("dump", status=1)["error"]
    assert key in error["message"]
    assert "graph rebuild" in error["fix"]
    assert graph("rebuild", "--yes")["applied"] == 30
    assert graph("verify")["holds"]


def test_a_rebuilt_graph_is_the_same_byte_for_byte(
    filled: None, world: RealWorld, settings: dict[str, str], graph: Command, neo4j_driver: Driver
) -> None:
    incidents = [make() for name, make in FULL_EVENTS.items() if name.startswith("incident")]
    world.put_many([encode(event) for event in incidents])
    assert run_until_caught_up(settings)["applied"] == len(incidents)
    before = list(dump(neo4j_driver))
    assert sum('"labels":["Incident"]' in line for line in before) == 2
    assert sum('"type":"REACHED"' in line for line in before) == 1
    neo4j_driver.execute_query("MATCH (r:HwRun) SET r.state = 'ABORT'")
    neo4j_driver.execute_query("CREATE (:Neighbour {of: 'another program'})")
    neo4j_driver.execute_query("MATCH (i:HwIncident)-[r:CONCERNS|REACHED]->() SET i.state = 'Ack' DELETE r")
    assert not graph("verify", status=5)["holds"]
    rebuilt = graph("rebuild", "--yes")
    assert (rebuilt["applied"], rebuilt["dead_lettered"]) == (30 + len(incidents), 1)
    assert list(dump(neo4j_driver)) == before
    assert graph("verify")["holds"]
    assert neo4j_driver.execute_query("MATCH (n:Neighbour) RETURN count(n)").records[0][0] == 1


@pytest.mark.nightly
def test_a_rebuild_doesnt_begin_under_a_running_consumer_or_without_a_yes(
    filled: None, settings: dict[str, str], graph: Command, neo4j_driver: Driver
) -> None:
    before = list(dump(neo4j_driver))
    assert "--yes" in graph("rebuild", status=2)["error"]["fix"]
    with consuming(settings) as consumer:
        consumer.until(lambda: consumer.get("/readyz")[0] == 200, "readiness")
        assert "Stop" in graph("rebuild", "--yes", status=2)["error"]["fix"]
        # Another group's name, by mistake, is no way around it: the consumer has reported its own to the graph.
        assert "Stop" in graph("rebuild", "--yes", "--group", "typo", status=2)["error"]["fix"]
    assert list(dump(neo4j_driver)) == before


@pytest.mark.nightly
def test_a_graph_of_another_version_is_made_anew_by_a_migration_and_one_of_this_is_left(
    filled: None, graph: Command, neo4j_driver: Driver
) -> None:
    assert graph("migrate", "--yes") == {"version": GRAPH_VERSION, "migrated_from": None}
    before = list(dump(neo4j_driver))
    neo4j_driver.execute_query("MATCH (v:HeadwaterGraph) SET v.version = 5")
    assert graph("migrate", status=2)["error"]["fix"] == "--yes does it without asking."
    migrated = graph("migrate", "--yes")
    assert (migrated["migrated_from"], migrated["applied"]) == (5, 30)
    assert list(dump(neo4j_driver)) == before


@pytest.mark.nightly
def test_a_graph_of_another_version_is_refused_by_name(
    filled: None, settings: dict[str, str], graph: Command, neo4j_driver: Driver
) -> None:
    for version in (5, 99):
        neo4j_driver.execute_query("MATCH (v:HeadwaterGraph) SET v.version = $version", version=version)
        for command in ("dump", "verify"):
            error = graph(command, status=6)["error"]
            assert f"version {version}" in error["message"]
            assert "graph rebuild" in error["message"] + error["fix"]
    with consuming(settings) as consumer:
        # It ends by itself: the graph is of another version.
        assert consumer.process.wait(patience(60)) == 6


@pytest.mark.nightly
def test_what_others_keep_in_the_database_is_no_part_of_it(
    filled: None, settings: dict[str, str], graph: Command, neo4j_driver: Driver, capsys: pytest.CaptureFixture[str]
) -> None:
    def theirs() -> list[Any]:
        query = "MATCH (n:Theirs) RETURN labels(n), properties(n), [(n)-[r]->(m) | [type(r), m.name]] ORDER BY n.name"
        return [record.values() for record in neo4j_driver.execute_query(query).records]

    before, sound = list(dump(neo4j_driver)), graph("verify")
    for label in (*Label, "Segment"):
        # Twice the same key, which a constraint on their label would refuse; and none.
        made = f"CREATE (:Theirs:{label} {{key: 'a', name: 'cron {label}'}})-[:FEEDS]->(:Theirs:{label} {{key: 'a'}})"
        neo4j_driver.execute_query(made)
        neo4j_driver.execute_query(f"CREATE (:Theirs:{label} {{name: 'no key'}})")
    kept = theirs()
    assert list(dump(neo4j_driver)) == before
    assert graph("verify") == sound
    assert graph("rebuild", "--yes")["nodes_deleted"] > 20
    assert list(dump(neo4j_driver)) == before
    assert theirs() == kept
    capsys.readouterr()
    assert cli.main(["search", "cron", "--json"]) == 0
    assert "cron Job" not in capsys.readouterr().out

    # Nor is it changed where it breaks a constraint: of a label with the prefix.
    neo4j_driver.execute_query("MATCH (n:HwJob) DETACH DELETE n")
    neo4j_driver.execute_query("DROP CONSTRAINT headwater_job_key")
    neo4j_driver.execute_query("UNWIND [1, 2] AS n CREATE (:Theirs:HwJob {key: 'a'})")
    with consuming(settings) as consumer:
        assert consumer.wait(patience(60)) == 6
        assert "HwJob have the same `key`" in consumer.stderr


@pytest.mark.nightly
def test_what_can_not_be_fetched_is_a_dead_letter_by_its_coordinates_and_the_partition_goes_on(
    world: RealWorld, settings: dict[str, str], graph: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few kB of zstd that decompress to more than a consumer takes, and a record of gzip that it takes and drops."""
    world.put(events.good(0))
    world.compressed("zstd", [b"\0" * 12_000_000] * 3)  # offsets 1 to 3
    world.put(events.good(1))
    world.compressed("gzip", [b"\0" * 17_000_000])  # offset 5
    world.put(events.good(2))

    totals = run_until_caught_up(settings)

    assert (totals["applied"], totals["dead_lettered_by_reason"]) == (3, {"TOO_LARGE": 1, "UNFETCHABLE": 1})
    found = [(letter.value, *map(letter.headers.get, HEADERS)) for letter in world.letters()]
    assert found == [
        (None, b"UNFETCHABLE", b"1", b"4", b"unknown"),
        (None, b"TOO_LARGE", b"5", b"6", b"17000000"),
    ]
    verified = graph("verify")
    assert verified["holds"]
    assert verified["accounting"]["dead_lettered"] == 4
    place = f"{world.topics.events}[0]"
    assert [text.partition(": ")[0] for text in verified["accounting"]["left_out"]] == [f"{place}@1 to 3", f"{place}@5"]
    assert "Decompression" in verified["accounting"]["left_out"][0]
    capsys.readouterr()
    assert cli.main(["dlq", "replay", "--all", "--json"]) == 5
    refused = json.loads(capsys.readouterr().out)
    assert (refused["sent"], len(refused["refused"])) == (0, 2)
