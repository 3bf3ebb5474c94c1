"""Cases of the query benchmark: questions, contestants and goals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater_analysis.errors import TimeLimitError
from headwater_analysis.impact import ChangeType, ImpactChange, ImpactPage, analyze
from headwater_analysis.lineage import ALL_HOPS, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Offsets, trace
from headwater_benchmarks.estate.starts import Record, Starts
from headwater_benchmarks.query.decoded import found
from headwater_benchmarks.query.statements import Statements
from headwater_benchmarks.rounds import Contestant, TooLong

PAGE = 1_000
"""A first page."""
_USUAL_PAGE = 100
"""Page size of the commands by default."""
_ALL_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of question.

    Attributes:
        name: for the report.
        questions: asked in each round.
        contestants: Headwater first.
        goal_ms: for Headwater's p95; None: measured without one.
        found: what the numbers found are numbers of.
    """

    name: str
    questions: Sequence[Any]
    contestants: Sequence[Contestant[Any]]
    goal_ms: float | None
    found: str


def cases(reader: Reader, statements: Statements, starts: Starts, many: int) -> list[Case]:
    """All of them, with so many questions each."""
    far, near, records = starts.far[:many], starts.any[:many], starts.records[:many]
    return [
        Case(
            "downstream, all hops, first page",
            far,
            [
                _headwater(lambda key: _downstream(reader, key, ALL_HOPS)),
                Contestant("one statement, no edges", lambda key: _total(statements.rows("downstream", key=key))),
                Contestant("DISTINCT, all as rows", lambda key: len(statements.rows("downstream_rows", key=key))),
            ],
            500,
            "datasets",
        ),
        Case(
            "downstream, three hops, first page",
            near,
            [
                _headwater(lambda key: _downstream(reader, key, 3)),
                Contestant("one statement, no edges", lambda key: _total(statements.rows("three_hops", key=key))),
            ],
            50,
            "datasets",
        ),
        Case(
            "downstream, three hops, page of 100",
            near,
            [_headwater(lambda key: _downstream(reader, key, 3, page=_USUAL_PAGE))],
            None,
            "datasets",
        ),
        Case("trace, one hop", records, _traces(reader, statements, 1), 20, "micro-batches"),
        Case("trace, five hops", records, _traces(reader, statements, 5), 120, "micro-batches"),
        Case(
            "impact of wrong data, first page",
            far,
            [
                _headwater(lambda key: _impact(reader, key)),
                Contestant("one statement, no edges", lambda key: _total(statements.rows("impact", key=key))),
            ],
            1_000,
            "datasets",
        ),
        Case(
            "downstream, all hops, all pages",
            far[: max(many // 5, 1)],
            [_headwater(lambda key: _all_pages(reader, key))],
            None,
            "datasets",
        ),
    ]


def _headwater(answer: Callable[[Any], int]) -> Contestant[Any]:
    def limited(question: Any) -> int:
        try:
            return answer(question)
        except TimeLimitError as error:
            raise TooLong from error

    return Contestant("headwater", limited)


def _downstream(reader: Reader, key: str, depth: int | None, *, page: int = PAGE) -> int:
    return lineage(
        reader, LineageQuestion(key, LineageDirection.DOWNSTREAM, depth=depth, edges=False, limit=page)
    ).total


def _impact(reader: Reader, key: str) -> int:
    return analyze(reader, ImpactChange(key, type=ChangeType.DATA_INCORRECT), page=ImpactPage(limit=PAGE)).total


def _all_pages(reader: Reader, key: str) -> int:
    found, cursor = 0, None
    while True:
        question = LineageQuestion(
            key, LineageDirection.DOWNSTREAM, depth=ALL_HOPS, edges=False, limit=PAGE, cursor=cursor
        )
        page = lineage(reader, question)
        found += len(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return found


def _traces(reader: Reader, statements: Statements, depth: int) -> list[Contestant[Record]]:
    def ours(record: Record) -> int:
        start = Offsets(record.topic, record.partition, record.offset, record.offset + 1)
        answer = trace(reader, start, depth=depth, limit=_ALL_STEPS)
        return sum(hop.step.batches or 0 for hop in answer.hops)

    return [_headwater(ours), Contestant("ranges, decoded", lambda record: found(statements, record, depth))]


def _total(rows: Sequence[Any]) -> int:
    return int(rows[0]["total"]) if rows else 0
