"""Reviews of mutated jobs, judged by what both versions really write: no missed break, and few false alarms.

And of jobs with several mutations at once, in nested values: each is listed.

uv run pytest tests/spark/dry_run/test_study.py -m study                      # all 200, some minutes
UPDATE_GOLDENS=1 uv run pytest tests/spark/dry_run/test_study.py -m study     # and writes its two pages
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.impact import Severity
from headwater_review.jobs.job_review import JobReview, review_job
from spark.dry_run.job_grammar import OUT, TABLES, Job, Mutation, mutated, random_job
from spark.dry_run.payload_grammar import PayloadJob, random_payload_job
from support.dry_runs import DryRuns
from support.run_rules import rewrite, updating

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

JOBS = 200
FEW = 12
ROWS = 60
MOST_FALSE_ALARMS = 0.02
NESTED_JOBS = 90
NESTED_PAGE = Path(__file__).parents[3] / "docs" / "analysis" / "review-study-nested.md"
PAGE = Path(__file__).parents[3] / "docs" / "analysis" / "review-study.md"
_STATES = ("new", "paid", "sent", None)


@dataclass(frozen=True)
class Judged:
    """A mutation, what the review found, and what is true.

    `breaks`: the new version fails, or writes another schema or other rows.
    """

    seed: int
    mutation: Mutation
    flagged: bool
    breaks: bool

    @property
    def missed(self) -> bool:
        return self.breaks and not self.flagged

    @property
    def false_alarm(self) -> bool:
        return self.mutation.equal and self.flagged and not self.breaks


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> SparkSession:
    """The tables, with rows that make most conditions true for some and false for others."""
    random = Random(7)
    made: dict[str, list[tuple[Any, ...]]] = {
        "shop.orders": [
            (
                random.randint(1, 12),
                random.choice([*range(1, 9), None]),
                random.choice([*range(9), None]),
                random.choice([*range(9)]) + 0.5,
                random.choice(_STATES),
                None,
            )
            for _ in range(ROWS)
        ],
        "shop.customers": [
            (number, random.choice(("de", "fr", None)), random.choice(("a", "b")), random.randint(1, 9))
            for number in [*range(3, 12), 4]
        ],
        "shop.items": [(random.randint(1, 12), random.choice("xyz"), 1, random.randint(0, 9)) for _ in range(ROWS)],
    }
    for name, rows in made.items():
        spark.createDataFrame(rows, TABLES[name]).coalesce(1).createOrReplaceTempView(name.replace(".", "_"))
    return spark


def written(spark: SparkSession, job: Job) -> Any:
    """Schema and rows that a job writes, whatever their order; what it fails with."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

    names: dict[str, Any] = {"spark": _Tables(spark), "F": F, "Window": Window}
    try:
        exec(job.frame, names)
        frame = names["result"]
        columns = sorted(frame.columns)
        rows = Counter(repr(tuple(row)) for row in frame.select(*columns).collect())
    except Exception as error:  # noqa: BLE001  whatever a job fails with
        return type(error).__name__
    return sorted((field.name, field.dataType.simpleString()) for field in frame.schema), rows


