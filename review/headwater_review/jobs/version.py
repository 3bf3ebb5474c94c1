"""Version of a job: inputs and outputs, from a dry run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.privacy.operations import Effect, Exposure, effect_of
from headwater_review.reading.files import read_schema
from headwater_review.schema import NULLABLE, PARTITIONING, Schema


@dataclass(frozen=True, slots=True)
class JobProblem:
    """A reason why a review is incomplete."""

    script: str
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class FieldRead:
    """Source field of a value.

    Attributes:
        kind, name: dataset of the field; see `JobOutput`.
        field: path of the field in that dataset.
        effects: effects of the operations on the field, in order.
    """

    kind: str
    name: str
    field: str
    effects: tuple[Effect, ...]

    @property
    def exposure(self) -> Exposure:
        """Exposure of the field to a reader of the value."""
        return reduce(lambda before, effect: effect.after(before), self.effects, Exposure.READABLE)


@dataclass(frozen=True, slots=True)
class JobOutput:
    """Write of a job to one output.

    Attributes:
        kind: kind of the dataset: `path`, `table`, `topic`, `jdbc`, `sink` or `code` (rows that go to the script's
            code).
        name: name of the dataset in the script.
        mode: write mode, which decides whether existing rows are kept.
        options: relevant options of the writer, as `name=value` by name.
        format: format of the files, if stated.
        schema: schema of the output, with its partitioning.
        rows: signature of the plan that selects the rows; None: unknown.
        columns: signature by column; empty if there are too many columns.
        together: signature by column, which may also differ because another column differs.
        values: digest of each value's computation, independent of the rows, by path: of a column, and of each member of
            a struct, array, map or JSON from which the column is built.
        read: fields from which each value is computed, by path.
        unread: reason why `read` may be incomplete; None if it is complete.
        expressions: expression of each value, by path; if branches of a MERGE compute it differently, a line for each
            branch.
        influences: filters, joins and other operations that decide the rows, for people.
        settings: settings of the session that affect the meaning of expressions.
        reason: reason why the plan is only partly known; None if it is completely known.
    """

    kind: str
    name: str
    mode: str
    options: Mapping[str, str]
    format: str | None
    schema: Schema
    rows: str | None
    columns: Mapping[str, str]
    together: Mapping[str, str]
    values: Mapping[str, str]
    read: Mapping[str, tuple[FieldRead, ...]]
    unread: str | None
    expressions: Mapping[str, str]
    influences: tuple[str, ...]
    settings: Mapping[str, str | None]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Unrun:
    """A line of a script, or of a module from its own folders, that didn't run.

    Attributes:
        text: text of the line, without comments and spacing.
        begun: whether the function around the line was called.
        handler: whether the line handles or raises an exception.
    """

    file: str
    line: int
    text: str
    begun: bool
    handler: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a script, or of a module from its own folders.

    Attributes:
        text: normalized text.
        sets: names that the statement assigns, or whose value it decides.
        uses: names on which this value depends.
    """

    text: str
    sets: frozenset[str]
    uses: frozenset[str]


@dataclass(frozen=True, slots=True)
class JobVersion:
    """A version of a job.

    Attributes:
        outputs: outputs in the order of the script.
        inputs: kind and name of each input.
        ddl: statements that change tables.
        problems: reasons why this version is only partly known.
        looks: places where the script asks for rows, which a dry run lacks.
        unrun: lines that ran neither without rows nor with a made-up row.
        statements: all statements of the script.
        with_rows: the same version in a run with a made-up row wherever the script asks for rows; None if the
            script never asks, or if there was no such run.
        fails: errors in the run without rows that both versions have.
        stopped: whether the script ends itself early because of a made-up row.
    """

    script: str
    outputs: tuple[JobOutput, ...]
    inputs: tuple[tuple[str, str], ...]
    ddl: tuple[str, ...]
    problems: tuple[JobProblem, ...]
    looks: tuple[str, ...] = ()
    unrun: tuple[Unrun, ...] = ()
    statements: tuple[Statement, ...] = ()
    with_rows: JobVersion | None = None
    fails: tuple[JobProblem, ...] = ()
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """True if all outputs are known."""
        return not self.problems and all(output.reason is None for output in self.outputs)


def _field_read(report: Mapping[str, Any]) -> FieldRead:
    effects = (
        effect_of(each["kind"], masking=each["masking"], expression=each["expression"], field=each["field"])
        for each in report["steps"]
    )
    return FieldRead(report["source"], report["name"], report["field"], tuple(effects))


def output_of(script: str, report: Mapping[str, Any]) -> JobOutput:
    """Build an output from the report of a dry run.

    Raises:
        DeclarationError: the output's schema has a column twice.
    """
    partitioning = tuple(report["partitioned_by"])
    fields = report["schema"]["fields"]
    if fields:
        read = read_schema(script, json.dumps(report["schema"]))
        schema = Schema(script, read.columns, frozenset({NULLABLE, PARTITIONING}), partitioning)
    else:
        schema = Schema(script, {}, frozenset({NULLABLE, PARTITIONING}), partitioning)
    return JobOutput(
        kind=report["kind"],
        name=report["name"],
        mode=report["mode"],
        options=report["options"],
        format=report["format"],
        schema=schema,
        rows=report["rows"],
        columns=report["columns"],
        together=report["together"],
        values=report["values"],
        read={path: tuple(_field_read(each) for each in fields) for path, fields in report["read"].items()},
        unread=report["unread"],
        expressions=report["expressions"],
        influences=tuple(report["influences"]),
        settings=report["settings"],
        reason=report["reason"],
    )


def version_of(
    script: str,
    outputs: Iterable[Mapping[str, Any]],
    inputs: Iterable[tuple[str, str]],
    ddl: Iterable[str],
    problems: Iterable[tuple[str, str]],
) -> JobVersion:
    """Build a version from the reports of a dry run."""
    known = [JobProblem(script, text, fix) for text, fix in problems]
    read: list[JobOutput] = []
    for report in outputs:
        try:
            read.append(output_of(script, report))
        except DeclarationError as error:
            text = "; ".join(f"{'.'.join(map(str, each.path)) or 'it'} {each.message}" for each in error.problems)
            known.append(
                JobProblem(
                    script,
                    f"The columns of {report['name']} can't be compared: {text}.",
                    "Spark writes no such columns to most formats: correct the script.",
                )
            )
    known_outputs = tuple(read)
    known += [
        JobProblem(
            script,
            f"The output to {each.name} is only partly known: {each.reason}.",
            "Review that output by its schema: headwater review --dataset.",
        )
        for each in known_outputs
        if each.reason is not None
    ]
    return JobVersion(script, known_outputs, tuple(inputs), tuple(ddl), tuple(known))
