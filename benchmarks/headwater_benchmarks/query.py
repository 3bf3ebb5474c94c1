"""`bench query`: questions to a large graph; lineage and impact are compared with hand-written statements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group

from headwater.console import console
from headwater_analysis.impact import ChangeType, ImpactChange, ImpactPage, analyze
from headwater_analysis.incidents.questions import incident
from headwater_analysis.lineage import ALL_HOPS, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader, reading_driver
from headwater_analysis.trace import Offsets, trace
from headwater_analysis.visibility import Visible
from headwater_benchmarks.estate import EstateSize, QuestionStarts, estate_up
from headwater_benchmarks.measuring import ask_in_turns, own_peak_mb, peak_mb
from headwater_benchmarks.report import Goal, goals_table, report, shown, table
from headwater_benchmarks.servers import HEAP_MB, PAGE_CACHE_MB, Database
from headwater_consumers.materializer.garbage import rare_collections

if TYPE_CHECKING:
    from neo4j import Driver

PAGE = 1_000
"""Number of items on a first page."""
_ALL_STEPS = 10_000
_LEAST_RATIO = 0.91
"""Goal for the time of unfiltered ÷ filtered answers: filtering takes at most a tenth more time."""
_WARM_UP = 40
"""Unmeasured questions of each kind for each contestant."""
HEADWATER, FILTERED, BY_HAND = "headwater", "headwater, filtered", "one statement, no edges"
_ALL_SCOPES = Visible(frozenset({"dataset:s3://workload", "dataset:kafka://estate", "job:batch", "job:streams"}))
"""Scopes of the whole estate, for an asker who sees everything but whose answers are filtered."""

Answer = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """One kind of question.

    Attributes:
        answers: functions that answer a question, by contestant, Headwater first.
        goal_ms: goal for Headwater's p95.
    """

    name: str
    questions: Sequence[Any]
    answers: Mapping[str, Answer]
    goal_ms: float


def question_kinds(driver: Driver, database: Database, starts: QuestionStarts, many: int) -> list[QuestionKind]:
    """Build questions of all kinds."""
    whole, filtered = Reader(driver, database.target), Reader(driver, database.target, visible=lambda: _ALL_SCOPES)

    def downstream(depth: int | None, reader: Reader, key: str) -> int:
        question = LineageQuestion(key, LineageDirection.DOWNSTREAM, depth=depth, edges=False, limit=PAGE)
        return lineage(reader, question).total

    def impact(reader: Reader, key: str) -> int:
        return analyze(reader, ImpactChange(key, type=ChangeType.DATA_INCORRECT), page=ImpactPage(limit=PAGE)).total

    def traced(depth: int, reader: Reader, record: Offsets) -> int:
        return sum(hop.step.batches or 0 for hop in trace(reader, record, depth=depth, limit=_ALL_STEPS).hops)

    def shown_incident(incident_id: str) -> int:
        reach = incident(whole, incident_id).reach
        return 0 if reach is None else len(reach.blast.tainted)

    def by_hand(name: str, key: str) -> int:
        rows = database.run(f"hand_written/{name}", key=key)
        return int(rows[0]["total"]) if rows else 0

    def ours(answer: Callable[[Reader, Any], int]) -> dict[str, Answer]:
        return {HEADWATER: partial(answer, whole), FILTERED: partial(answer, filtered)}

    def both(answer: Callable[[Reader, Any], int], name: str) -> dict[str, Answer]:
        return {**ours(answer), BY_HAND: partial(by_hand, name)}

    far, near, records = starts.far[:many], starts.any[:many], starts.records[:many]
    all_hops, three_hops = both(partial(downstream, ALL_HOPS), "downstream"), both(partial(downstream, 3), "three_hops")
    return [
        QuestionKind("downstream, all hops, first page", far, all_hops, 500),
        QuestionKind("downstream, three hops, first page", near, three_hops, 50),
        QuestionKind("trace, one hop", records, ours(partial(traced, 1)), 20),
        QuestionKind("trace, five hops", records, ours(partial(traced, 5)), 120),
        QuestionKind("impact of wrong data, first page", far, both(impact, "impact"), 1_000),
        # Askers who may not see everything see no incidents.
        QuestionKind("incident of a record", starts.incidents[:many], {HEADWATER: shown_incident}, 1_000),
        QuestionKind("incident of a table", starts.wide_incidents[:many], {HEADWATER: shown_incident}, 5_000),
    ]


def bench_query(
    size: EstateSize, *, rounds: int, questions: int, stores: Path, warm_up: int = _WARM_UP
) -> dict[str, Any]:
    """Create the estate (the large made-up graph) if it is missing, ask the questions, and report.

    Args:
        rounds: number of counted rounds.
        questions: questions of each kind in each round.
        stores: folder of the kept estates.
        warm_up: number of unmeasured questions of each kind for each contestant.

    Raises:
        HeadwaterError: the estate could not be created.
    """
    # Garbage collections are rare, as in `serve` and the commands.
    with (
        estate_up(size, stores, console.message) as estate,
        reading_driver(estate.database.target) as driver,
        rare_collections(),
        console.progress(lines=True) as progress,
    ):
        measurements, goals = [], []
        for kind in question_kinds(driver, estate.database, estate.starts, questions):
            warm_up_rounds = math.ceil(warm_up / len(kind.questions))
            asks = (rounds + warm_up_rounds) * len(kind.questions) * len(kind.answers)
            task = progress.add_task(kind.name, total=asks)
            entries = ask_in_turns(
                kind.answers,
                kind.questions,
                rounds=rounds,
                warm_up=warm_up_rounds,
                pid=estate.database.pid,
                asked=partial(progress.advance, task),
            )
            measurements.append({"question": kind.name, "contestants": entries})
            goals.append(Goal(f"{kind.name}, p95 ms", entries[0]["p95_ms"]["median"], kind.goal_ms))
            if FILTERED in kind.answers:
                unfiltered = entries[1]["headwater_ratio"]["median"]
                goals.append(Goal(f"{kind.name}, time of unfiltered ÷ filtered", unfiltered, _LEAST_RATIO, "at_least"))
        by_kind = estate.manifest["nodes"] | estate.manifest["relationships"]
        return report(
            "query",
            options={**asdict(size), "rounds": rounds, "questions": questions},
            environment={
                "heap_mb": HEAP_MB,
                "page_cache_mb": PAGE_CACHE_MB,
                "nodes": sum(estate.manifest["nodes"].values()),
                "relationships": sum(estate.manifest["relationships"].values()),
                "by_kind": by_kind,
                "made_in_seconds": estate.manifest["seconds"],
                "peak_rss_mb": {"headwater": own_peak_mb(), "neo4j": peak_mb(estate.database.pid)},
            },
            measurements=measurements,
            goals=goals,
        )


def query_tables(document: Mapping[str, Any]) -> Group:
    """Report for people: the contestants of each question next to each other, then the goals."""
    headings = ("question", "asked of", "found", "p50 ms", "p95 ms", "CPU ms", "headwater takes ×", "95 % interval")
    found = table(*headings, left=2)
    for measurement in document["measurements"]:
        for number, entry in enumerate(measurement["contestants"]):
            found.add_row(
                "" if number else measurement["question"],
                entry["name"],
                f"{entry['found']['median']:,}",
                shown(entry["p50_ms"]),
                shown(entry["p95_ms"]),
                shown(entry["processor_ms"], 0),
                shown(entry.get("headwater_ratio"), 2),
                shown(entry.get("headwater_ratio_interval"), 2),
            )
    return Group(found, "", goals_table(document))
