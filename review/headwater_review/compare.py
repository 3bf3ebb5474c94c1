"""Comparison of two schemas of a dataset: all differences between them."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from headwater_analysis.errors import QuestionError
from headwater_analysis.impact.start import is_same, widens
from headwater_analysis.privacy.operations import Exposure
from headwater_review.schema import (
    DESCRIPTION,
    ENUM,
    MEANING,
    NULLABLE,
    PARTITIONING,
    UNIT,
    Schema,
    SchemaColumn,
    Steps,
)
from headwater_schemas.events import Sensitivity

_MOST_PAIRS = 2_500
_LEAST_SIMILARITY = 0.6
ANY = "any"


class DifferenceKind(StrEnum):
    """Kind of a difference.

    - ADDED to DESCRIPTION: a difference in a column.
    - PARTITIONING: a difference in the dataset.
    - PRIVACY: a difference in a column, caused by a job's new version: a sensitive value was masked, hashed or
      encrypted before, and now has less protection or none.
    - ROWS to INPUT_ADDED: a difference in the dataset, caused by a job's new version.
    """

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    RENAMED = "RENAMED"
    RETYPED = "RETYPED"
    NULLABILITY = "NULLABILITY"
    ENUM = "ENUM"
    UNIT = "UNIT"
    MEANING = "MEANING"
    DESCRIPTION = "DESCRIPTION"
    PARTITIONING = "PARTITIONING"
    PRIVACY = "PRIVACY"
    ROWS = "ROWS"
    WRITE_MODE = "WRITE_MODE"
    POSITION = "POSITION"
    OUTPUT_REMOVED = "OUTPUT_REMOVED"
    OUTPUT_ADDED = "OUTPUT_ADDED"
    INPUT_REMOVED = "INPUT_REMOVED"
    INPUT_ADDED = "INPUT_ADDED"


class Retyping(StrEnum):
    """Effect of a type change on values of the old type.

    - WIDER: the new type can hold every old value.
    - NARROWER: Spark casts old values; some are lost, refused in ANSI mode, or compare differently.
    - OTHER: Spark can't cast old values.
    """

    WIDER = "WIDER"
    NARROWER = "NARROWER"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Exposed:
    """A field that a job protects less than before.

    Attributes:
        kind, name: dataset from which the job reads the field, as the script names it.
        field: path of the field in that dataset.
        before, after: exposure of the field's values to a reader of the output.
        sensitivity: declared sensitivity of the field; None if not declared, or without a graph.
    """

    kind: str
    name: str
    field: str
    before: Exposure
    after: Exposure
    sensitivity: Sensitivity | None = None


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """A difference between two schemas.

    Attributes:
        kind: kind of the difference.
        column: path of the column in the old schema (for ADDED: in the new schema); empty: the dataset.
        now: path in the new schema, for RENAMED.
        before, after: type, nullability, values, unit, meaning, description or partitioning; None if absent.
        retyping: effect on values, for RETYPED.
        required: for ADDED: whether no row can be written without the column.
        values_added, values_removed: for ENUM: whether some values are newly allowed, or are no longer allowed.
        similar: for REMOVED: path of an added column of the same type with a similar name. It counts as a rename only
            if the question states the rename.
        overwrites_more: for WRITE_MODE: whether the new write overwrites rows that the old write kept.
        exposed: for PRIVACY: the field.
        line: line of the column in the new file, or, if the new file lacks the column, in the old file; 0: unknown.
        in_new: whether `line` is in the new file.
    """

    kind: DifferenceKind
    column: str
    now: str | None = None
    before: str | None = None
    after: str | None = None
    retyping: Retyping | None = None
    required: bool = False
    values_added: bool = False
    values_removed: bool = False
    similar: str | None = None
    overwrites_more: bool = False
    exposed: Exposed | None = None
    line: int = 0
    in_new: bool = True


def compare(old: Schema, new: Schema, renames: Mapping[str, str] | None = None) -> tuple[SchemaDifference, ...]:
    """List every difference, in the order of the old schema's columns, then of the new schema's.

    A property counts as equal if the format of one of the schemas can't state it. An unknown type or nullability also
    counts as equal. A unit or meaning that only one schema states is a difference of DESCRIPTION; an enum that only
    one schema states is a difference of ENUM. Nested fields of an added or removed column aren't listed.

    Args:
        old: current schema.
        new: new schema of the same dataset.
        renames: old path to new path.

    Raises:
        QuestionError: a rename names a column that doesn't exist.
    """
    declared = renames or {}
    mapped = _mapped(old, new, declared)
    pairs = {steps: mapped[steps] for steps in old.columns if mapped[steps] in new.columns}
    removed = [steps for steps in old.columns if steps not in pairs]
    matched = set(pairs.values())
    added = [steps for steps in new.columns if steps not in matched]
    similar = _similar(old, new, _topmost(removed), _topmost(added))
    out: list[SchemaDifference] = []
    for steps in _topmost(removed):
        column = old.columns[steps]
        likely = similar.get(steps)
        out.append(
            SchemaDifference(
                DifferenceKind.REMOVED,
                column.path,
                before=column.type,
                similar=None if likely is None else ".".join(likely),
                line=column.line,
                in_new=False,
            )
        )
    for steps, now in pairs.items():
        column = old.columns[steps]
        out += _of_column(column, new.columns[now], old.states & new.states, renamed=column.path in declared)
    for steps in _topmost(added):
        column = new.columns[steps]
        out.append(
            SchemaDifference(
                DifferenceKind.ADDED, column.path, after=column.type, required=column.required, line=column.line
            )
        )
    order = {column.path: index for index, column in enumerate(old.columns.values())}
    out.sort(key=lambda each: order.get(each.column, len(order)))
    if PARTITIONING in old.states & new.states:
        out += _partitioning(old, new, {".".join(steps): ".".join(now) for steps, now in mapped.items()})
    return tuple(out)


def _mapped(old: Schema, new: Schema, renames: Mapping[str, str]) -> dict[Steps, Steps]:
    """Map each old column's steps to the new schema: renamed, nested in a renamed column, or unchanged."""
    by_path = {column.path: steps for steps, column in old.columns.items()}
    now_by_path = {column.path: steps for steps, column in new.columns.items()}
    declared: dict[Steps, Steps] = {}
    for before, after in renames.items():
        if before not in by_path:
            raise QuestionError(f"{old.source} has no column {before!r}.{_near(before, by_path)}", field="rename")
        if after not in now_by_path:
            raise QuestionError(f"{new.source} has no column {after!r}.{_near(after, now_by_path)}", field="rename")
        if before in now_by_path:
            raise QuestionError(f"{before!r} is still in {new.source}, so it isn't renamed.", field="rename")
        if after in by_path or list(renames.values()).count(after) > 1:
            raise QuestionError(f"{after!r} can't be a new name: another column has it.", field="rename")
        declared[by_path[before]] = now_by_path[after]
    out: dict[Steps, Steps] = {}
    for steps in old.columns:
        if steps in declared:
            out[steps] = declared[steps]
        else:
            above = out.get(steps[:-1])
            out[steps] = steps if above is None else (*above, steps[-1])
    return out


