from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.writes import Counts, Scan, Write, join_outputs
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.stream_run import RunDatasets
from headwater_schemas.events import (
    Certainty,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    FileSet,
    Position,
    SchemaDefinition,
    SchemaField,
    Symlink,
    TableSnapshot,
)
from headwater_schemas.identity import schema_digest
from support.capture import files_of

IN, OUT, OTHER = DatasetRef("file", "/in"), DatasetRef("file", "/out"), DatasetRef("file", "/other")


def write(*outputs: DatasetRef, scans: tuple[Scan, ...] = (), symlinks: tuple[Symlink, ...] = ()) -> Write:
    return Write(
        description=PlanDescription(
            inputs=(PlanInput(dataset=IN, kind=SourceKind.FILE, symlinks=symlinks),),
            outputs=tuple(PlanOutput(dataset=each, kind=SourceKind.FILE) for each in outputs),
            lineage=ColumnLineage(),
        ),
        written=Counts(rows=3, bytes=30, files=1),
        scans=scans,
    )


def scan(name: str, rows: int | None = 5) -> Scan:
    return Scan(names=frozenset({name}), counts=Counts(rows=rows, bytes=50, files=2))


def test_counts_of_the_one_output() -> None:
    assert write(OUT).outputs() == (DatasetUse(dataset=OUT, rows=3, bytes=30, files=1),)


def test_counts_of_several_outputs_can_not_be_told_apart() -> None:
    assert write(OUT, OTHER).outputs() == (DatasetUse(dataset=OUT), DatasetUse(dataset=OTHER))


def test_a_scan_counts_for_the_dataset_it_is_known_by() -> None:
    assert write(OUT, scans=(scan("/in"), scan("/elsewhere"))).inputs() == (
        DatasetUse(dataset=IN, rows=5, bytes=50, files=2),
    )
    table = (Symlink("hive", "default.t", "TABLE"),)
    assert write(OUT, scans=(scan("default.t"),), symlinks=table).inputs()[0].rows == 5


def test_a_dataset_scanned_twice_adds_up_and_an_unknown_part_makes_the_whole_unknown() -> None:
    assert write(OUT, scans=(scan("/in"), scan("/in"))).inputs()[0].rows == 10
    [use] = write(OUT, scans=(scan("/in"), scan("/in", rows=None))).inputs()
    assert (use.rows, use.bytes) == (None, 100)


def test_a_scan_of_several_datasets_counts_for_none_of_them() -> None:
    """`spark.read.parquet(A, B)` is one scan, and nothing shows which of its rows are of A."""
    both = Scan(names=frozenset({"/in", "/other"}), counts=Counts(rows=4, bytes=50, files=2))
    inputs = tuple(
        PlanInput(dataset=each, kind=SourceKind.FILE, position=listed, certainty=Certainty.EXACT)
        for each, listed in ((IN, Position(files=FileSet(count=1, bytes=20))), (OTHER, None))
    )
    description = PlanDescription(inputs=inputs, outputs=(), lineage=ColumnLineage())

    def uses(*scans: Scan) -> list[DatasetUse]:
        return list(Write(description=description, written=Counts(), scans=scans).inputs())

    first, second = uses(both)
    assert (first.rows, first.bytes, first.files) == (second.rows, second.bytes, second.files) == (None, None, None)
    assert (first.position, first.certainty) == (inputs[0].position, Certainty.EXACT)
    # The one alone reads a part of what was read in all.
    assert [use.rows for use in uses(both, scan("/in"))] == [None, None]
    assert [use.rows for use in uses(scan("/in"), scan("/other", 7))] == [5, 7]


LISTED = Position(files=FileSet(count=2, bytes=50, manifest_digest="d", paths=("/in/a", "/in/b")))


LISTINGS: list[tuple[SourceKind, list[tuple[int, int]], Position | None, Certainty]] = [
    (SourceKind.TABLE, [(2, 50)], LISTED, Certainty.EXACT),
    (SourceKind.TABLE, [(2, 50), (2, 50)], LISTED, Certainty.EXACT),
    # The listing has the write's own new file by now.
    (SourceKind.TABLE, [(1, 20)], Position(files=FileSet(count=1, bytes=20)), Certainty.EXACT),
    (SourceKind.TABLE, [(1, 20), (2, 50)], None, Certainty.UNKNOWN),
    # No scan to compare it with: a table's listing is another reader's too.
    (SourceKind.TABLE, [], LISTED, Certainty.INFERRED),
    (SourceKind.FILE, [], LISTED, Certainty.EXACT),
]


def test_a_listing_is_exact_as_far_as_scans_bear_it_out(subtests: pytest.Subtests) -> None:
    for kind, found, position, certainty in LISTINGS:
        with subtests.test(kind=kind, found=found):
            source = PlanInput(dataset=IN, kind=kind, position=LISTED, certainty=Certainty.EXACT)
            scans = tuple(Scan(names=frozenset({"/in"}), counts=Counts(files=n, bytes=size)) for n, size in found)
            [use] = Write(
                description=PlanDescription(inputs=(source,), outputs=(), lineage=ColumnLineage()),
                written=Counts(),
                scans=scans,
            ).inputs()
            assert (use.position, use.certainty) == (position, certainty)


