"""Fields that an output protects less than before: a new version drops or weakens a mask, hash or encryption."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from headwater_analysis.privacy.operations import EXPOSURES, Exposure
from headwater_review.compare import DifferenceKind, Exposed, SchemaDifference
from headwater_review.jobs.values import around_difference
from headwater_review.jobs.version import JobOutput, JobProblem, JobVersion

_OF_VALUES = (DifferenceKind.ADDED, DifferenceKind.RENAMED, DifferenceKind.MEANING)
_Field = tuple[str, str, str]


def fields_exposed(old: JobOutput, new: JobOutput) -> Iterator[SchemaDifference]:
    """PRIVACY differences: a field in a value of the new version is easier to read than before.

    A field that is new in a value is compared with its most readable form anywhere in the old output. A field that the
    old output didn't have isn't compared: it had no protection.
    """
    before, after = _exposures(old), _exposures(new)
    anywhere: dict[_Field, Exposure] = {}
    for (_, field), exposure in before.items():
        anywhere[field] = _easier(anywhere.get(field, exposure), exposure)
    texts: dict[_Field, list[str]] = defaultdict(list)
    for path, field in before:
        texts[field].append(path)
    for (path, field), exposure in after.items():
        was = before.get((path, field)) or anywhere.get(field)
        if was is None or EXPOSURES.index(was) <= EXPOSURES.index(exposure):
            continue
        was_at = path if (path, field) in before else next(each for each in texts[field] if before[each, field] is was)
        one, other = around_difference(old.expressions.get(was_at), new.expressions.get(path))
        yield SchemaDifference(
            DifferenceKind.PRIVACY, path, before=one, after=other, exposed=Exposed(*field, before=was, after=exposure)
        )


def fields_unread(
    version: JobVersion, found: Mapping[tuple[str, str], Sequence[SchemaDifference]]
) -> Iterator[JobProblem]:
    """Problems for outputs with differing values whose protection can't be compared.

    Args:
        found: differences by kind and name of the output.
    """
    with_rows = () if version.with_rows is None else version.with_rows.outputs
    for output in {(each.kind, each.name, each.unread): each for each in (*version.outputs, *with_rows)}.values():
        differs = any(each.kind in _OF_VALUES for each in found.get((output.kind, output.name), ()))
        if output.unread is not None and differs:
            yield JobProblem(
                version.script,
                f"Unknown whether {output.name} still masks, hashes and encrypts the same values: {output.unread}.",
                "Review the values that differ by hand.",
            )


def _exposures(output: JobOutput) -> dict[tuple[str, _Field], Exposure]:
    """Most readable exposure of each field, by path of the value. A value with members counts only by its members."""
    found: dict[tuple[str, _Field], Exposure] = {}
    whole = {path[:end] for path in output.read for end, character in enumerate(path) if character == "."}
    for path, fields in output.read.items():
        if path in whole:
            continue
        for each in fields:
            key = (path, (each.kind, each.name, each.field))
            found[key] = _easier(found.get(key, each.exposure), each.exposure)
    return found


def _easier(one: Exposure, other: Exposure) -> Exposure:
    return min(one, other, key=EXPOSURES.index)
