"""Commands and statements of a plan: what a shell or Spark reads is exactly the names of the graph."""

from __future__ import annotations

import json
import shlex

import pytest

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.incidents.planning.commands import (
    MOST_FILES,
    MOST_PARTITIONS,
    PlanCommands,
    clear_task,
    restore,
)
from headwater_analysis.incidents.planning.orchestrators import PartitionRule, mapped
from headwater_analysis.incidents.planning.replays import kafka_ranges
from headwater_analysis.trace.traced_parts import OffsetSpan, Part, PartKind
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import MOST_OFFSET

HOSTILE = "a b'; rm -rf $HOME `id`\n\x1b[2J"
COMMANDS = PlanCommands(HOSTILE, "default")


def dataset(name: str = HOSTILE, namespace: str = "n", table: str | None = None) -> Asset:
    return Asset(AssetKind.DATASET, name, namespace, name, table=table)


def part(kind: PartKind, **more: object) -> Part:
    return Part(dataset=dataset(), kind=kind, certainty=Certainty.EXACT, **more)  # type: ignore[arg-type]


def words(found: Part) -> list[str]:
    """Options of the command that declares a part, between the dataset and the reason."""
    (command,) = COMMANDS.repair(found)
    parsed = shlex.split(command)
    assert parsed[:6] == ["headwater", "incident", "repair", HOSTILE, "--dataset", f"n/{HOSTILE}"]
    assert parsed[-2:] == ["--reason", "Written again."]
    return parsed[6:-2]


def test_parts_are_declared_as_exactly_as_they_are_known() -> None:
    spans = (OffsetSpan(0, 120, 130), OffsetSpan(1, 88, 89), OffsetSpan(2, 5, MOST_OFFSET))
    assert words(part(PartKind.OFFSETS, offsets=spans)) == [
        *("--offsets", "0:120..130"),
        *("--offsets", "1:88"),
        *("--offsets", "2:5.."),
    ]
    assert words(part(PartKind.SNAPSHOT, version="12")) == ["--version", "12"]
    assert words(part(PartKind.FILES, files=(HOSTILE,), file_count=1)) == ["--file", HOSTILE]
    assert words(part(PartKind.FILES, files=("x",), file_count=2)) == [], "the others aren't known"
    assert words(part(PartKind.FILES, files=("x",), file_count=2, partitions=("d=1", "d=2"))) == [
        *("--partition", "d=1"),
        *("--partition", "d=2"),
    ]
    many = tuple(f"/lake/d=1/{n}" for n in range(MOST_FILES + 1))
    assert words(part(PartKind.FILES, files=many, file_count=len(many))) == ["--partition", "d=1"]
    assert words(part(PartKind.UNKNOWN)) == []


def test_many_partitions_are_declared_by_several_commands() -> None:
    many = tuple(f"d={number}" for number in range(MOST_PARTITIONS + 1))
    commands = COMMANDS.repair(part(PartKind.FILES, files=("x",), file_count=2, partitions=many))
    assert [command.count("--partition") for command in commands] == [MOST_PARTITIONS, 1]


def test_a_tenant_of_its_own_is_named() -> None:
    assert shlex.split(PlanCommands("INC-1", "a b").refresh())[-2:] == ["--tenant", "a b"]
    assert "--tenant" not in COMMANDS.resolve()


def test_a_task_of_airflow() -> None:
    """Its option takes a regular expression."""
    parsed = shlex.split(clear_task("dag $x", "a.b+", "2025-01-01T00:00:00+00:00"))
    assert parsed[3:6] == ["dag $x", "-t", r"^a\.b\+$"]
    assert parsed[6:] == ["-s", "2025-01-01T00:00:00+00:00", "-e", "2025-01-01T00:00:00+00:00"]


@pytest.mark.parametrize(
    ("of", "format_", "version", "statement"),
    [
        (dataset("/lake/a`b", "file"), "delta", "7", "RESTORE TABLE delta.`file:/lake/a``b` TO VERSION AS OF 7"),
        (dataset("x", "s3://b"), "delta", "0", "RESTORE TABLE delta.`s3://b/x` TO VERSION AS OF 0"),
        (dataset("x", "s3://b", "db.a`b"), "delta", "7", "RESTORE TABLE `db`.`a``b` TO VERSION AS OF 7"),
        (dataset("x", "s3://b", "table/db/x"), "delta", "7", "RESTORE TABLE delta.`s3://b/x` TO VERSION AS OF 7"),
        (dataset("db.x", "hive://h:1"), "delta", "7", None),
        (dataset("x", "s3://b", "db.a'\\b"), "iceberg", "7", "CALL system.rollback_to_snapshot('db.a\\'\\\\b', 7)"),
        (dataset("x", "s3://b"), "iceberg", "7", None),
        (dataset("x", "s3://b"), "delta", "7; DROP", None),
        (dataset("x", "s3://b"), "hudi", "7", None),
    ],
)
def test_a_table_is_restored_by_a_name_that_sql_has(
    of: Asset, format_: str, version: str, statement: str | None
) -> None:
    assert restore(of, format_, version) == statement


def test_ranges_of_kafka() -> None:
    """Two ranges of a partition are one for Spark; each cluster is a source of its own."""

    def of(namespace: str, name: str, *spans: OffsetSpan) -> Part:
        asset = dataset(name, namespace)
        return Part(dataset=asset, kind=PartKind.OFFSETS, certainty=Certainty.EXACT, offsets=spans)

    parts = [
        of("kafka://k", "b", OffsetSpan(10, 5, 6), OffsetSpan(2, 0, 3), OffsetSpan(2, 7, 9)),
        of("kafka://k", "a", OffsetSpan(0, 1, 2)),
        of("kafka://j", "b", OffsetSpan(0, 1, 2)),
    ]
    one, other = kafka_ranges(parts)
    assert (one.cluster, other.cluster) == ("kafka://j", "kafka://k")
    assert json.loads(other.assign) == {"a": [0], "b": [2, 10]}
    assert json.loads(other.starting_offsets) == {"a": {"0": 1}, "b": {"2": 0, "10": 5}}
    assert json.loads(other.ending_offsets) == {"a": {"0": 2}, "b": {"2": 9, "10": 6}}
    assert kafka_ranges([*parts, part(PartKind.FILES)]) == ()


@pytest.mark.parametrize(
    ("transform", "partitions", "made"),
    [
        ("month", ["day=2025-01-31", "day=2025-02-01/hour=3", "day=2025-02-02"], ("m=2025-01", "m=2025-02")),
        ("Year of", ["day=2025-01-31"], ("m=2025",)),
        ("same", ["day=x"], ("m=x",)),
        ("day", ["day=2025-01-31T10:00"], ("m=2025-01-31",)),
        ("month", ["day=2025-01-31", "day=31.1.2025"], ()),
        ("month", ["hour=3"], ()),
        ("month", [], ()),
        ("region of", ["day=2025-01-31"], ()),
    ],
)
def test_a_mapping_of_partitions(transform: str, partitions: list[str], made: tuple[str, ...]) -> None:
    rule = PartitionRule(input="i", input_field="day", output="o", output_field="m", transform=transform)
    assert mapped(rule, partitions) == made
