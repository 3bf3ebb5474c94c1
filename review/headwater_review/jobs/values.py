"""Values that two versions compute differently: columns, and members of structs, arrays, maps and JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from headwater_review.compare import DifferenceKind, SchemaDifference
from headwater_review.jobs.version import JobOutput
from headwater_review.schema import step, steps_of

_MOST_TEXT = 160
_BEFORE_DIFFERENCE = 60


def values_by_column(output: JobOutput) -> dict[str, str]:
    """Digest of the computation of each column's value and members, by column; independent of the rows."""
    digests = _digests(output)
    return {name: repr([*digests.get(step(name), {}).items()]) for name in output.together}


def values_that_differ(old: JobOutput, new: JobOutput, names: Iterable[str]) -> Iterator[SchemaDifference]:
    """Differences within columns that are known to differ: members by name, else the whole column.

    Args:
        old: current output.
        names: names of the columns; both versions have them.
    """
    before, after = _digests(old), _digests(new)
    for column in map(step, names):
        yield from _of_column(old, new, column, before.get(column, {}), after.get(column, {}))


def _of_column(
    old: JobOutput, new: JobOutput, column: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[SchemaDifference]:
    differences = [
        *_members(old, new, column, before, after),
        *(_meaning(old, new, f"{column}{path}") for path in before if path in after and before[path] != after[path]),
    ]
    in_both = [path for path in before if path in after]
    if not any(each.column == column for each in differences) and in_both != [path for path in after if path in before]:
        # Equal members in another order.
        differences.append(_meaning(old, new, column))
    yield from differences or [_meaning(old, new, column)]


def _digests(output: JobOutput) -> dict[str, dict[str, str]]:
    """Digests of each column's value and members, by column and by the rest of the member's path."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, digest in output.values.items():
        column = steps_of(path)[0]
        found[column][path[len(column) :]] = digest
    return found


def _members(
    old: JobOutput, new: JobOutput, column: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[SchemaDifference]:
    """Removed, added and renamed members; without members of structs, which the schema has."""
    gone = _topmost(path for path in before if path not in after)
    come = _topmost(path for path in after if path not in before)
    # If only one version builds the value from members, the other version's members are unknown.
    gone = [path for path in gone if _is_encoded(old, column, path) and _has_members(after, _above(path))]
    come = [path for path in come if _is_encoded(new, column, path) and _has_members(before, _above(path))]
    renamed = _renamed(gone, come, before, after)
    for path in gone:
        name, now = f"{column}{path}", renamed.get(path)
        if now is None:
            yield SchemaDifference(DifferenceKind.REMOVED, name, in_new=False)
        else:
            yield SchemaDifference(DifferenceKind.RENAMED, name, now=f"{column}{now}")
    for path in come:
        if path not in renamed.values():
            yield SchemaDifference(DifferenceKind.ADDED, f"{column}{path}")


def _renamed(gone: list[str], come: list[str], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Map removed members to added members with the same value."""
    groups: dict[object, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for which, (paths, digests) in enumerate(((gone, before), (come, after))):
        for path in paths:
            inner = {name[len(path) :]: digest for name, digest in digests.items() if _is_within(name, path)}
            groups[_above(path), repr(sorted(inner.items()))][which].append(path)
    return {one[0]: other[0] for one, other in groups.values() if len(one) == len(other) == 1}


def _topmost(paths: Iterable[str]) -> list[str]:
    every = list(paths)
    known = set(every)
    return [path for path in every if not any(path[:end] in known for end, one in enumerate(path) if one == ".")]


def _is_within(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}.")


def _has_members(digests: Mapping[str, str], path: str) -> bool:
    return any(name != path and _is_within(name, path) for name in digests)


def _above(path: str) -> str:
    return "".join(f".{each}" for each in steps_of(path[1:])[:-1])


def _is_encoded(output: JobOutput, column: str, path: str) -> bool:
    """Return True if a member isn't a column of the schema: it is encoded in JSON or a similar format."""
    return steps_of(f"{column}{path}") not in output.schema.columns


def _meaning(old: JobOutput, new: JobOutput, path: str) -> SchemaDifference:
    before, after = _lines_that_differ(old.expressions.get(path), new.expressions.get(path))
    before, after = around_difference(before, after)
    return SchemaDifference(DifferenceKind.MEANING, path, before=before, after=after)


def _lines_that_differ(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Differing branches of a column; both whole texts if all branches are equal."""
    old, new = (before or "").split("\n"), (after or "").split("\n")
    if before == after or len(old) == len(new) == 1:
        return before and before.replace("\n", "; "), after and after.replace("\n", "; ")
    gone, come = [each for each in old if each not in new], [each for each in new if each not in old]
    return "; ".join(gone) or None, "; ".join(come) or None


def around_difference(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Cut two long texts to the part around their difference."""
    if before is None or after is None or before == after or max(len(before), len(after)) <= _MOST_TEXT:
        return shortened(before), shortened(after)
    # One text may be a prefix of the other.
    common = min(len(before), len(after))
    common = next((n for n in range(common) if before[n] != after[n]), common)
    start = max(0, common - _BEFORE_DIFFERENCE)
    ellipsis = "…" if start else ""
    return f"{ellipsis}{shortened(before[start:])}", f"{ellipsis}{shortened(after[start:])}"


def shortened(text: str | None) -> str | None:
    """Shorten a text for readers; None stays None."""
    return text if text is None or len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"
