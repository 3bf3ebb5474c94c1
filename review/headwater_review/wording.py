"""Differences and verdicts as sentences."""

from __future__ import annotations

from headwater_analysis.impact import Severity
from headwater_analysis.impact.wording import short
from headwater_analysis.privacy.operations import Exposure
from headwater_analysis.sensitivity import SENSITIVE
from headwater_review.compare import ANY, DifferenceKind, Exposed, Retyping, SchemaDifference
from headwater_schemas.events import Sensitivity

_RETYPED = {
    Retyping.WIDER: "every old value is one of the new type",
    Retyping.NARROWER: "Spark casts it, and values may be lost or refused",
    Retyping.OTHER: "Spark can't cast the values",
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
    DifferenceKind.DESCRIPTION: "The description of {column} changes",
    DifferenceKind.PARTITIONING: "The dataset is partitioned differently: {before} → {after}",
    DifferenceKind.PRIVACY: "{column} {shows}: {before} → {after}",
    DifferenceKind.ROWS: "The job writes other rows: {before} → {after}",
    DifferenceKind.WRITE_MODE: "The job writes differently: {before} → {after}",
    DifferenceKind.POSITION: "The columns are in another order: {before} → {after}",
    DifferenceKind.OUTPUT_REMOVED: "The job no longer writes {before}",
    DifferenceKind.OUTPUT_ADDED: "The job also writes {after}",
    DifferenceKind.INPUT_REMOVED: "The job no longer reads {before}",
    DifferenceKind.INPUT_ADDED: "The job also reads {after}",
}

OVERWRITES_MORE = "The write overwrites rows that it kept before."

_OF_A_PLAN = (DifferenceKind.ROWS, DifferenceKind.MEANING, DifferenceKind.WRITE_MODE, DifferenceKind.PRIVACY)
_EXPOSURES = {
    Exposure.READABLE: "readable",
    Exposure.LINKABLE: "hashed or a token",
    Exposure.MASKED: "masked",
    Exposure.ENCRYPTED: "encrypted",
}
_MOST = 80
_MOST_OF_A_PLAN = 400
# For jobs: both texts are equal, but the code of a function or a value within an expression differs.
_WITH_EQUAL_TEXTS = {
    DifferenceKind.ROWS: "The job writes other rows: an expression that decides the rows is computed differently",
    DifferenceKind.MEANING: "{column} is computed differently: {before}",
}


def text_of(difference: SchemaDifference) -> str:
    """Sentence for a difference, without a full stop."""
    if difference.kind in _WITH_EQUAL_TEXTS and difference.before == difference.after:
        return _WITH_EQUAL_TEXTS[difference.kind].format(
            column=short(difference.column), before=short(difference.before or "", _MOST_OF_A_PLAN)
        )
    most = _MOST_OF_A_PLAN if difference.kind in _OF_A_PLAN else _MOST
    after = short(difference.after, most) if difference.after else "none"
    typed = f" as {after}" if difference.after else ""
    return _SENTENCES[difference.kind].format(
        column=short(difference.column),
        now=short(difference.now or ""),
        before=short(difference.before, most) if difference.before else "none",
        after=after,
        typed=typed + (", required" if difference.required else ", optional"),
        how=f" ({difference.retyping}: {_RETYPED[difference.retyping]})" if difference.retyping else "",
        nulls="may be null" if difference.after == "nullable" else "is never null",
        values=_values(difference),
        shows="" if difference.exposed is None else _shows(difference.exposed),
    )


def _shows(exposed: Exposed) -> str:
    field, was = f"{short(exposed.field)} of {short(exposed.name)}", _EXPOSURES[exposed.before]
    if exposed.after is Exposure.READABLE:
        return f"makes {field} readable, which was {was}"
    return f"protects {field} less, which was {was} and is {_EXPOSURES[exposed.after]} now"


def privacy_of(exposed: Exposed) -> tuple[Severity, str]:
    """Severity of a field that is protected less, and the reason in a sentence. An undeclared field counts as PII."""
    field, is_readable = short(exposed.field), exposed.after is Exposure.READABLE
    if exposed.sensitivity is None:
        because = f"The sensitivity of {field} is undeclared or unknown here: the field is judged as PII."
    else:
        because = f"{field} is declared {exposed.sensitivity}."
        if exposed.sensitivity not in SENSITIVE:
            return Severity.NONE, because
    is_personal = exposed.sensitivity is not Sensitivity.CONFIDENTIAL
    return (Severity.BREAKING if is_readable and is_personal else Severity.DEGRADED), because


def _values(difference: SchemaDifference) -> str:
    old, new = (
        None if each == ANY else set((each or "").split(", ")) for each in (difference.before, difference.after)
    )
    if old is None or new is None:
        return f"{short(difference.before or 'none')} → {short(difference.after or 'none')}"
    words = [f"+ {value}" for value in sorted(new - old)] + [f"- {value}" for value in sorted(old - new)]
    return short(", ".join(words), 200)


def suggestion_of(column: str, similar: str, above: str = "") -> str:
    """Question whether a removed and an added column are the same column, with the option for the answer.

    Args:
        column: path of the removed column.
        similar: path of the added column.
        above: prefix of both paths in the graph that the files don't have.
    """
    before, after = (short(path.removeprefix(above)) for path in (column, similar))
    return f"Is it renamed to {short(similar)}? Then give --rename {before}={after}."


def constraint_of(difference: SchemaDifference) -> str:
    """Constraint of a difference on new rows, for their writers; empty if there is none."""
    if difference.required:
        return "fill the new column"
    if difference.kind is DifferenceKind.NULLABILITY and difference.after != "nullable":
        return "write no null there"
    return "write only these values" if difference.values_removed else ""
