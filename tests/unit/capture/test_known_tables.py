"""A DROP is of the table that the application met under its name, or of nothing."""

from __future__ import annotations

from headwater_producers.spark.events.datasets import KnownTables
from headwater_producers.spark.plan import DdlChange, PlanDescription, PlanInput, SourceKind
from headwater_schemas.events import ColumnLineage, DatasetRef, LifecycleChange, Symlink

TABLE, NAME = DatasetRef("file", "/w/t"), DatasetRef("file:/w", "db.t")
LINKS = (Symlink(NAME.namespace, NAME.name, "TABLE"),)


def plan(inputs: tuple[PlanInput, ...] = (), changes: tuple[DdlChange, ...] = ()) -> PlanDescription:
    return PlanDescription(inputs=inputs, outputs=(), lineage=ColumnLineage(), changes=changes)


def drop(name: DatasetRef = NAME, *, if_exists: bool = True) -> DdlChange:
    return DdlChange(dataset=name, lifecycle=LifecycleChange.DROP, by_name=True, if_exists=if_exists)


def seen(*changes: DdlChange, reads: tuple[DatasetRef, ...] = ()) -> KnownTables:
    known = KnownTables()
    inputs = tuple(PlanInput(dataset=each, kind=SourceKind.TABLE, symlinks=LINKS) for each in reads)
    for change in (*changes, None):
        known.see(plan(inputs, (change,) if change else ()))
        if change is not None:
            known.resolved(change)
    return known


def test_what_was_never_met_is_not_dropped_if_it_exists() -> None:
    known = seen(drop())
    assert known.resolved(drop()) is None
    assert known.resolved(drop(if_exists=False)) == drop(if_exists=False), "Spark would have failed without it"


def test_what_was_met_is_dropped_where_it_lies_and_once() -> None:
    known = seen(reads=(TABLE,))
    dropped = known.resolved(drop())
    assert dropped is not None
    assert dropped.dataset == TABLE
    assert known.resolved(drop()) is None


def test_a_view_has_no_other_place_than_its_name() -> None:
    view = DatasetRef("file:/w", "db.v")
    made = DdlChange(dataset=view, lifecycle=LifecycleChange.CREATE)
    dropped = seen(made).resolved(drop(view))
    assert dropped is not None
    assert dropped.dataset == view


def test_the_old_name_of_a_table_that_was_renamed_where_it_lies_is_nothing() -> None:
    link = Symlink("file:/w", "db.new", "TABLE")
    change = DdlChange(
        dataset=TABLE, lifecycle=LifecycleChange.RENAME, symlinks=(link,), previous=NAME, previous_by_name=True
    )
    known = KnownTables()
    known.see(plan(inputs=(PlanInput(dataset=TABLE, kind=SourceKind.TABLE, symlinks=LINKS),)))
    known.see(plan(changes=(change,)))
    renamed = known.resolved(change)
    assert renamed is not None
    assert renamed.previous is None, "the dataset is the same"
    assert known.resolved(drop()) is None
    dropped = known.resolved(drop(DatasetRef(link.namespace, link.name)))
    assert dropped is not None
    assert dropped.dataset == TABLE


def moved(to: DatasetRef) -> DdlChange:
    return DdlChange(dataset=to, lifecycle=LifecycleChange.ALTER, symlinks=LINKS, previous=NAME, previous_by_name=True)


def test_a_table_that_moves_goes_on_elsewhere() -> None:
    other, third = DatasetRef("file", "/w/other"), DatasetRef("file", "/w/third")
    known = seen(reads=(TABLE,))
    places = [TABLE]
    for place in (other, third):
        known.see(plan(changes=(moved(place),)))
        change = known.resolved(moved(place))
        assert change is not None
        assert (change.lifecycle, change.previous, change.dataset) == (LifecycleChange.RENAME, places[-1], place)
        places.append(place)
    dropped = known.resolved(drop())
    assert dropped is not None
    assert dropped.dataset == third


def test_where_a_table_lay_that_was_never_met_is_not_known() -> None:
    known = KnownTables()
    known.see(plan(changes=(moved(TABLE),)))
    change = known.resolved(moved(TABLE))
    assert change is not None
    assert (change.lifecycle, change.previous) == (LifecycleChange.ALTER, None)
    again = known.resolved(moved(TABLE))
    assert again is not None
    assert (again.lifecycle, again.previous) == (LifecycleChange.ALTER, None), "it lies where it lay"
    dropped = known.resolved(drop())
    assert dropped is not None
    assert dropped.dataset == TABLE
