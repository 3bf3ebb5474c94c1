"""MERGE, UPDATE and DELETE described for a review: the rows of each branch, and the values that the branch sets.

Such a statement has no rows of its own. Each branch (a WHEN) gets the signatures of two queries: one for the rows that
the branch takes from the join of both tables, one for the values that the branch sets. So another WHEN, another ON or
other rows of the source change the signature of the rows. Another value changes only its column's signature.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.output import MOST_COLUMNS
from headwater_dry_run.plans import frame_of
from headwater_dry_run.signature import UnreadableError
from headwater_dry_run.sources import ScriptSource
from headwater_dry_run.writing import Writes
from headwater_producers.spark.jvm.scala import class_name, items, option, statics
from headwater_producers.spark.jvm.versions import column_of, if_there
from headwater_producers.spark.plan.schema import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOGICAL: Final = "org.apache.spark.sql.catalyst.plans.logical"
_EVOLUTION: Final = "spark.databricks.delta.schema.autoMerge.enabled"


@dataclass(frozen=True, slots=True)
class _Value:
    """Assignment of a branch: a column, and the expression of its new value.

    Attributes:
        label: the column, or the field in it, as spelled in the statement.
    """

    column: str
    label: str
    expression: Any

    @property
    def path(self) -> str:
        """Path of the assigned column, or of the field in it."""
        column = quoted(self.column)
        return column if self.label == self.column else f"{column}.{quoted(self.label)}"


@dataclass(frozen=True, slots=True)
class _Branch:
    """Branch: one WHEN of a MERGE, or the whole of an UPDATE or DELETE.

    Attributes:
        when: head of the branch, such as `WHEN MATCHED`.
        action: `UPDATE`, `INSERT` or `DELETE`.
        condition: condition in the JVM; None: all rows.
        written: the condition as written in the statement.
        values: assignments of the branch.
    """

    when: str
    action: str
    condition: Any | None
    written: str
    values: tuple[_Value, ...] = ()

    def table_path(self, path: str) -> str:
        """Translate a path in the branch's output, by its labels, to a path in the table."""
        for value in self.values:
            label = quoted(value.label)
            if path == label or path.startswith(f"{label}."):
                return f"{value.path}{path[len(label) :]}"
        return path

    def __str__(self) -> str:
        """Describe the branch for people."""
        condition = f" AND {self.written}" if self.written else ""
        return (
            f"{self.when}{condition} THEN {self.action}"
            if self.when
            else f"{self.action} WHERE {self.written or 'true'}"
        )


