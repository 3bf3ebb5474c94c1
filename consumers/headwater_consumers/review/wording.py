"""Differences and verdicts as sentences."""

from __future__ import annotations

from headwater_consumers.analysis.impact.wording import short
from headwater_consumers.review.compare import ANY, Difference, DifferenceKind, Retyping

_RETYPED = {
    Retyping.WIDER: "every old value is one of the new type",
    Retyping.NARROWER: "Spark casts it, and values may be lost or refused",
    Retyping.OTHER: "Spark has no cast for that",
}


_SENTENCES = {
    DifferenceKind.ADDED: "{column} is added{typed}",
    DifferenceKind.REMOVED: "{column} is removed",
    DifferenceKind.RENAMED: "{column} is renamed to {now}",
    DifferenceKind.RETYPED: "{column} is retyped from {before} to {after}{how}",
    DifferenceKind.NULLABILITY: "{column} {nulls} from now on",
    DifferenceKind.ENUM: "{column} has other values: {values}",
    DifferenceKind.UNIT: "{column} has another unit: {before} → {after}",
    DifferenceKind.MEANING: "{column} means something else: {before} → {after}",
    DifferenceKind.DESCRIPTION: "{column} is described otherwise",
    DifferenceKind.PARTITIONING: "The dataset is partitioned otherwise: {before} → {after}",
    DifferenceKind.ROWS: "The job writes other rows: {before} → {after}",
    DifferenceKind.WRITE_MODE: "The job writes otherwise: {before} → {after}",
    DifferenceKind.POSITION: "Columns are in other places: {before} → {after}",
    DifferenceKind.OUTPUT_REMOVED: "The job no more writes {before}",
    DifferenceKind.OUTPUT_ADDED: "The job also writes {after}",
    DifferenceKind.INPUT_REMOVED: "The job no more reads {before}",
    DifferenceKind.INPUT_ADDED: "The job also reads {after}",
}


def text_of(difference: Difference) -> str:
    """What differs, in one sentence without a full stop."""
    after = short(difference.after) if difference.after else "none"
    typed = f" as {after}" if difference.after else ""
    return _SENTENCES[difference.kind].format(
        column=short(difference.column),
        now=short(difference.now or ""),
        before=short(difference.before) if difference.before else "none",
        after=after,
        typed=typed + (", required" if difference.required else ", optional"),
        how=f" ({difference.retyping}: {_RETYPED[difference.retyping]})" if difference.retyping else "",
        nulls="may be null" if difference.after == "nullable" else "is never null",
        values=_values(difference),
    )


def _values(difference: Difference) -> str:
    old, new = (
        None if each == ANY else set((each or "").split(", ")) for each in (difference.before, difference.after)
    )
    if old is None or new is None:
        return f"{short(difference.before or 'none')} → {short(difference.after or 'none')}"
    words = [f"+ {value}" for value in sorted(new - old)] + [f"- {value}" for value in sorted(old - new)]
    return short(", ".join(words), 200)
