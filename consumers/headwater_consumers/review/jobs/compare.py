"""Two versions of a job ⇒ every difference, output by output.

Plans are compared by signature: equal plans that are written differently have the same. What differs is then named by
what the plan says of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater_consumers.review.compare import Difference, DifferenceKind, compare
from headwater_consumers.review.jobs.version import JobOutput, JobVersion
from headwater_consumers.review.schema import Schema, step

_MOST_TEXTS = 5
_MOST_TEXT = 160
_BEFORE_DIFFERENCE = 60
_FAILS = "errorifexists"
# Spark's other names of that mode, which is the one of a writer without any.
_ALSO_FAILS = (None, "", "error", "default")


@dataclass(frozen=True, slots=True)
class ComparedOutput:
    """A dataset that one of the versions writes, or both.

    Attributes:
        kind: `path`, `table`, `topic` …
        name: as the script names it.
        old, new: its schemas; None: this version doesn't write it.
        differences: of schema, rows and values.
    """

    kind: str
    name: str
    old: Schema | None
    new: Schema | None
    differences: tuple[Difference, ...]


def compare_jobs(old: JobVersion, new: JobVersion) -> tuple[ComparedOutput, ...]:
    """Every output of either version, those of the old one first, with all that differs without rows, or with some."""
    found = {(each.kind, each.name): each for each in _compared(old, new)}
    before, after = old.with_rows, new.with_rows
    if before is not None and after is not None and before.stopped == after.stopped:
        for each in _compared(before, after):
            known = found.get((each.kind, each.name))
            found[each.kind, each.name] = each if known is None else _merged(known, each)
    return tuple(found.values())


def _merged(known: ComparedOutput, more: ComparedOutput) -> ComparedOutput:
    """What differs without rows, and what differs only with some."""
    old, new = known.old or more.old, known.new or more.new
    without, with_ = _written_by_one(known), _written_by_one(more)
    if (without is None) == (with_ is None):
        # The texts of the same difference may name what is made up.
        listed = {_what(each) for each in known.differences}
        added = tuple(each for each in more.differences if _what(each) not in listed)
        return replace(known, old=old, new=new, differences=known.differences + added)
    one, where = (without, "no rows") if without is not None else (with_, "rows")
    texts = ["written", f"not written where there are {where}"]
    if one is DifferenceKind.OUTPUT_ADDED:
        texts.reverse()
    others = more.differences if without is not None else known.differences
    return replace(known, old=old, new=new, differences=(_rows(*texts), *others))


def _written_by_one(output: ComparedOutput) -> DifferenceKind | None:
    """OUTPUT_REMOVED or OUTPUT_ADDED, where one of the versions alone writes it."""
    kinds = (DifferenceKind.OUTPUT_REMOVED, DifferenceKind.OUTPUT_ADDED)
    return next((each.kind for each in output.differences if each.kind in kinds), None)


def _what(each: Difference) -> tuple[object, ...]:
    return each.kind, each.column, each.now, each.retyping


def _compared(old: JobVersion, new: JobVersion) -> tuple[ComparedOutput, ...]:
    before, after = _by_name(old.outputs), _by_name(new.outputs)
    found: list[ComparedOutput] = []
    for kind, name in dict.fromkeys([*before, *after]):
        earlier, later = before.get((kind, name), []), after.get((kind, name), [])
        if not later and new.problems:
            # It may come after what failed.
            continue
        if not earlier and old.problems:
            continue
        if not later:
            gone = Difference(DifferenceKind.OUTPUT_REMOVED, "", before=name, in_new=False)
            found.append(ComparedOutput(kind, name, earlier[0].schema, None, (gone,)))
            continue
        if not earlier:
            made = Difference(DifferenceKind.OUTPUT_ADDED, "", after=name)
            found.append(ComparedOutput(kind, name, None, later[0].schema, (made,)))
            continue
        differences: list[Difference] = []
        for one, other in zip(earlier, later, strict=False):
            differences += [each for each in _of_output(one, other) if each not in differences]
        if len(earlier) != len(later):
            differences.append(_rows(f"{len(earlier)} writes", f"{len(later)} writes"))
        differences += _of_inputs(old, new)
        found.append(ComparedOutput(kind, name, earlier[0].schema, later[0].schema, tuple(differences)))
    return tuple(found)


def _by_name(outputs: Sequence[JobOutput]) -> dict[tuple[str, str], list[JobOutput]]:
    found: dict[tuple[str, str], list[JobOutput]] = defaultdict(list)
    for each in outputs:
        found[each.kind, each.name].append(each)
    return found


def _of_output(old: JobOutput, new: JobOutput) -> Iterator[Difference]:
    before, after = (old.columns, new.columns) if old.columns and new.columns else (old.together, new.together)
    renames = _renames(before, after)
    yield from compare(old.schema, new.schema, renames)
    known = old.rows is not None and new.rows is not None
    if known and old.rows != new.rows:
        gone = list((Counter(old.influences) - Counter(new.influences)).elements())
        come = list((Counter(new.influences) - Counter(old.influences)).elements())
        if len(gone) == len(come) == 1:
            yield _rows(*_around_difference(gone[0], come[0]))
        else:
            yield _rows(_texts(gone), _texts(come))
    if _mode(old) != _mode(new):
        yield Difference(DifferenceKind.WRITE_MODE, "", before=_mode(old), after=_mode(new))
    settings = [name for name in {**old.settings, **new.settings} if old.settings.get(name) != new.settings.get(name)]
    for name in sorted(settings):
        yield _rows(f"{name} = {old.settings.get(name)}", f"{name} = {new.settings.get(name)}")
    yield from _meanings(old, new, [name for name, text in before.items() if after.get(name, text) != text])
    if [*before] != [*after] and {*before} == {*after} and _is_by_position(new):
        yield Difference(DifferenceKind.POSITION, "", before=_texts([*before]), after=_texts([*after]))


def _is_by_position(output: JobOutput) -> bool:
    """Whether readers find columns by place: those of text files."""
    return output.format in ("csv", "text")


def _mode(output: JobOutput) -> str:
    mode = _FAILS if output.mode in _ALSO_FAILS else output.mode
    return " ".join(filter(None, (mode, output.format)))


def _renames(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Columns that go and come with the same value: known to be the same, and not guessed."""
    gone: dict[str, list[str]] = defaultdict(list)
    come: dict[str, list[str]] = defaultdict(list)
    for found, columns, others in ((gone, old, new), (come, new, old)):
        for name, text in columns.items():
            if name not in others:
                found[text].append(name)
    return {step(names[0]): step(come[text][0]) for text, names in gone.items() if len(names) == len(come[text]) == 1}