def _near(name: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(name, list(known)[:_MOST_PAIRS], n=1)
    return f" Do you mean {nearest[0]!r}?" if nearest else ""


def _topmost(paths: Iterable[Steps]) -> list[Steps]:
    """Filter out paths inside another path."""
    every = dict.fromkeys(paths)
    return [steps for steps in every if not any(steps[:n] in every for n in range(1, len(steps)))]


def _similar(old: Schema, new: Schema, removed: list[Steps], added: list[Steps]) -> dict[Steps, Steps]:
    """Match removed columns with added columns of the same type and parent, by the most similar names."""
    groups: dict[tuple[Steps, str | None], tuple[list[Steps], list[Steps]]] = defaultdict(lambda: ([], []))
    for side, (schema, paths) in enumerate(((old, removed), (new, added))):
        for steps in paths:
            groups[steps[:-1], schema.columns[steps].type][side].append(steps)
    out: dict[Steps, Steps] = {}
    for gone, come in groups.values():
        if len(gone) == len(come) == 1:
            out[gone[0]] = come[0]
        elif len(gone) * len(come) <= _MOST_PAIRS:
            ratios = sorted(
                (-difflib.SequenceMatcher(None, one[-1].lower(), other[-1].lower()).ratio(), one, other)
                for one in gone
                for other in come
            )
            for ratio, one, other in ratios:
                if -ratio >= _LEAST_SIMILARITY and one not in out and other not in out.values():
                    out[one] = other
    return out


def _of_column(
    old: SchemaColumn, new: SchemaColumn, states: frozenset[str], *, renamed: bool
) -> Iterator[SchemaDifference]:
    path, line = old.path, new.line
    kind = DifferenceKind
    if renamed:
        yield SchemaDifference(kind.RENAMED, path, now=new.path, before=old.type, after=new.type, line=line)
    if old.shape is not None and new.shape is not None and not is_same(old.shape, new.shape):
        yield SchemaDifference(
            kind.RETYPED,
            path,
            before=old.type,
            after=new.type,
            retyping=retyping(old.shape, new.shape),
            line=line,
        )
    if NULLABLE in states and None not in (old.nullable, new.nullable) and old.nullable is not new.nullable:
        before, after = ("nullable" if each.nullable else "not null" for each in (old, new))
        yield SchemaDifference(kind.NULLABILITY, path, before=before, after=after, line=line)
    if ENUM in states and old.enum != new.enum:
        yield _of_enum(path, old.enum, new.enum, line)
    for name, which in ((UNIT, kind.UNIT), (MEANING, kind.MEANING), (DESCRIPTION, kind.DESCRIPTION)):
        before_, after_ = getattr(old, name), getattr(new, name)
        if name in states and before_ != after_:
            # A unit that is stated for the first time isn't a change of unit: the old unit is unknown.
            changed = which if before_ and after_ else kind.DESCRIPTION
            yield SchemaDifference(changed, path, before=before_, after=after_, line=line)


def _of_enum(path: str, old: tuple[str, ...] | None, new: tuple[str, ...] | None, line: int) -> SchemaDifference:
    return SchemaDifference(
        DifferenceKind.ENUM,
        path,
        before=ANY if old is None else ", ".join(old),
        after=ANY if new is None else ", ".join(new),
        values_added=old is not None and (new is None or not set(new) <= set(old)),
        values_removed=new is not None and (old is None or not set(old) <= set(new)),
        line=line,
    )


def _partitioning(old: Schema, new: Schema, mapped: Mapping[str, str]) -> Iterator[SchemaDifference]:
    before = tuple(mapped.get(each, each).lower() for each in old.partitioning)
    if before != tuple(each.lower() for each in new.partitioning):
        yield SchemaDifference(
            DifferenceKind.PARTITIONING,
            "",
            before=", ".join(old.partitioning) or None,
            after=", ".join(new.partitioning) or None,
        )


_NUMBERS = {"tinyint", "smallint", "int", "bigint", "float", "double", "decimal"}
_TEXTS = {"string", "varchar", "char"}
_TIMES = {"date", "timestamp", "timestamp_ntz"}


def retyping(old: str, new: str) -> Retyping:
    """Effect of a type change on values, by Spark's `Cast` in ANSI mode.

    Args:
        old: shape of the old column (`SchemaColumn.shape`).
        new: shape of the new column.
    """
    if widens(old, new):
        return Retyping.WIDER
    one, other = (shape.partition("(")[0] for shape in (old, new))
    both = {one, other}
    casts = (
        one in _TEXTS and other in _NUMBERS | _TEXTS | _TIMES | {"boolean", "binary"},
        other in _TEXTS and one in _NUMBERS | _TEXTS | _TIMES | {"boolean", "binary"},
        both <= _NUMBERS | {"boolean"},
        both <= _TIMES,
        both <= _NUMBERS | {"timestamp"},
    )
    return Retyping.NARROWER if any(casts) else Retyping.OTHER
