from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from headwater_producers.spark.driver.wrapped_writes import WrappedWrites
from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.execution.writes import StagedWrite
from headwater_producers.spark.plan import PlanDescription, PlanOutput, SourceKind
from headwater_schemas.events import ColumnLineage, DatasetRef, LifecycleChange, RunError

BEGAN = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
MAKING = "CreateDataSourceTableAsSelectCommand"


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def written(name: str, command: str = "InsertIntoHadoopFsRelationCommand") -> PlanDescription:
    output = PlanOutput(dataset=DatasetRef("file", name), kind=SourceKind.TABLE)
    return PlanDescription(inputs=(), outputs=(output,), lineage=ColumnLineage(), command=command)


def run(name: str, command: str, began: float, ended: float, error: RunError | None = None) -> BatchRun:
    write = Write(description=written(name, command), written=Counts())
    return BatchRun(write=write, started_at=at(began), ended_at=at(ended), error=error)


def test_a_command_wraps_the_write_that_it_ran_whatever_other_threads_wrote_meanwhile() -> None:
    wrapped = WrappedWrites()
    assert wrapped.inside(run("/a", "InsertIntoHadoopFsRelationCommand", 2, 3)) is None
    assert wrapped.inside(run("/b", "InsertIntoHadoopFsRelationCommand", 2, 4)) is None
    assert wrapped.inside(run("/a", MAKING, 1, 5)) is not None
    assert wrapped.inside(run("/b", MAKING, 1, 6)) is not None
    assert wrapped.inside(run("/c", MAKING, 1, 6)) is None, "nobody wrote its table"
    assert wrapped.inside(run("/a", MAKING, 7, 8)) is None, "not then"


def test_the_write_inside_is_corrected_by_what_the_command_knows() -> None:
    wrapped = WrappedWrites()
    folder = PlanOutput(dataset=DatasetRef("file", "/a"), kind=SourceKind.FILE, lifecycle=LifecycleChange.OVERWRITE)
    inner = run("/a", "InsertIntoHadoopFsRelationCommand", 2, 3)
    inner = replace(inner, write=replace(inner.write, description=replace(written("/a"), outputs=(folder,))))
    assert wrapped.inside(inner) is None
    appending = run("/a", MAKING, 1, 5)
    assert wrapped.inside(appending) is not None
    corrected = wrapped.corrected(appending)
    assert corrected is not None
    assert (corrected.run_id, corrected.started_at, corrected.ended_at) == (inner.run_id, at(2), at(5))
    [output] = corrected.write.description.outputs
    assert (output.kind, output.lifecycle) == (SourceKind.TABLE, LifecycleChange.CREATE), "there was no table yet"


def test_a_write_inside_that_is_known_as_the_table_it_is_needs_no_correction() -> None:
    wrapped = WrappedWrites()
    assert wrapped.inside(run("/a", "InsertIntoHadoopFsRelationCommand", 2, 3)) is None
    assert wrapped.inside(run("/a", MAKING, 1, 5)) is not None
    assert wrapped.corrected(run("/a", MAKING, 1, 5)) is None


def test_a_command_that_fails_with_its_write_is_emitted_once_and_one_that_fails_after_it_too() -> None:
    wrapped, no = WrappedWrites(), RunError(message="no")
    assert wrapped.inside(run("/a", "InsertIntoHadoopFsRelationCommand", 2, 3, no)) is None
    assert wrapped.inside(run("/a", MAKING, 1, 4, no)) is not None
    assert wrapped.inside(run("/a", MAKING, 1, 5)) is None, "that write failed"
    assert wrapped.inside(run("/b", "InsertIntoHadoopFsRelationCommand", 12, 13)) is None
    assert wrapped.inside(run("/b", MAKING, 11, 15, no)) is None, "the rows were written, and no table made of them"


def test_staged_rows_are_those_of_the_table_that_is_made() -> None:
    wrapped = WrappedWrites()
    one, two = (StagedWrite(Counts(rows=rows), (), at(2)) for rows in (1, 2))
    wrapped.stage(written("/one"), one)
    wrapped.stage(written("/two"), two)
    assert wrapped.rows_of(written("/two"), at(1), at(5)) is None, "an append beside it has rows of its own"
    assert wrapped.rows_of(written("/two", "CreateTableAsSelect"), at(1), at(5)) is two
    # It may bear another name by the time it is made; then it is the only one there is.
    assert wrapped.rows_of(written("/three", "CreateTableAsSelect"), at(3), at(5)) is None, "that was before"
    assert wrapped.rows_of(written("/three", "CreateTableAsSelect"), at(1), at(5)) is one
    assert wrapped.rows_of(written("/one", "CreateTableAsSelect"), at(1), at(5)) is None, "it was taken"


def test_of_several_staged_writes_none_is_guessed() -> None:
    wrapped = WrappedWrites()
    for name in ("/one", "/two"):
        wrapped.stage(written(name), StagedWrite(Counts(rows=1), (), at(2)))
    assert wrapped.rows_of(written("/three", "CreateTableAsSelect"), at(1), at(5)) is None
