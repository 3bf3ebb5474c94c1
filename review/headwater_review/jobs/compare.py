"""Two versions of a job ⇒ every difference, output by output.

Plans are compared by signature: equivalent plans have the same signature, however they are written. Differences are
then named by the plans' details.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater_review.compare import DifferenceKind, SchemaDifference, compare
from headwater_review.jobs.exposed import fields_exposed
from headwater_review.jobs.values import around_difference, shortened, values_by_column, values_that_differ
from headwater_review.jobs.version import JobOutput, JobVersion
from headwater_review.schema import Schema, step

_MOST_TEXTS = 5
_FAILS = "errorifexists"
# Spark's other names of the default mode.
_ALSO_FAILS = (None, "", "error", "default")
_ALL_ROWS = ("overwrite", "replace", "createorreplace")
_SOME_ROWS = ("overwrite ", "overwritepartitions")


@dataclass(frozen=True, slots=True)
class ComparedOutput:
    """A dataset that at least one version writes.

    Attributes:
        kind: `path`, `table`, `topic` …
        old, new: schema of the output in each version; None if the version doesn't write it.
        differences: differences of schema, rows and values.
    """

    kind: str
    name: str
    old: Schema | None
    new: Schema | None
    differences: tuple[SchemaDifference, ...]


def compare_jobs(old: JobVersion, new: JobVersion) -> tuple[ComparedOutput, ...]:
    """Compare the outputs of both versions (the old version's first), in the runs without rows and with rows."""
    outputs = {(each.kind, each.name): each for each in _compared(old, new)}
    before, after = old.with_rows, new.with_rows
    if before is not None and after is not None and before.stopped == after.stopped:
        for each in _compared(before, after):
            known = outputs.get((each.kind, each.name))
            outputs[each.kind, each.name] = each if known is None else _merged(known, each)
    return tuple(outputs.values())


def _merged(known: ComparedOutput, further: ComparedOutput) -> ComparedOutput:
    """Merge the differences of the runs without rows with further differences of the runs with rows."""
    old, new = known.old or further.old, known.new or further.new
    without, with_ = _written_by_one(known), _written_by_one(further)
    if (without is None) == (with_ is None):
        # Differences are compared without their texts, which may contain made-up values.
        listed = {_identity(each) for each in known.differences}
        added = tuple(each for each in further.differences if _identity(each) not in listed)
        return replace(known, old=old, new=new, differences=known.differences + added)
    one, where = (without, "no rows") if without is not None else (with_, "rows")
    texts = ["written", f"not written where there are {where}"]
    if one is DifferenceKind.OUTPUT_ADDED:
        texts.reverse()
    others = further.differences if without is not None else known.differences
    return replace(known, old=old, new=new, differences=(_rows(*texts), *others))


def _written_by_one(output: ComparedOutput) -> DifferenceKind | None:
    """OUTPUT_REMOVED or OUTPUT_ADDED if only one version writes the output; else None."""
    kinds = (DifferenceKind.OUTPUT_REMOVED, DifferenceKind.OUTPUT_ADDED)
    return next((each.kind for each in output.differences if each.kind in kinds), None)


def _identity(each: SchemaDifference) -> tuple[object, ...]:
    # The write mode doesn't contain made-up values.
    how = (each.before, each.after) if each.kind is DifferenceKind.WRITE_MODE else ()
    return each.kind, each.column, each.now, each.retyping, each.exposed, how


def _compared(old: JobVersion, new: JobVersion) -> tuple[ComparedOutput, ...]:
    before, after = _by_name(old.outputs), _by_name(new.outputs)
    compared: list[ComparedOutput] = []
    for kind, name in dict.fromkeys([*before, *after]):
        earlier, later = before.get((kind, name), []), after.get((kind, name), [])
        if not later and new.problems:
            # The missing output may be written after the point of failure.
            continue
        if not earlier and old.problems:
            continue
        if not later:
            removed = SchemaDifference(DifferenceKind.OUTPUT_REMOVED, "", before=name, in_new=False)
            compared.append(ComparedOutput(kind, name, earlier[0].schema, None, (removed,)))
            continue
        if not earlier:
            added = SchemaDifference(DifferenceKind.OUTPUT_ADDED, "", after=name)
            compared.append(ComparedOutput(kind, name, None, later[0].schema, (added,)))
            continue
        differences: list[SchemaDifference] = []
        for one, other in zip(earlier, later, strict=False):
            differences += [each for each in _of_output(one, other) if each not in differences]
        if len(earlier) != len(later):
            differences.append(_rows(f"{len(earlier)} writes", f"{len(later)} writes"))
        differences += _of_inputs(old, new)
        compared.append(ComparedOutput(kind, name, earlier[0].schema, later[0].schema, tuple(differences)))
    return tuple(compared)


def _by_name(outputs: Sequence[JobOutput]) -> dict[tuple[str, str], list[JobOutput]]:
    by_name: dict[tuple[str, str], list[JobOutput]] = defaultdict(list)
    for each in outputs:
        by_name[each.kind, each.name].append(each)
    return by_name


def _of_output(old: JobOutput, new: JobOutput) -> Iterator[SchemaDifference]:
    known = old.rows is not None and new.rows is not None
    same_rows = old.rows == new.rows
    before, after = (old.columns, new.columns) if old.columns and new.columns else (old.together, new.together)
    if known and not same_rows:
        # If the rows differ, the signatures of all columns differ, so values are compared instead.
        before, after = values_by_column(old), values_by_column(new)
    renames = _renames(before, after)
    yield from compare(old.schema, new.schema, renames)
    if known and not same_rows:
        gone = list((Counter(old.influences) - Counter(new.influences)).elements())
        come = list((Counter(new.influences) - Counter(old.influences)).elements())
        if len(gone) == len(come) == 1:
            yield _rows(*around_difference(gone[0], come[0]))
        else:
            yield _rows(_texts(gone), _texts(come))
    yield from _how_written(old, new)
    settings = [name for name in {**old.settings, **new.settings} if old.settings.get(name) != new.settings.get(name)]
    for name in sorted(settings):
        yield _rows(f"{name} = {old.settings.get(name)}", f"{name} = {new.settings.get(name)}")
    if known:
        changed = [name for name, text in before.items() if after.get(name, text) != text]
        yield from values_that_differ(old, new, changed)
    yield from fields_exposed(old, new)
    if [*before] != [*after] and {*before} == {*after} and _is_by_position(new):
        yield SchemaDifference(DifferenceKind.POSITION, "", before=_texts([*before]), after=_texts([*after]))


def _is_by_position(output: JobOutput) -> bool:
    """Return whether readers find columns by position, as in text files."""
    return output.format in ("csv", "text")


def _renames(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Certain renames: a column is removed and another one with the same value is added."""
    gone: dict[str, list[str]] = defaultdict(list)
    come: dict[str, list[str]] = defaultdict(list)
    for found, columns, others in ((gone, old, new), (come, new, old)):
        for name, text in columns.items():
            if name not in others:
                found[text].append(name)
    return {step(names[0]): step(come[text][0]) for text, names in gone.items() if len(names) == len(come[text]) == 1}


def _of_inputs(old: JobVersion, new: JobVersion) -> Iterator[SchemaDifference]:
    before, after = dict.fromkeys(old.inputs), dict.fromkeys(new.inputs)
    for kind, name in before:
        if (kind, name) not in after:
            yield SchemaDifference(DifferenceKind.INPUT_REMOVED, "", before=f"{kind} {name}", in_new=False)
    for kind, name in after:
        if (kind, name) not in before:
            yield SchemaDifference(DifferenceKind.INPUT_ADDED, "", after=f"{kind} {name}")


def _rows(before: str | None, after: str | None) -> SchemaDifference:
    return SchemaDifference(DifferenceKind.ROWS, "", before=before, after=after)


def _texts(texts: Sequence[str]) -> str | None:
    shown = [shortened(each) or "" for each in texts[:_MOST_TEXTS]]
    more = [f"and {len(texts) - _MOST_TEXTS} more"] if len(texts) > _MOST_TEXTS else []
    return "; ".join([*shown, *more]) or None


def _how_written(old: JobOutput, new: JobOutput) -> Iterator[SchemaDifference]:
    """WRITE_MODE differences, one for each property of the write that differs."""
    before, after = _mode(old), _mode(new)
    if before != after:
        overwrites_more = _overwritten(after) > _overwritten(before)
        yield SchemaDifference(
            DifferenceKind.WRITE_MODE, "", before=before, after=after, overwrites_more=overwrites_more
        )
    if old.format != new.format:
        yield SchemaDifference(DifferenceKind.WRITE_MODE, "", before=old.format, after=new.format)
    for name in sorted(old.options.keys() | new.options.keys()):
        one, other = old.options.get(name), new.options.get(name)
        if one != other:
            yield SchemaDifference(DifferenceKind.WRITE_MODE, "", before=one, after=other)


def _mode(output: JobOutput) -> str:
    return _FAILS if output.mode in _ALSO_FAILS else output.mode


def _overwritten(mode: str) -> int:
    """Amount of rows that a mode overwrites: 0 none, 1 some, 2 all."""
    word = mode.lower()
    return 2 if word in _ALL_ROWS else 1 if word.startswith(_SOME_ROWS) else 0