class _Tables:
    """The session, with the tables as temporary views."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def table(self, name: str) -> Any:
        return self._spark.table(name.replace(".", "_"))

    def sql(self, text: str) -> Any:
        return self._spark.sql(text)


def judged(dry_runs: DryRuns, spark: SparkSession, seeds: Iterable[int]) -> list[Judged]:
    out = []
    for seed in seeds:
        random = Random(seed)
        mutation = mutated(random_job(random), random, equal=seed % 5 < 2)
        head = f"OUT = {OUT!r}\n"
        old, new = (
            dry_runs.version(head + job.script, name) for name, job in (("old", mutation.old), ("new", mutation.new))
        )
        assert old.complete, (seed, old.problems, mutation.old.script)
        found = review_job(None, old, new)
        before, after = written(spark, mutation.old), written(spark, mutation.new)
        assert not isinstance(before, str), (seed, before, mutation.old.script)
        out.append(Judged(seed, mutation, _is_flagged(found), before != after))
    return out


def _is_flagged(review: JobReview) -> bool:
    """True when the verdict says that something may happen to readers."""
    return bool(review.problems) or review.severity is not Severity.NONE


def _held(found: list[Judged]) -> None:
    missed = [(each.seed, each.mutation.name, each.mutation.new.script) for each in found if each.missed]
    assert missed == []
    alarms = [(each.seed, each.mutation.name, each.mutation.new.script) for each in found if each.false_alarm]
    equal = [each for each in found if each.mutation.equal]
    assert len(alarms) <= MOST_FALSE_ALARMS * len(equal), alarms


@pytest.mark.timeout(300)
def test_a_few_mutated_jobs(dry_runs: DryRuns, tables: SparkSession) -> None:
    _held(judged(dry_runs, tables, range(FEW)))


@pytest.mark.study
@pytest.mark.timeout(3_600)
def test_no_break_is_missed_and_few_alarms_are_false(dry_runs: DryRuns, tables: SparkSession) -> None:
    found = judged(dry_runs, tables, range(JOBS))
    _held(found)
    if updating():
        rewrite(PAGE, page(found))
    assert PAGE.read_text(encoding="utf-8") == page(found)


@dataclass(frozen=True)
class Listed:
    """A job with several mutations at once, and what the review lists."""

    seed: int
    job: PayloadJob
    found: frozenset[str]


def listed(dry_runs: DryRuns, seeds: Iterable[int]) -> list[Listed]:
    out = []
    for seed in seeds:
        job = random_payload_job(Random(seed), 1 + seed % 3)
        old, new = dry_runs.version(job.old, "old"), dry_runs.version(job.new, "new")
        assert old.complete, (seed, old.problems, job.old)
        (output,) = review_job(None, old, new).outputs
        names = (f"{each.difference.kind} {each.difference.column}" for each in output.differences)
        out.append(Listed(seed, job, frozenset(names)))
    return out


def _all_listed(found: list[Listed]) -> None:
    wrong = [
        (each.seed, sorted(each.job.expected - each.found), sorted(each.found - each.job.expected))
        for each in found
        if each.found != each.job.expected
    ]
    assert wrong == []


@pytest.mark.timeout(300)
def test_a_few_jobs_with_several_mutations(dry_runs: DryRuns) -> None:
    _all_listed(listed(dry_runs, range(FEW)))


@pytest.mark.study
@pytest.mark.timeout(3_600)
def test_each_of_several_mutations_is_listed(dry_runs: DryRuns) -> None:
    found = listed(dry_runs, range(NESTED_JOBS))
    _all_listed(found)
    if updating():
        rewrite(NESTED_PAGE, nested_page(found))
    assert NESTED_PAGE.read_text(encoding="utf-8") == nested_page(found)


def nested_page(found: list[Listed]) -> str:
    """The report on jobs with several mutations."""
    lines = [
        f"# Reviews of {NESTED_JOBS} jobs with up to three mutations at once",
        "",
        "Random PySpark jobs that put values together: columns, structs, lists, maps and JSON, half of them as the",
        "JSON of a Kafka topic. One, two or three things differ: the filter, or the expression of a member (a sum, a",
        "CASE, a function of Spark's or of Python, a default, a hash or a mask that goes). *Listed*: the review names",
        "each of them by its path, with a finding of its own for a hash or mask that goes.",
        "",
        "```sh",
        "UPDATE_GOLDENS=1 uv run pytest tests/spark/dry_run/test_study.py -m study -k several",
        "```",
        "",
        "| jobs with | jobs | differences | listed | listed besides |",
        "|---|---|---|---|---|",
    ]
    groups = {f"{n} mutation{'s' if n > 1 else ''}": [e for e in found if e.job.mutations == n] for n in (1, 2, 3)}
    groups["a topic's JSON"] = [each for each in found if each.job.is_topic]
    for shape in sorted({shape for each in found for shape in each.job.shapes}):
        groups[shape] = [each for each in found if shape in each.job.shapes]
    for name, some in groups.items():
        expected = sum(len(each.job.expected) for each in some)
        hit = sum(len(each.job.expected & each.found) for each in some)
        more = sum(len(each.found - each.job.expected) for each in some)
        lines.append(f"| {name} | {len(some)} | {expected} | {hit} | {more} |")
    return "\n".join(lines) + "\n"


def page(found: list[Judged]) -> str:
    """The report."""
    broken = [each for each in found if each.breaks]
    equal = [each for each in found if each.mutation.equal]
    unseen = [each for each in found if not each.mutation.equal and not each.breaks]
    lines = [
        "# Reviews of 200 mutated jobs",
        "",
        "Random PySpark jobs of two to six steps (filters, expressions, joins, windows, unions, groups), each with",
        "one mutation. `headwater review` compares both versions without data. Then both run on rows: a mutation",
        "*breaks* if the new version fails, or writes another schema or other rows. Some are meant to change nothing.",
        "",
        "```sh",
        "UPDATE_GOLDENS=1 uv run pytest tests/spark/dry_run/test_study.py -m study",
        "```",
        "",
        "| | jobs | flagged | not flagged |",
        "|---|---|---|---|",
        _row("breaks: must be flagged", broken),
        _row("meant to change nothing, and doesn't: must not be flagged", [each for each in equal if not each.breaks]),
        _row("meant to change something, and doesn't with these rows", unseen),
        "",
        f"Missed breaks: {sum(each.missed for each in found)}.",
        f"False alarms: {sum(each.false_alarm for each in found)} of {len(equal)} that are meant to change nothing.",
        "The jobs of the last line differ for other rows than these: to flag them is right.",
        "",
        "| mutation | jobs | broke | flagged |",
        "|---|---|---|---|",
    ]
    for equals, name in sorted({(each.mutation.equal, each.mutation.name) for each in found}):
        some = [each for each in found if each.mutation.name == name]
        counts = [len(some), sum(each.breaks for each in some), sum(each.flagged for each in some)]
        lines.append(f"| {name}{' (changes nothing)' if equals else ''} | {' | '.join(map(str, counts))} |")
    lines += [
        "",
        "Every seed is fixed, so the table is the same for each run on the same Spark. The jobs run in one session",
        "here, by the same functions as [the command](review-jobs.md) has, which starts one for each.",
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, some: list[Judged]) -> str:
    flagged = sum(each.flagged for each in some)
    return f"| {name} | {len(some)} | {flagged} | {len(some) - flagged} |"
