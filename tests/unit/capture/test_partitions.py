"""Partitions as they are named, and what events say of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.delta.log import delta_files, files_of_version
from headwater_producers.spark.events.datasets import change_body
from headwater_producers.spark.events.partitions import input_facets
from headwater_producers.spark.events.writes import Counts, Write, join_outputs
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan import DdlChange, PlanDescription, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.partition import Partition, PartitionChange, partition_path, path_partition
from headwater_schemas.events import Certainty, ColumnLineage, DatasetRef, LifecycleChange, Position, TableSnapshot
from support.capture import DictFiles

if TYPE_CHECKING:
    import pytest

OUT = DatasetRef("file", "/out")
EXACT = Certainty.EXACT

NAMED: tuple[tuple[Partition, str], ...] = (
    ((("day", "2024-01-01"), ("city", "Oslo")), "day=2024-01-01/city=Oslo"),
    ((("at", "10:30"), ("x", "a=b/c%")), "at=10%3A30/x=a%3Db%2Fc%25"),
    ((("city", None),), "city=__HIVE_DEFAULT_PARTITION__"),
    ((("city", "Ålesund {1}"),), "city=Ålesund %7B1}"),
)


def test_a_folder_is_named_as_spark_names_it_and_read_back(subtests: pytest.Subtests) -> None:
    for partition, path in NAMED:
        with subtests.test(partition=partition):
            assert partition_path(partition) == path
            assert path_partition(f"s3a://lake/flights/{path}") == partition
            assert path_partition(f"/env=prod/flights/{path}/") == partition


def test_one_with_a_secret_is_redacted_before_it_is_escaped() -> None:
    partition = (("SELECT 'password", "' || 'Zq7 x' AS a"), ("day", "1"))
    assert partition_path(partition) == "SELECT 'password=' || [redacted] AS a/day=1"
    [facet] = input_facets([partition]).values()
    [named] = json.loads(facet)["inputCondition"]["partitions"]
    assert named["dimensions"] == {"SELECT 'password": "[redacted]", "day": "1"}


def test_a_path_that_is_no_partition() -> None:
    assert path_partition("/data/env=prod/flights") == path_partition("/data/=x") == ()


def uses(count: int | None = None, **stated: object) -> dict[str, object]:
    output = PlanOutput(dataset=OUT, kind=SourceKind.FILE, **stated)  # type: ignore[arg-type]
    description = PlanDescription(inputs=(), outputs=(output,), lineage=ColumnLineage())
    [use] = Write(description=description, written=Counts(partitions=count)).outputs()
    return {name: json.loads(text) for name, text in use.facets.items()}


def test_what_an_output_says_of_its_partitions() -> None:
    assert uses() == {}
    assert uses(partition_columns=("day",), count=3) == {"headwater_partitions": {"columns": ["day"], "count": 3}}
    one = {"identifier": "day=1", "dimensions": {"day": "1"}}
    assert uses(partition_columns=("day", "city"), partition=(("day", "1"),)) == {
        "headwater_partitions": {"columns": ["day", "city"]},
        "subset": {"outputCondition": {"type": "partition", "partitions": [one]}},
    }


def test_which_partitions_an_output_has_overwritten(subtests: pytest.Subtests) -> None:
    """Those that it names, or that got rows; null where that isn't known."""
    day: Partition = (("day", "1"),)
    table = TableSnapshot(format="delta", snapshot_id="7", partitions=("day=2", "day=3"))
    some: dict[str, Any] = {"mode": WriteMode.OVERWRITE_PARTITIONS}
    cases: list[tuple[dict[str, Any], dict[str, Any], list[str] | None]] = [
        ({**some, "overwritten": day}, {}, ["day=1"]),
        ({**some, "overwritten": day}, {"partitions": ((("day", "1"), ("city", "Oslo")),)}, ["day=1"]),
        ({**some, "overwritten": ()}, {"partitions": (day,)}, ["day=1"]),
        ({**some, "overwritten": (), "partition": day}, {"written": Counts(files=0)}, []),
        ({**some, "overwritten": (), "partition": day}, {}, None),
        (
            {**some, "overwritten": ()},
            {"version": Position(table_snapshot=table), "version_certainty": EXACT},
            ["day=2", "day=3"],
        ),
        ({**some, "overwritten": ()}, {"version": Position(table_snapshot=table)}, None),
        ({**some, "overwritten": None}, {"partitions": (day,)}, None),
    ]
    for stated, done, expected in cases:
        with subtests.test(stated=stated, done=done):
            output = PlanOutput(dataset=OUT, kind=SourceKind.FILE, **stated)
            description = PlanDescription(inputs=(), outputs=(output,), lineage=ColumnLineage())
            [use] = Write(description=description, **{"written": Counts(), **done}).outputs()
            assert json.loads(use.facets["headwater_partitions"])["overwritten"] == expected
    assert "overwritten" not in json.dumps(uses(mode=WriteMode.APPEND, overwritten=day, partition=day))
    assert "overwritten" not in json.dumps(uses(mode=WriteMode.OVERWRITE_PARTITIONS, overwritten=day, branch="b"))