def folder(number: int, size: int, *, paths: bool = True) -> Position:
    name = f"/in/p={number}/a"
    return Position(files=FileSet(count=1, bytes=size, manifest_digest=str(number), paths=(name,) if paths else ()))


@pytest.mark.parametrize("size", [20, 30])
def test_two_folders_of_a_dataset_are_one_use_with_the_files_of_both(size: int) -> None:
    def used(*positions: Position) -> tuple[DatasetUse, ...]:
        inputs = tuple(
            PlanInput(dataset=IN, kind=SourceKind.FILE, position=each, certainty=Certainty.EXACT) for each in positions
        )
        sizes = [each.files.bytes for each in positions if each.files is not None]
        scans = tuple(
            Scan(names=frozenset({"/in"}), counts=Counts(rows=5, bytes=each, files=1)) for each in dict.fromkeys(sizes)
        )
        plan = PlanDescription(inputs=inputs, outputs=(), lineage=ColumnLineage())
        return Write(description=plan, written=Counts(), scans=scans).inputs()

    [use] = used(folder(0, 20), folder(1, size))
    assert use.certainty is Certainty.EXACT
    assert (files_of(use.position).count, files_of(use.position).bytes) == (2, 20 + size)
    assert files_of(use.position).paths == ("/in/p=0/a", "/in/p=1/a")
    assert files_of(use.position).manifest_digest == hashlib.sha256(b"/in/p=0/a\n/in/p=1/a\n").hexdigest()
    [unnamed] = used(folder(0, 20, paths=False), folder(1, size))
    assert (unnamed.position, unnamed.certainty) == (None, Certainty.UNKNOWN), "which files both have isn't known"
    [same] = used(folder(0, 20), folder(0, 20))
    assert same.position == folder(0, 20)


def test_two_versions_of_a_table_are_two_uses() -> None:
    versions = [Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=each)) for each in ("1", "2")]
    inputs = tuple(
        PlanInput(dataset=IN, kind=SourceKind.TABLE, position=each, certainty=Certainty.EXACT) for each in versions
    )
    write = Write(
        description=PlanDescription(inputs=inputs, outputs=(), lineage=ColumnLineage()), written=Counts(), scans=()
    )
    assert [use.position for use in write.inputs()] == versions


def test_a_version_counts_once_however_often_it_was_written() -> None:
    def made(version: str, rows: int) -> DatasetUse:
        position = Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=version))
        return DatasetUse(dataset=OUT, position=position, certainty=Certainty.EXACT, rows=rows)

    assert join_outputs([made("7", 3), made("7", 3)]) == (made("7", 3),), "skipped by Delta"
    assert join_outputs([made("7", 3), made("8", 2)]) == (made("8", 5),)


def test_what_was_replaced_stays_emitted_whatever_was_added_later() -> None:
    replaced = DatasetUse(dataset=OUT, rows=1, facets={"lifecycleStateChange": "{}"})
    [joined] = join_outputs([replaced, DatasetUse(dataset=OUT, rows=2)])
    assert (joined.rows, joined.facets) == (3, {"lifecycleStateChange": "{}"})


def test_outputs_of_several_writes_are_joined_by_dataset() -> None:
    joined = join_outputs([*write(OTHER).outputs(), *write(OUT).outputs(), *write(OTHER).outputs()])
    assert joined == (
        DatasetUse(dataset=OTHER, rows=6, bytes=60, files=2),
        DatasetUse(dataset=OUT, rows=3, bytes=30, files=1),
    )


def test_a_use_has_the_schema_that_its_dataset_is_reported_with() -> None:
    field = SchemaField(path="id", type="bigint", nullable=False)
    description = PlanDescription(
        inputs=(
            PlanInput(dataset=IN, kind=SourceKind.FILE, schema=SchemaDefinition((field,))),
            # A topic's payload is what its reader makes of it.
            PlanInput(dataset=OTHER, kind=SourceKind.KAFKA, schema=SchemaDefinition((field,))),
        ),
        outputs=(PlanOutput(dataset=OUT, kind=SourceKind.TABLE, schema=SchemaDefinition((field,))),),
        lineage=ColumnLineage(),
    )
    write = Write(description=description, written=Counts())
    reported = {body.dataset: body.schema for body in dataset_bodies(description)}
    digests = {use.dataset: use.schema_digest for use in (*write.inputs(), *write.outputs())}
    expected = {each: schema_digest(schema) for each, schema in reported.items() if schema is not None}
    assert expected.keys() == {IN, OUT}
    assert digests == {**expected, OTHER: None}
    # Of files nullability means nothing.
    assert digests[IN] != digests[OUT]

    run = RunDatasets()
    assert run.add(description)
    assert {use.dataset: use.schema_digest for use in (*run.inputs(), *run.outputs())} == digests
    assert not run.add(description)
    wider = SchemaDefinition((field, SchemaField(path="tax", type="double")))
    output = replace(description.outputs[0], schema=wider)
    assert run.add(replace(description, outputs=(output,)))
    assert run.outputs()[0].schema_digest == schema_digest(wider)
