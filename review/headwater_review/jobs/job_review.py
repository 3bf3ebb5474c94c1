"""Review of a job's two versions: differences of each output, with everything downstream in the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.impact import Policy, Severity
from headwater_analysis.impact.start import columns_of
from headwater_analysis.privacy.graph import StoredPrivacyGraph
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import FoundNode, resolve_dataset
from headwater_analysis.sensitivity import LEVELS
from headwater_review.by_kind import NOT_ASKED, review_by_kind
from headwater_review.compare import SchemaDifference
from headwater_review.jobs.compare import ComparedOutput, compare_jobs
from headwater_review.jobs.exposed import fields_unread
from headwater_review.jobs.runs import judged_with_rows, notes_of_runs, problems_of_runs
from headwater_review.jobs.version import JobProblem, JobVersion
from headwater_review.schema import Schema
from headwater_review.schema_review import Question, Review, review
from headwater_review.starts import StartColumns
from headwater_review.stored import stored_schema


class JobVerdict(StrEnum):
    """Worst severity of the differences; UNKNOWN if some differences may be unknown."""

    BREAKING = "BREAKING"
    DEGRADED = "DEGRADED"
    COSMETIC = "COSMETIC"
    NONE = "NONE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class JobReview:
    """Answer of a review of a job's two versions.

    Attributes:
        old, new: scripts of the versions.
        verdict: worst severity of all differences; UNKNOWN if a version is only partly known.
        severity: worst severity of the known differences.
        outputs: each dataset that a version writes, with all its differences.
        problems: reasons why the review is incomplete.
        notes: sentences on the basis of the verdict.
    """

    old: str
    new: str
    verdict: JobVerdict
    severity: Severity
    outputs: tuple[Review, ...]
    problems: tuple[JobProblem, ...]
    notes: tuple[str, ...]


def review_job(reader: Reader | None, old: JobVersion, new: JobVersion, policy: Policy | None = None) -> JobReview:
    """Return all differences between two versions of a job, with their downstream impact.

    Args:
        reader: reader of the graph; None: differences are judged by their kind.
        old: current version.
        new: new version.
        policy: severity policy; None: Headwater's default policy.

    Raises:
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    old, new = judged_with_rows(old, new)
    old, new = _writing(old), _writing(new)
    compared = compare_jobs(old, new)
    differences = {(each.kind, each.name): each.differences for each in compared}
    outputs = tuple(_reviewed(reader, each, old, new, policy) for each in compared)
    severity = min((each.severity for each in outputs), key=lambda each: each.rank, default=Severity.NONE)
    known = JobVerdict(severity.value)
    differs = any(each.differences for each in outputs)
    problems = (
        *old.problems,
        *new.problems,
        *(problem for version in (old, new) for problem in fields_unread(version, differences)),
        *_of_tables(old, new),
        *problems_of_runs(old, new, differs=differs),
    )
    complete = old.complete and new.complete and not problems
    return JobReview(
        old=old.script,
        new=new.script,
        verdict=known if complete else JobVerdict.UNKNOWN,
        severity=severity,
        outputs=outputs,
        problems=problems,
        notes=(*(() if reader is not None else (NOT_ASKED,)), *notes_of_runs(old, new)),
    )


def _writing(version: JobVersion) -> JobVersion:
    """Add a problem if a version writes nothing."""
    with_rows = version.with_rows
    if version.outputs or version.problems or (with_rows is not None and (with_rows.outputs or with_rows.problems)):
        return version
    nothing = JobProblem(
        version.script,
        "The script writes nothing.",
        "Does the script need arguments? Give them after --. Functions that it doesn't call aren't run.",
    )
    return replace(version, problems=(nothing,))


def _of_tables(old: JobVersion, new: JobVersion) -> Iterator[JobProblem]:
    """Problems for statements that change tables or files, if only one version has them."""
    before, after = _statements(old), _statements(new)
    for version, counts, word in ((old, before - after, "no longer"), (new, after - before, "now")):
        for text in counts:
            yield JobProblem(
                version.script,
                f"The new version {word} runs {text}, which isn't compared.",
                "Review the table by its schema: headwater review --dataset.",
            )


def _statements(version: JobVersion) -> Counter[str]:
    """Count statements that change tables or files, and calls into the JVM.

    A statement's count is the larger of its counts in the runs without and with rows. A call into the JVM may
    remove files by Hadoop's classes, which a dry run doesn't observe.
    """
    with_rows = version.with_rows
    calls = Counter(each.text for each in version.statements if "._jvm" in each.text or "._jsc" in each.text)
    return (Counter(version.ddl) | Counter(with_rows.ddl if with_rows is not None else ())) + calls


def declared_columns(reader: Reader, kind: str, name: str) -> Schema | None:
    """Return the graph's schema of a dataset that a script names; None if the graph has none.

    Args:
        kind: `path`, `table`, `topic` or `jdbc`.
        name: name in the script.
    """

    def look(tx: Transaction) -> Schema | None:
        dataset = _resolved(tx, kind, name)
        if dataset is None:
            return None
        try:
            return stored_schema(tx, dataset.asset, ())[0]
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
    if reader is not None and any(difference.exposed for difference in differences):
        differences = reader.read(lambda tx: tuple(_declared(tx, difference) for difference in each.differences))
    node = None if reader is None else reader.read(lambda tx: _resolved(tx, each.kind, each.name))
    if reader is None or node is None:
        notes = (
            ()
            if reader is None
            else (f"The graph has no dataset {each.name}: each difference is judged as if the dataset had a reader.",)
        )
        dataset = Asset(AssetKind.DATASET, "", each.kind, each.name, title=each.name)
        return review_by_kind(dataset, differences, (old.script, new.script), len(schema.columns), notes)
    question = Question(node.asset.key, each.new or schema, each.old or schema, differences=differences)
    answer = review(reader, question, policy)
    return replace(answer, old=old.script, new=new.script)


def _declared(tx: Transaction, difference: SchemaDifference) -> SchemaDifference:
    """Add the declared sensitivity of the field that a difference exposes."""
    exposed = difference.exposed
    node = None if exposed is None else _resolved(tx, exposed.kind, exposed.name)
    if exposed is None or node is None:
        return difference
    starts = StartColumns(tx.tenant, node, columns_of(tx, node))
    declared = StoredPrivacyGraph(tx).declared(starts.around(exposed.field))
    level = max((each.level for each in declared.values()), default=0)
    return replace(difference, exposed=replace(exposed, sensitivity=LEVELS[level])) if level else difference


def _resolved(tx: Transaction, kind: str, name: str) -> FoundNode | None:
    """Dataset that a script names; found by the last part of its path if the graph has it at another location."""
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
