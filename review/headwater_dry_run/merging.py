"""Builders of MERGE, such as `DataFrame.mergeInto`: each builds the statement that SQL's MERGE would give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JError

from headwater_dry_run.row_changes import RowChanges
from headwater_dry_run.sources import ScriptSource, Sources
from headwater_dry_run.writing import Writes
from headwater_producers.spark.jvm.scala import statics
from headwater_producers.spark.jvm.versions import expression_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOGICAL: Final = "org.apache.spark.sql.catalyst.plans.logical"


def merge_by_methods(merging: Merging) -> None:
    """Make `mergeInto` describe its MERGE instead of running it."""
    from pyspark.sql import DataFrame

    def merge_into(self: Any, table: str, condition: Any) -> Merge:
        return merging.into(self, table, condition)

    for frames in {DataFrame, type(merging.sources.session.range(0))}:
        if hasattr(frames, "mergeInto"):
            frames.mergeInto = merge_into


class Merging:
    """Builder and reporter of MERGE statements."""

    def __init__(self, writes: Writes) -> None:
        self.writes = writes
        self.sources: Sources = writes.sources
        self._changes = RowChanges(writes)
        self._session: Any = writes.sources.session

    def into(self, frame: DataFrame, table: str, condition: Any) -> Merge:
        """Return the builder of `DataFrame.mergeInto`."""
        target = self.sources.session.table(table)
        return Merge(
            self, self.sources.source_of_name(table), self.plan(target), self.plan(frame), self.expression(condition)
        )

    def plan(self, frame: DataFrame) -> Any:
        """Return the JVM's plan of a frame."""
        return frame._jdf.queryExecution().analyzed()

    def expression(self, given: Any) -> Any:
        """Return the JVM's expression of a column, or of SQL."""
        if isinstance(given, str):
            return self._session._jsparkSession.sessionState().sqlParser().parseExpression(given)
        return expression_of(self._session, given)

    def assignments(self, given: Mapping[str, Any]) -> Any:
        """Return the JVM's assignments of an UPDATE or INSERT."""
        assign = statics(self._session, f"{_LOGICAL}.Assignment")
        return self.seq([assign(self.expression(name), self.expression(value)) for name, value in given.items()])

    def made(self, name: str, *arguments: Any) -> Any:
        """Make a node of the statement. In newer versions of Spark some nodes have one more flag, which is False."""
        class_ = statics(self._session, f"{_LOGICAL}.{name}")
        try:
            return class_(*arguments)
        except Py4JError:
            return class_(*arguments, False)  # noqa: FBT003  the JVM's

    def option(self, value: Any | None) -> Any:
        """Make a Scala `Option`."""
        return statics(self._session, "scala.Option").apply(value)

    def seq(self, values: Sequence[Any]) -> Any:
        """Make a Scala `Seq`."""
        return statics(self._session, "org.apache.spark.api.python.PythonUtils").toSeq([*values])

    def report(self, statement: Any, target: ScriptSource, *, evolves: bool = False) -> None:
        """Report a statement that the script would run; see `RowChanges.report`."""
        self._changes.report(statement, target, evolves=evolves)


class Actions:
    """Actions of a MERGE that is being built.

    Args:
        table: plan of the target, in the JVM.
        source: plan of the source rows, in the JVM.

    Attributes:
        matched, not_matched, not_matched_by_source: actions of each kind in order, in the JVM.
    """

    def __init__(self, merging: Merging, target: ScriptSource, table: Any, source: Any, on: Any) -> None:
        self._merging = merging
        self._target, self._table, self._source, self._on = target, table, source, on
        self.matched: list[Any] = []
        self.not_matched: list[Any] = []
        self.not_matched_by_source: list[Any] = []
        self._evolves = False

    def add(self, actions: list[Any], name: str, condition: Any, values: Mapping[str, Any] | None = None) -> None:
        """Add an action."""
        option = self._merging.option(None if condition is None else self._merging.expression(condition))
        assignments = () if values is None else (self._merging.assignments(values),)
        actions.append(self._merging.made(name, option, *assignments))

    def withSchemaEvolution(self) -> Any:
        """Allow new columns of the source in the table."""
        self._evolves = True
        return self

    def run(self) -> None:
        """Report the MERGE that the script would run."""
        seq = self._merging.seq
        arguments = [self._table, self._source, self._on]
        arguments += [seq(each) for each in (self.matched, self.not_matched, self.not_matched_by_source)]
        try:
            statement = statics(self._merging.sources.session, f"{_LOGICAL}.MergeIntoTable")(*arguments, self._evolves)
        except Py4JError:
            # Before Spark 4.0 there is no such flag.
            statement = self._merging.made("MergeIntoTable", *arguments)
        self._merging.report(statement, self._target, evolves=self._evolves)


class Merge(Actions):
    """Builder that `DataFrame.mergeInto` returns."""

    def whenMatched(self, condition: Any = None) -> _When:
        """Start a branch for matched rows."""
        return _When(self, self.matched, "Update", condition)

    def whenNotMatched(self, condition: Any = None) -> _When:
        """Start a branch for source rows without a match."""
        return _When(self, self.not_matched, "Insert", condition)

    def whenNotMatchedBySource(self, condition: Any = None) -> _When:
        """Start a branch for target rows without a match."""
        return _When(self, self.not_matched_by_source, "Update", condition)

    def merge(self) -> None:
        """Report the MERGE that the script would run."""
        self.run()


class _When:
    def __init__(self, merge: Merge, actions: list[Any], word: str, condition: Any) -> None:
        self._merge, self._actions, self._word, self._condition = merge, actions, word, condition

    def _with(self, name: str, values: Mapping[str, Any] | None = None) -> Merge:
        self._merge.add(self._actions, name, self._condition, values)
        return self._merge

    def updateAll(self) -> Merge:
        """Set all columns of the branch's rows."""
        return self._with("UpdateStarAction")

    def update(self, assignments: Mapping[str, Any]) -> Merge:
        """Set the assigned columns of the branch's rows."""
        return self._with("UpdateAction", assignments)

    def insertAll(self) -> Merge:
        """Insert the branch's rows with all columns."""
        return self._with("InsertStarAction")

    def insert(self, assignments: Mapping[str, Any]) -> Merge:
        """Insert the branch's rows with the assigned columns."""
        return self._with("InsertAction", assignments)

    def delete(self) -> Merge:
        """Delete the branch's rows."""
        return self._with("DeleteAction")