class RowChanges:
    """Reporter of statements that change rows of a table."""

    def __init__(self, writes: Writes) -> None:
        self._writes, self._frames = writes, writes.frames
        self._session = writes.sources.session

    def report(self, statement: Any, target: ScriptSource, *, evolves: bool = False) -> None:
        """Report a statement that the script would run.

        Args:
            evolves: True if new columns are added to the table, for Spark before 4.0, whose statements don't show this.

        Raises:
            AnalysisException: Spark would refuse the statement.
        """
        analyzer = self._session._jsparkSession.sessionState().analyzer()
        analyzed = analyzer.execute(statement)
        analyzer.checkAnalysis(analyzed)
        kind = class_name(statement)
        table = analyzed.targetTable() if kind == "MergeIntoTable" else analyzed.table()
        rows, branches = self._branches(kind, statement, analyzed)
        schema = self._schema(table, branches)
        description = self._described(rows, branches, [field.name for field in schema.fields])
        if kind == "MergeIntoTable":
            source = self._frames.texts(self._frame(analyzed.sourceTable()))["influences"]
            description["influences"] = [*source, f"ON {_sql(statement.mergeCondition())}", *description["influences"]]
        mode = {"MergeIntoTable": "merge", "UpdateTable": "update", "DeleteFromTable": "delete"}[kind]
        if kind == "MergeIntoTable" and (evolves or self._evolves(statement)):
            mode = "merge with schema evolution"
        self._writes.report_found(description, schema, target, mode=mode)

    def _branches(self, kind: str, written: Any, analyzed: Any) -> tuple[DataFrame, list[_Branch]]:
        """Return the rows from which the branches select, and the branches in order."""
        if kind == "DeleteFromTable":
            condition = _Condition(analyzed.condition(), written.condition())
            return self._frame(analyzed.table()), [_branch("", "DELETE", condition, ())]
        if kind == "UpdateTable":
            condition = _Condition(option(analyzed.condition()), option(written.condition()))
            return self._frame(analyzed.table()), [_branch("", "UPDATE", condition, _values(analyzed.assignments()))]
        branches = [
            *_of_actions("WHEN MATCHED", written.matchedActions(), analyzed.matchedActions()),
            *_of_actions("WHEN NOT MATCHED", written.notMatchedActions(), analyzed.notMatchedActions()),
            *_of_actions(
                "WHEN NOT MATCHED BY SOURCE", written.notMatchedBySourceActions(), analyzed.notMatchedBySourceActions()
            ),
        ]
        return self._joined(analyzed, {branch.when for branch in branches}), branches

    def _joined(self, merge: Any, whens: set[str]) -> DataFrame:
        """Join the rows of both tables, with the unmatched rows that branches use."""
        target, source = "WHEN NOT MATCHED BY SOURCE" in whens, "WHEN NOT MATCHED" in whens
        kind = {(False, False): "Inner", (False, True): "RightOuter", (True, False): "LeftOuter"}.get(
            (target, source), "FullOuter"
        )
        join = self._jvm(f"{_LOGICAL}.Join")(
            merge.targetTable(),
            merge.sourceTable(),
            getattr(self._jvm(f"org.apache.spark.sql.catalyst.plans.{kind}$"), "MODULE$"),
            self._jvm("scala.Some")(merge.mergeCondition()),
            self._jvm(f"{_LOGICAL}.JoinHint").NONE(),
        )
        return self._frame(join)

    def _schema(self, table: Any, branches: Iterable[_Branch]) -> Any:
        """Return the table's columns, including columns that schema evolution adds."""
        schema = self._frame(table).schema
        known = {name.lower() for name in schema.fieldNames()}
        for branch in branches:
            for value in branch.values:
                if value.column.lower() not in known:
                    known.add(value.column.lower())
                    schema = schema.add(value.column, _type(value.expression))
        return schema

    def _evolves(self, merge: Any) -> bool:
        is_set = str(self._session.conf.get(_EVOLUTION, "false")).lower() == "true"
        return is_set or bool(if_there(merge, "withSchemaEvolution"))

    def _described(self, rows: DataFrame, branches: Sequence[_Branch], names: Sequence[str]) -> dict[str, Any]:
        """Describe the branches of a statement, like `Frames.described` describes a frame."""
        rows_by_branch, expressions = [], defaultdict[str, dict[str, str]](dict)
        signed = _Signed()
        read = defaultdict[str, list[dict[str, Any]]](list)
        unread: dict[str, None] = {}
        problem = None
        try:
            for branch in branches:
                chosen = rows if branch.condition is None else rows.filter(column_of(self._session, branch.condition))
                rows_by_branch.append(f"{branch.when} {branch.action} {self._frames.signature_of(chosen)}")
                if not branch.values:
                    continue
                assigned = rows.select(*(column_of(self._session, v.expression).alias(v.label) for v in branch.values))
                texts = self._frames.texts(assigned)
                for path, text in texts["expressions"].items():
                    expressions[branch.table_path(path)][branch.when or branch.action] = text
                for path, fields in texts["read"].items():
                    read[branch.table_path(path)] += fields
                if texts["unread"]:
                    unread[texts["unread"]] = None
                self._sign(branch, assigned, signed)
        except UnreadableError as error:
            problem = str(error)
        return {
            "rows": None if problem else _digest(rows_by_branch),
            "columns": {name: _digest(signed.columns[name]) for name in names} if len(names) <= MOST_COLUMNS else {},
            "together": {name: _digest(signed.together[name]) for name in names},
            "values": {path: _digest(parts) for path, parts in signed.values.items()},
            "read": dict(read),
            "unread": "; ".join(unread) or None,
            "expressions": {path: _text(texts) for path, texts in expressions.items()},
            "influences": [str(branch) for branch in branches],
            "complete": problem is None,
            "reason": problem,
            "settings": self._frames.settings(),
        }

    def _sign(self, branch: _Branch, assigned: DataFrame, signed: _Signed) -> None:
        together, values = self._frames.signatures_of(assigned)
        for index, value in enumerate(branch.values):
            key = f"{branch.when} {branch.action} {value.label}"
            signed.together[value.column].append(f"{key} {together[index]}")
            for path, digest in values[index].digests(value.path):
                signed.values[path].append(f"{branch.when} {branch.action} {digest}")
            if len(branch.values) <= MOST_COLUMNS:
                signed.columns[value.column].append(f"{key} {self._frames.signature_of(assigned, value.label)}")

    def _frame(self, plan: Any) -> DataFrame:
        return frame_of(self._session, plan)

    def _jvm(self, name: str) -> Any:
        return statics(self._session, name)


@dataclass(frozen=True, slots=True)
class _Signed:
    """Signatures in the branches' order: by column, each from its own plan; by column, from one plan; by path."""

    columns: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    together: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    values: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition, analyzed and as text of the statement; None without a condition."""

    analyzed: Any | None
    parsed: Any | None


def _branch(when: str, action: str, condition: _Condition, values: Iterable[_Value]) -> _Branch:
    written = "" if condition.parsed is None else _sql(condition.parsed)
    return _Branch(when, action, condition.analyzed, "" if written == "true" else written, tuple(values))


def _of_actions(when: str, written: Any, analyzed: Any) -> Iterator[_Branch]:
    for parsed, action in zip(items(written), items(analyzed), strict=True):
        condition = _Condition(option(action.condition()), option(parsed.condition()))
        word = class_name(action).removesuffix("Action").removesuffix("Star").upper()
        yield _branch(when, word, condition, () if word == "DELETE" else _values(action.assignments()))


def _values(assignments: Any) -> Iterator[_Value]:
    for assignment in items(assignments):
        key = assignment.key()
        if hasattr(key, "name") and class_name(key) == "AttributeReference":
            yield _Value(str(key.name()), str(key.name()), assignment.value())
        else:
            # A field of a column.
            yield _Value(str(key.references().head().name()), str(key.sql()), assignment.value())


def _sql(expression: Any) -> str:
    return " ".join(str(expression.sql()).split())


def _type(expression: Any) -> Any:
    from pyspark.sql.types import _parse_datatype_json_string

    return _parse_datatype_json_string(str(expression.dataType().json()))


def _text(by_branch: dict[str, str]) -> str:
    """Return a line for each branch; a single line if all are equal."""
    if len(set(by_branch.values())) == 1:
        return next(iter(by_branch.values()))
    return "\n".join(f"{branch}: {text}" for branch, text in by_branch.items())


def _digest(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:20]
