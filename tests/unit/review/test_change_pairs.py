"""Every type of change that a review compares: a case that is one and how bad it is, and one that nearly is."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_analysis.impact import Severity
from headwater_review.by_kind import severity_of
from headwater_review.compare import DifferenceKind, Retyping, SchemaDifference, compare
from headwater_review.jobs.compare import compare_jobs
from headwater_review.jobs.version import JobVersion, version_of
from headwater_review.reading.files import read_schema
from headwater_review.schema_review import _for_consumer
from headwater_review.starts import impact_of
from headwater_review.wording import constraint_of

if TYPE_CHECKING:
    import pytest

NONE, COSMETIC, DEGRADED, BREAKING = Severity.NONE, Severity.COSMETIC, Severity.DEGRADED, Severity.BREAKING
A_TO_C = {"a": "c"}


def column(**properties: Any) -> str:
    return json.dumps([{"name": "a", "type": "int", **properties}])


def avro(*symbols: str, default: str | None = None) -> str:
    type_ = {"type": "enum", "name": "E", "symbols": symbols}
    column = {"name": "a", "type": type_} | ({} if default is None else {"default": default})
    return json.dumps({"type": "record", "name": "R", "fields": [column]})


def by(*columns: str) -> str:
    return f"create table t (a int, b int) partitioned by ({', '.join(columns)})"


@dataclass(frozen=True)
class Pair:
    """Two schemas, or two of a job's outputs, that differ so; and two that nearly do.

    Attributes:
        kind: of the difference.
        differs: the old one and the new one.
        nearly: others, between which there is no such difference.
        by_kind: how bad it is if somebody reads what differs.
        impact: the change that is followed in the graph, and what happens to the column; None: it affects nobody.
        named, whole: how bad it is for a declared consumer of the column, and for one of the dataset as a whole.
        must: what those who write the dataset have to do.
        retyping, renames: see `compare`.
    """

    kind: str
    differs: tuple[Any, Any]
    nearly: tuple[Any, Any]
    by_kind: Severity
    impact: str | None
    named: Severity = NONE
    whole: Severity = NONE
    must: str = ""
    retyping: Retyping | None = None
    renames: dict[str, str] | None = None


SCHEMAS = {
    "added, optional": Pair(
        "ADDED", ("a int", "a int, b int"), ("a int, b int", "b int, a int"), COSMETIC, "COMPATIBLE ADDED"
    ),
    "added, required": Pair(
        "ADDED", ("a int", "a int, b int not null"), ("a int, b int not null", "b int not null, a int"),
        COSMETIC, "COMPATIBLE ADDED", must="fill the new column",
    ),
    "removed": Pair(
        "REMOVED", ("a int, b int", "a int"), ("a int, b int", "b int, a int"),
        BREAKING, "BREAKING REMOVED", BREAKING, DEGRADED,
    ),
    "renamed": Pair(
        "RENAMED", ("a int, b int", "c int, b int"), ("a int, b int", "a bigint, b int"),
        BREAKING, "BREAKING RENAMED", BREAKING, DEGRADED, renames=A_TO_C,
    ),
    "wider": Pair(
        "RETYPED", ("a int", "a bigint"), ("a int", "a INTEGER"), COSMETIC, "COMPATIBLE RETYPED",
        retyping=Retyping.WIDER,
    ),
    "wider, a decimal": Pair(
        "RETYPED", ("a decimal(8,2)", "a decimal(9,3)"), ("a decimal(8,2)", "a numeric(8, 2)"),
        COSMETIC, "COMPATIBLE RETYPED", retyping=Retyping.WIDER,
    ),
    "narrower": Pair(
        "RETYPED", ("a bigint", "a int"), ("a bigint", "a long"), DEGRADED, "BREAKING RETYPED", DEGRADED, DEGRADED,
        retyping=Retyping.NARROWER,
    ),
    "narrower, a decimal by one digit": Pair(
        "RETYPED", ("a decimal(8,2)", "a decimal(8,3)"), ("a decimal(8,2)", "a decimal(8, 2)"),
        DEGRADED, "BREAKING RETYPED", DEGRADED, DEGRADED, retyping=Retyping.NARROWER,
    ),
    "another type": Pair(
        "RETYPED", ("a date", "a int"), ("a date", "a DATE"), BREAKING, "BREAKING RETYPED", DEGRADED, DEGRADED,
        retyping=Retyping.OTHER,
    ),
    "may be null": Pair(
        "NULLABILITY", ("a int not null", "a int"), ("a int not null", "a int not null default 3"),
        DEGRADED, "BREAKING NULLABILITY", DEGRADED,
    ),
    "is never null": Pair(
        "NULLABILITY", ("a int", "a int not null"), ("a int", "a int default 3"),
        COSMETIC, "COMPATIBLE NULLABILITY", must="write no null there",
    ),
    "more values": Pair(
        "ENUM", (avro("x"), avro("x", "y")), (avro("x", "y"), avro("y", "x")), DEGRADED, "BREAKING ENUM", DEGRADED
    ),
    "fewer values": Pair(
        "ENUM", (avro("x", "y"), avro("x")), (avro("x", "y"), avro("x", "y", default="x")),
        DEGRADED, "BREAKING ENUM", DEGRADED, must="write only these values",
    ),
    "unit": Pair(
        "UNIT", (column(unit="EUR"), column(unit="ct")), (column(), column(unit="ct")),
        DEGRADED, "BREAKING UNIT", DEGRADED, DEGRADED,
    ),
    "meaning": Pair(
        "MEANING", (column(meaning="net"), column(meaning="gross")), (column(meaning="net"), column()),
        DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "description": Pair(
        "DESCRIPTION", ("a int comment 'x'", "a int comment 'y'"), ("a int comment 'x'", "a integer comment 'x'"),
        COSMETIC, None,
    ),
    "partitioning": Pair("PARTITIONING", (by("a"), by("b")), (by("a"), by("A")), DEGRADED, "BREAKING PARTITIONING",
        DEGRADED, DEGRADED),
    "partitioning, in another order": Pair(
        "PARTITIONING", (by("a", "b"), by("b", "a")), (by("a", "b"), by("a", "b")), DEGRADED, "BREAKING PARTITIONING",
        DEGRADED, DEGRADED,
    ),
}  # fmt: skip


def output(name: str = "/lake/out", *, order: tuple[str, ...] = ("a", "b"), **properties: Any) -> dict[str, Any]:
    values = {each: f"{each} of r" for each in order}
    fields = [{"name": each, "type": "long", "nullable": True, "metadata": {}} for each in order]
    plain = {
        "kind": "path", "name": name, "mode": "overwrite", "format": "parquet", "partitioned_by": [],
        "schema": {"type": "struct", "fields": fields}, "rows": "r", "columns": values, "together": values,
        "values": values, "read": {}, "unread": None, "options": {},
        "expressions": values, "influences": ["FILTER: a > 1"], "settings": {}, "reason": None,
    }  # fmt: skip
    return {**plain, **properties}


def computed(value: str) -> dict[str, Any]:
    return output(columns={"a": value, "b": "b"}, expressions={"a": value, "b": "b"})


def made_of_email(kind: str) -> dict[str, Any]:
    step = {"kind": kind, "masking": kind != "COPY", "expression": None, "field": "email"}
    return output(read={"a": [{"source": "table", "name": "o", "field": "email", "steps": [step]}]})


def reads(*tables: str) -> JobVersion:
    return version_of("job.py", [output()], [("table", table) for table in tables], [], [])


# The same filter in other words: the signature of the rows is the same.
REWRITTEN = output(influences=["FILTER: 1 < a"])
JOBS = {
    "another filter": Pair(
        "ROWS", (output(), output(rows="s", influences=["FILTER: a > 2"])), (output(), REWRITTEN),
        DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "another join": Pair(
        "ROWS", (output(influences=["JOIN: inner"]), output(rows="s", influences=["JOIN: left"])),
        (output(rows=None), output(rows="s")), DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "another setting": Pair(
        "ROWS", (output(settings={"ansi": "true"}), output(settings={"ansi": "false"})),
        (output(settings={"ansi": "true"}), output(settings={"ansi": "true"})), DEGRADED, "BREAKING MEANING",
        DEGRADED, DEGRADED,
    ),
    "another value": Pair(
        "MEANING", (computed("a * 2"), computed("a * 3")), (computed("a * 2"), computed("a * 2")),
        DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "another mode": Pair(
        "WRITE_MODE", (output(mode="append"), output()), (output(mode=None), output(mode="errorifexists")),
        DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "another format": Pair(
        "WRITE_MODE", (output(), output(format="orc")), (output(), output()), DEGRADED, "BREAKING MEANING",
        DEGRADED, DEGRADED,
    ),
    "another order in a file that is read by position": Pair(
        "POSITION", (output(format="csv"), output(format="csv", order=("b", "a"))),
        (output(), output(order=("b", "a"))), BREAKING, "BREAKING RENAMED", BREAKING, BREAKING,
    ),
    "an output goes": Pair(
        "OUTPUT_REMOVED", (output("/lake/a"), output("/lake/b")), (output("/lake/a"), output("/lake/a")),
        BREAKING, "BREAKING REMOVED", BREAKING, BREAKING,
    ),
    "an output comes": Pair(
        "OUTPUT_ADDED", (output("/lake/a"), output("/lake/b")), (output("/lake/a"), output("/lake/a")), NONE, None
    ),
    "an input goes": Pair(
        "INPUT_REMOVED", (reads("o", "c"), reads("o")), (reads("o", "c"), reads("c", "o")), NONE, None
    ),
    "an input comes": Pair(
        "INPUT_ADDED", (reads("o"), reads("o", "c")), (reads("o", "c"), reads("c", "o")), NONE, None
    ),
    "another option": Pair(
        "WRITE_MODE", (output(), output(options={"header": "header=true"})),
        (output(options={"a": "a=1"}), output(options={"a": "a=1"})), DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "a hash goes": Pair(
        "PRIVACY", (made_of_email("HASH"), made_of_email("COPY")), (made_of_email("COPY"), made_of_email("HASH")),
        BREAKING, None,
    ),
    "a mask becomes a hash": Pair(
        "PRIVACY", (made_of_email("MASK"), made_of_email("HASH")), (made_of_email("HASH"), made_of_email("MASK")),
        DEGRADED, None,
    ),
    "the same mode by another name": Pair(
        "WRITE_MODE", (output(mode="error"), output(mode="ignore")), (output(mode="default"), output(mode="error")),
        DEGRADED, "BREAKING MEANING", DEGRADED, DEGRADED,
    ),
    "a column of the same value has another name": Pair(
        "RENAMED",
        (output(columns={"a": "1", "b": "2"}), output(order=("c", "b"), columns={"c": "1", "b": "2"})),
        (output(columns={"a": "1", "b": "2"}), output(order=("c", "b"), columns={"c": "3", "b": "2"})),
        BREAKING, "BREAKING RENAMED", BREAKING, DEGRADED,
    ),
}  # fmt: skip


def of_schemas(old: str, new: str, renames: dict[str, str] | None = None) -> tuple[SchemaDifference, ...]:
    return compare(read_schema("old", old), read_schema("new", new), renames)


def of_jobs(old: Any, new: Any) -> tuple[SchemaDifference, ...]:
    versions = (
        each if isinstance(each, JobVersion) else version_of("job.py", [each], [("table", "o")], [], [])
        for each in (old, new)
    )
    return tuple(difference for compared in compare_jobs(*versions) for difference in compared.differences)


def check(pair: Pair, found: tuple[SchemaDifference, ...], nearly: tuple[SchemaDifference, ...]) -> None:
    kind = DifferenceKind(pair.kind)
    (difference,) = (each for each in found if each.kind is kind)
    assert difference.retyping is pair.retyping
    assert severity_of(difference) is pair.by_kind
    change = impact_of(difference)
    assert (None if change is None else f"{change[0].removeprefix('SCHEMA_')} {change[1]}") == pair.impact
    assert _for_consumer(difference, names_it=True) is pair.named
    assert _for_consumer(difference, names_it=False) is pair.whole
    assert constraint_of(difference) == pair.must
    assert [each for each in nearly if each.kind is kind] == []


def test_two_schemas(subtests: pytest.Subtests) -> None:
    for name, pair in SCHEMAS.items():
        with subtests.test(name=name):
            check(pair, of_schemas(*pair.differs, pair.renames), of_schemas(*pair.nearly))


def test_two_versions_of_a_job(subtests: pytest.Subtests) -> None:
    for name, pair in JOBS.items():
        with subtests.test(name=name):
            check(pair, of_jobs(*pair.differs), of_jobs(*pair.nearly))


def test_every_type_of_change_has_both() -> None:
    pairs = (*SCHEMAS.values(), *JOBS.values())
    assert {pair.kind for pair in pairs} == set(DifferenceKind)
    assert {pair.retyping for pair in pairs if pair.kind == "RETYPED"} == set(Retyping)
