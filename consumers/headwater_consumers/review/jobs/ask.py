"""The review of a job's two versions: each output's differences with all that the graph has downstream of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from headwater_consumers.analysis.assets import Asset, AssetKind
from headwater_consumers.analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_consumers.analysis.impact import Policy, Severity, SeverityTotal
from headwater_consumers.analysis.impact.policy import SEVERITIES
from headwater_consumers.analysis.reader import Reader, Transaction
from headwater_consumers.analysis.resolve import FoundNode, resolve_dataset
from headwater_consumers.review.answer import Review, ReviewedDifference
from headwater_consumers.review.ask import Question, review
from headwater_consumers.review.compare import Difference
from headwater_consumers.review.jobs.answer import JobReview, JobVerdict
from headwater_consumers.review.jobs.by_kind import severity_of
from headwater_consumers.review.jobs.compare import ComparedOutput, compare_jobs
from headwater_consumers.review.jobs.version import JobProblem, JobVersion
from headwater_consumers.review.schema import Schema
from headwater_consumers.review.stored import stored_schema
from headwater_consumers.review.wording import text_of

_NOT_ASKED = "The graph wasn't asked: differences are judged as if somebody read what differs."


def review_job(reader: Reader | None, old: JobVersion, new: JobVersion, policy: Policy | None = None) -> JobReview:
    """All that differs between two versions of a job, and what that does downstream.

    Args:
        reader: of the graph; None: it isn't asked, and a difference is judged by its kind.
        old: the version as it is.
        new: the version to be.
        policy: how bad a change is; None: the one that comes with Headwater.

    Raises:
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    outputs = tuple(_reviewed(reader, each, old, new, policy) for each in compare_jobs(old, new))
    severity = min((each.severity for each in outputs), key=lambda each: each.rank, default=Severity.NONE)
    known = JobVerdict(severity.value)
    problems = (*old.problems, *new.problems, *_of_tables(old, new))
    complete = old.complete and new.complete and not problems
    return JobReview(
        old=old.script,
        new=new.script,
        verdict=known if complete else JobVerdict.UNKNOWN,
        severity=severity,
        outputs=outputs,
        problems=problems,
        notes=() if reader is not None else (_NOT_ASKED,),
    )


def _of_tables(old: JobVersion, new: JobVersion) -> Iterator[JobProblem]:
    """Statements that change tables, and that one version alone has."""
    before, after = Counter(old.ddl), Counter(new.ddl)
    for version, counts, word in ((old, before - after, "no more"), (new, after - before, "now")):
        for text in counts:
            yield JobProblem(
                version.script,
                f"The new version {word} changes a table by {text}, which isn't compared.",
                "Review the table by its schema: headwater review --dataset.",
            )


def declared_columns(reader: Reader, kind: str, name: str) -> Schema | None:
    """The schema that the graph has of what a script names; None: it has none.

    Args:
        reader: of the graph.
        kind: `path`, `table`, `topic` or `jdbc`.
        name: as the script names it.
    """

    def look(tx: Transaction) -> Schema | None:
        found = _resolved(tx, kind, name)
        if found is None:
            return None
        try:
            return stored_schema(tx, found.asset, ())[0]
        except QuestionError:
            return None

    return reader.read(look)


def _reviewed(
    reader: Reader | None, each: ComparedOutput, old: JobVersion, new: JobVersion, policy: Policy | None
) -> Review:
    differences = each.differences
    schema = each.new or each.old
    if schema is None:
        raise ValueError("an output that neither version writes")
    found = None if reader is None else reader.read(lambda tx: _resolved(tx, each.kind, each.name))
    if reader is None or found is None:
        notes = (
            ()
            if reader is None
            else (
                f"The graph has no dataset {each.name}: its differences are judged as if somebody read what differs.",
            )
        )
        return _by_kind(each, old, new, notes)
    question = Question(found.asset.key, each.new or schema, each.old or schema, differences=differences)
    answer = review(reader, question, policy)
    return _of_scripts(answer, old, new)


def _resolved(tx: Transaction, kind: str, name: str) -> FoundNode | None:
    """The dataset that a script names; by the last part of a path where the graph has it elsewhere."""
    for text in _spellings(kind, name):
        try:
            return resolve_dataset(tx, text)
        except (NotFoundError, AmbiguousError):
            continue
    return None


def _spellings(kind: str, name: str) -> Iterator[str]:
    yield name
    last = name.rstrip("/").rsplit("/", 1)[-1]
    if kind == "path" and last != name:
        yield last


def _of_scripts(answer: Review, old: JobVersion, new: JobVersion) -> Review:
    return replace(answer, old=old.script, new=new.script)


def _by_kind(each: ComparedOutput, old: JobVersion, new: JobVersion, notes: tuple[str, ...]) -> Review:
    reviewed = sorted((_judged(difference) for difference in each.differences), key=lambda one: one.severity.rank)
    counts = Counter(one.severity for one in reviewed)
    return Review(
        dataset=Asset(AssetKind.DATASET, "", each.kind, each.name, title=each.name),
        old=old.script,
        new=new.script,
        severity=reviewed[0].severity if reviewed else Severity.NONE,
        differences=tuple(reviewed),
        totals=tuple(SeverityTotal(severity, counts[severity]) for severity in SEVERITIES if severity in counts),
        columns=len((each.new or each.old or Schema("", {}, frozenset())).columns),
        jobs_total=0,
        datasets_total=0,
        consumers=(),
        writers=(),
        unseen=(),
        unseen_total=0,
        notes=notes,
    )


def _judged(difference: Difference) -> ReviewedDifference:
    return ReviewedDifference(
        difference=difference,
        text=text_of(difference),
        severity=severity_of(difference),
        reasons=(),
        items=(),
        total=0,
        totals=(),
        jobs=(),
        jobs_total=0,
        consumers=(),
    )
