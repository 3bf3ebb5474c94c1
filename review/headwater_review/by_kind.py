"""Severity of differences by their kind, for reviews that don't know the column's or dataset's readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.impact import Severity, SeverityTotal
from headwater_analysis.impact.policy import SEVERITIES
from headwater_review.compare import DifferenceKind, Retyping, SchemaDifference, compare
from headwater_review.schema import steps_of
from headwater_review.schema_review import Question, Review, ReviewedDifference
from headwater_review.wording import OVERWRITES_MORE, constraint_of, privacy_of, suggestion_of, text_of

NOT_ASKED = "The graph wasn't asked: each difference is judged as if somebody read the column or dataset."

_BREAKING = (DifferenceKind.OUTPUT_REMOVED, DifferenceKind.REMOVED, DifferenceKind.RENAMED, DifferenceKind.POSITION)
_DEGRADED = (
    DifferenceKind.ROWS,
    DifferenceKind.MEANING,
    DifferenceKind.UNIT,
    DifferenceKind.ENUM,
    DifferenceKind.PARTITIONING,
    DifferenceKind.WRITE_MODE,
)
_COSMETIC = (DifferenceKind.ADDED, DifferenceKind.DESCRIPTION)


def severity_of(difference: SchemaDifference) -> Severity:
    """Severity for a reader of the differing column or dataset."""
    kind = difference.kind
    if difference.exposed is not None:
        return privacy_of(difference.exposed)[0]
    if kind in _BREAKING:
        return Severity.BREAKING
    if kind is DifferenceKind.RETYPED:
        return {
            Retyping.WIDER: Severity.COSMETIC,
            Retyping.NARROWER: Severity.DEGRADED,
        }.get(difference.retyping or Retyping.OTHER, Severity.BREAKING)
    if kind is DifferenceKind.NULLABILITY:
        return Severity.DEGRADED if difference.after == "nullable" else Severity.COSMETIC
    if kind in _DEGRADED:
        return Severity.DEGRADED
    return Severity.COSMETIC if kind in _COSMETIC else Severity.NONE


def review_schemas(question: Question) -> Review:
    """Return all differences between two schemas, without the graph: the impact downstream is unknown.

    Args:
        question: question with both schemas.

    Raises:
        ValueError: the question has no old schema.
        QuestionError: a rename names a column that doesn't exist.
    """
    if question.old is None:
        raise ValueError("without the graph there is nothing to compare with")
    at = steps_of(question.at) if question.at else ()
    old, new = question.old.within(at), question.new.within(at)
    above = "".join(f"{step}." for step in at)
    renames = {f"{above}{before}": f"{above}{after}" for before, after in question.renames.items()}
    dataset = Asset(AssetKind.DATASET, "", "", question.dataset, title=question.dataset)
    differences = compare(old, new, renames)
    return review_by_kind(dataset, differences, (old.source, new.source), len(new.columns), (NOT_ASKED,), above)


def review_by_kind(
    dataset: Asset,
    differences: Iterable[SchemaDifference],
    sources: tuple[str, str],
    columns: int,
    notes: tuple[str, ...],
    above: str | None = None,
) -> Review:
    """Return the answer of a review without the graph.

    Args:
        dataset: dataset of the schemas; its key is empty.
        sources: origin of the old and the new schema.
        columns: number of columns in the new schema.
        notes: sentences on the basis of the verdict.
        above: prefix of the files' paths in the graph, such as `value.`. None for a job's differences: they get no
            sentences about other writers.
    """
    reviewed = sorted((_reviewed(each, above) for each in differences), key=lambda each: each.severity.rank)
    counts = Counter(each.severity for each in reviewed)
    return Review(
        dataset=dataset,
        old=sources[0],
        new=sources[1],
        severity=reviewed[0].severity if reviewed else Severity.NONE,
        differences=tuple(reviewed),
        totals=tuple(SeverityTotal(severity, counts[severity]) for severity in SEVERITIES if severity in counts),
        columns=columns,
        jobs_total=0,
        datasets_total=0,
        consumers=(),
        writers=(),
        unseen=(),
        unseen_total=0,
        notes=notes,
    )


def _reviewed(difference: SchemaDifference, above: str | None) -> ReviewedDifference:
    severity, reasons = severity_of(difference), []
    if above is not None and (constraint := constraint_of(difference)):
        severity = min(severity, Severity.DEGRADED, key=lambda each: each.rank)
        reasons.append(f"Whoever writes the dataset has to {constraint}.")
    if difference.exposed is not None:
        reasons.append(privacy_of(difference.exposed)[1])
    if difference.overwrites_more:
        reasons.append(OVERWRITES_MORE)
    if difference.similar is not None:
        reasons.append(suggestion_of(difference.column, difference.similar, above or ""))
    return ReviewedDifference(
        difference=difference,
        text=text_of(difference),
        severity=severity,
        reasons=tuple(reasons),
        items=(),
        total=0,
        totals=(),
        jobs=(),
        jobs_total=0,
        consumers=(),
    )
