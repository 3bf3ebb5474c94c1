"""One version of a job: what it reads and writes, as a dry run reports it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from headwater_consumers.analysis.privacy.operations import Effect, Exposure, effect_of
from headwater_consumers.declaring.problems import DeclarationError
from headwater_consumers.review.reading.files import read_schema
from headwater_consumers.review.schema import NULLABLE, PARTITIONING, Schema


@dataclass(frozen=True, slots=True)
class JobProblem:
    """Why a review is incomplete.

    Attributes:
        script: which version.
        text: what is the matter, a sentence.
        fix: what to do about it.
    """

    script: str
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class FieldRead:
    """A field that a value is made of.

    Attributes:
        kind, name: of the dataset that it is read from, as of an output.
        field: its path there.
        effects: what is done to it, in turn.
    """

    kind: str
    name: str
    field: str
    effects: tuple[Effect, ...]

    @property
    def exposure(self) -> Exposure:
        """What a reader of the value gets of the field."""
        return reduce(lambda before, effect: effect.after(before), self.effects, Exposure.READABLE)


@dataclass(frozen=True, slots=True)
class JobOutput:
    """A write.

    Attributes:
        kind: of the dataset: `path`, `table`, `topic`, `jdbc`, `sink` or `code` (rows that go to the script's code).
        name: of the dataset, as the script names it.
        mode: what becomes of the rows that were there.
        options: of the writer that count, as `name=value` by name.
        format: of the files, where it is stated.
        schema: what is written, with its partitioning.
        rows: signature of which rows are written; None: not known.
        columns: signature by column; none, where there are too many.
        together: signature by column, which may also differ where another column does.
        values: digest of what each value is computed from, whichever rows there are, by path: of a column, and of each
            member of a struct, array, map or JSON that it is put together of.
        read: the fields that each is made of, by path.
        unread: why `read` may lack some; None: it doesn't.
        expressions: what each is made of, by path; a line for each branch of a MERGE that makes it otherwise.
        influences: what decides the rows, for people.
        settings: of the session, which decide what expressions mean.
        reason: what isn't known of the plan; None: it is complete.
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
    """A line of a script, or of what it imports from its own folders, that didn't run.

    Attributes:
        file: name of the file.
        line: its number.
        text: what is there, without comments and spacing.
        begun: whether the function that it is in was called.
        handler: whether it handles an exception, or raises one.
    """

    file: str
    line: int
    text: str
    begun: bool
    handler: bool


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a script, or of what it imports from its own folders.

    Attributes:
        text: what is there, written in one way.
        sets: names that it gives a value to, or decides the value of.
        uses: names that decide what that is.
    """

    text: str
    sets: frozenset[str]
    uses: frozenset[str]


@dataclass(frozen=True, slots=True)
class JobVersion:
    """A version of a job.

    Attributes:
        script: what it is called.
        outputs: in the order of the script.
        inputs: kind and name of what it reads.
        ddl: statements that change tables.
        problems: what keeps this from being complete.
        looks: where it asks for rows, of which there are none.
        unrun: lines that didn't run, neither without rows nor with one.
        statements: all of its statements.
        with_rows: the same version as it runs where it gets a made-up row wherever it asks for some; None: it doesn't,
            or wasn't run so.
        fails: what it fails with where there are no rows, as the other version does, too.
        stopped: whether it ends itself before its last line, because of a made-up row.
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
        """Whether all that it writes is known."""
        return not self.problems and all(output.reason is None for output in self.outputs)


def _field_read(report: Mapping[str, Any]) -> FieldRead:
    effects = (
        effect_of(each["kind"], masking=each["masking"], expression=each["expression"], field=each["field"])
        for each in report["steps"]
    )
    return FieldRead(report["source"], report["name"], report["field"], tuple(effects))


def output_of(script: str, report: Mapping[str, Any]) -> JobOutput:
    """An output as a dry run reports it.

    Raises:
        DeclarationError: its schema has a column twice.
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
    """A version of what a dry run has reported."""
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
    found = tuple(read)
    known += [
        JobProblem(
            script,
            f"What it writes to {each.name} isn't known in full: {each.reason}.",
            "Review that output by its schema: headwater review --dataset.",
        )
        for each in found
        if each.reason is not None
    ]
    return JobVersion(script, found, tuple(inputs), tuple(ddl), tuple(known))