def _meanings(old: JobOutput, new: JobOutput, changed: Sequence[str]) -> Iterator[Difference]:
    """Columns that are computed otherwise, or of other rows."""
    if old.rows is None or new.rows is None:
        return
    for name in changed:
        before, after = old.expressions.get(step(name)), new.expressions.get(step(name))
        # With other rows all columns have other values; then it is the rows that are listed.
        if before == after and old.rows != new.rows:
            continue
        before, after = _lines_that_differ(before, after)
        before, after = _around_difference(before, after)
        yield Difference(DifferenceKind.MEANING, step(name), before=before, after=after)


def _lines_that_differ(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Of a column that is made in several branches, those that make it otherwise; both texts where none does."""
    old, new = (before or "").split("\n"), (after or "").split("\n")
    if before == after or len(old) == len(new) == 1:
        return before and before.replace("\n", "; "), after and after.replace("\n", "; ")
    gone, come = [each for each in old if each not in new], [each for each in new if each not in old]
    return "; ".join(gone) or None, "; ".join(come) or None


def _of_inputs(old: JobVersion, new: JobVersion) -> Iterator[Difference]:
    before, after = dict.fromkeys(old.inputs), dict.fromkeys(new.inputs)
    for kind, name in before:
        if (kind, name) not in after:
            yield Difference(DifferenceKind.INPUT_REMOVED, "", before=f"{kind} {name}", in_new=False)
    for kind, name in after:
        if (kind, name) not in before:
            yield Difference(DifferenceKind.INPUT_ADDED, "", after=f"{kind} {name}")


def _rows(before: str | None, after: str | None) -> Difference:
    return Difference(DifferenceKind.ROWS, "", before=before, after=after)


def _texts(texts: Sequence[str]) -> str | None:
    shown = [_short(each) or "" for each in texts[:_MOST_TEXTS]]
    more = [f"and {len(texts) - _MOST_TEXTS} more"] if len(texts) > _MOST_TEXTS else []
    return "; ".join([*shown, *more]) or None


def _around_difference(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Two texts cut to where they differ, if they are long."""
    if before is None or after is None or before == after or max(len(before), len(after)) <= _MOST_TEXT:
        return _short(before), _short(after)
    # One may be the beginning of the other.
    alike = min(len(before), len(after))
    alike = next((n for n in range(alike) if before[n] != after[n]), alike)
    start = max(0, alike - _BEFORE_DIFFERENCE)
    ellipsis = "…" if start else ""
    return f"{ellipsis}{_short(before[start:])}", f"{ellipsis}{_short(after[start:])}"


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