def test_a_sum_of_writes_has_no_number_of_partitions() -> None:
    assert Counts(partitions=2).plus(Counts(partitions=3)).partitions is None


def joined(*partitions: str | None) -> dict[str, object]:
    outputs = [
        PlanOutput(
            dataset=OUT, kind=SourceKind.FILE, partition_columns=("day",), partition=(("day", day),) if day else ()
        )
        for day in partitions
    ]
    descriptions = [PlanDescription(inputs=(), outputs=(each,), lineage=ColumnLineage()) for each in outputs]
    uses = [Write(description=each, written=Counts(partitions=1)).outputs()[0] for each in descriptions]
    [use] = join_outputs(uses)
    return {name: json.loads(text) for name, text in use.facets.items()}


def test_several_writes_to_one_dataset() -> None:
    emitted = joined("1", "2", "1")
    assert emitted["headwater_partitions"] == {"columns": ["day"]}
    assert [each["identifier"] for each in emitted["subset"]["outputCondition"]["partitions"]] == ["day=1", "day=2"]  # type: ignore[index]
    assert joined("1", None).keys() == joined(None, "1").keys() == {"headwater_partitions"}
    assert "subset" not in joined(*(str(day) for day in range(101)))


def test_several_overwrites_of_one_dataset() -> None:
    """Nothing of either is left; of one that isn't known, nothing is known of both."""

    def both(*overwritten: Partition | None) -> object:
        outputs = [
            PlanOutput(dataset=OUT, kind=SourceKind.FILE, mode=WriteMode.OVERWRITE_PARTITIONS, overwritten=each)
            for each in overwritten
        ]
        descriptions = [PlanDescription(inputs=(), outputs=(each,), lineage=ColumnLineage()) for each in outputs]
        [use] = join_outputs(Write(description=each, written=Counts()).outputs()[0] for each in descriptions)
        return json.loads(use.facets["headwater_partitions"])["overwritten"]

    one, other = (("day", "1"),), (("day", "2"),)
    assert both(one, other, one) == ["day=1", "day=2"]
    assert both(one, None) is None


def test_what_ddl_says_of_partitions() -> None:
    change = PartitionChange(change="RENAME", partitions=((("day", "2"),),), previous=(("day", "1"),), count=1)
    body = change_body(DdlChange(dataset=OUT, lifecycle=LifecycleChange.ALTER, partitions=change))
    assert json.loads(body.facets["headwater_partitions"]) == {
        "change": "RENAME",
        "partitions": [{"day": "2"}],
        "previous": {"day": "1"},
        "count": 1,
    }


def commit(*actions: object) -> str:
    return "\n".join(json.dumps(action, separators=(",", ":")) for action in ({"commitInfo": {}}, *actions))


def add(**values: str | None) -> object:
    return {"add": {"path": "x", "partitionValues": values, "stats": '{"numRecords":1}'}}


def remove(**values: str | None) -> object:
    return {"remove": {"path": "x", **({"partitionValues": values} if values else {})}}


def test_partitions_of_a_delta_commit() -> None:
    found = delta_files(commit(add(day="1"), add(day="1"), remove(day=None), remove()))
    assert found.added == 2
    assert found.paths(["id", "day"]) == ("day=1", "day=__HIVE_DEFAULT_PARTITION__")
    # Names of Delta's own, of a table with column mapping.
    assert delta_files(commit(add(**{"col-4f": "1"}))).paths(["day"]) == ()
    assert delta_files(commit(add())).paths(["id"]) == ()


def test_the_files_of_several_commits() -> None:
    found = delta_files(commit(add(day="1"), remove(day="1"))).plus(delta_files(commit(add(day="2"))))
    assert (found.added, found.paths(["day"])) == (2, ("day=1", "day=2"))
    many = delta_files(commit(*(add(day=str(day)) for day in range(60))))
    more = delta_files(commit(*(add(day=str(day)) for day in range(60, 120))))
    assert (many.plus(more).added, many.plus(more).paths(["day"])) == (120, ())


def test_more_partitions_than_are_listed() -> None:
    found = delta_files(commit(*(add(day=str(day)) for day in range(101))))
    assert (found.added, found.paths(["day"])) == (101, ())


def test_files_of_a_delta_version() -> None:
    files = DictFiles({f"/t/_delta_log/{7:020d}.crc": '{"tableSizeBytes":9,"numFiles":4,"metadata":{}}'})
    assert files_of_version(TextFolder("/t/", files), 7) == 4
    assert files_of_version(TextFolder("/t", files), 8) is None
