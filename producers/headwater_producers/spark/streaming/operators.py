"""The stateful operators of a streaming query, one by one: what each keeps, and what each has dropped as late.

An interval has their sums, since that is what a micro-batch has done. Which of several operators it was that dropped
rows, or whose state grows, is in its run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STATE_FACET: Final = "headwater_state"
"""The run facet of a streaming run with stateful operators, as of its last micro-batch that was emitted:
`{"operators": [{"operatorName": "dedupe", "numRowsTotal": 3, "maxNumRowsTotal": 5, "memoryUsedBytes": 1560,
"numRowsDroppedByWatermark": 1}]}`. The names are Spark's; dropped rows are of all its micro-batches."""


@dataclass(frozen=True, slots=True)
class StateOperator:
    """One stateful operator after one micro-batch. Numbers are None where Spark doesn't report them.

    Attributes:
        name: Spark's: `stateStoreSave`, `dedupe`, `symmetricHashJoin`.
        rows, bytes: that it keeps.
        dropped_late: rows of this micro-batch that were behind its watermark.
    """

    name: str
    rows: int | None
    bytes: int | None
    dropped_late: int | None

    @classmethod
    def of(cls, progress: dict[str, Any]) -> StateOperator:
        """From one of a progress' `stateOperators`."""
        return cls(
            name=str(progress.get("operatorName") or ""),
            rows=progress.get("numRowsTotal"),
            bytes=progress.get("memoryUsedBytes"),
            dropped_late=progress.get("numRowsDroppedByWatermark"),
        )


def total(counts: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class StateTally:
    """The operators of one run, over its micro-batches. They are distinguished by their position in its plan."""

    def __init__(self) -> None:
        self._operators: list[StateOperator] = []
        self._most_rows: list[int | None] = []

    def __bool__(self) -> bool:
        return bool(self._operators)

    def add(self, operators: Sequence[StateOperator]) -> None:
        """Adds the operators of a micro-batch, each micro-batch once."""
        if not operators:
            return
        before = [each.name for each in self._operators]
        if before != [each.name for each in operators]:
            self._operators, self._most_rows = list(operators), [each.rows for each in operators]
            return
        pairs = list(zip(self._operators, operators, strict=True))
        self._operators = [
            replace(now, dropped_late=total((so_far.dropped_late, now.dropped_late))) for so_far, now in pairs
        ]
        self._most_rows = [
            max((rows for rows in (most, now.rows) if rows is not None), default=None)
            for most, now in zip(self._most_rows, operators, strict=True)
        ]

    def facet(self, producer: str) -> str:
        """The facet's JSON."""
        rows = [
            {
                "operatorName": each.name,
                "numRowsTotal": each.rows,
                "maxNumRowsTotal": most,
                "memoryUsedBytes": each.bytes,
                "numRowsDroppedByWatermark": each.dropped_late,
            }
            for each, most in zip(self._operators, self._most_rows, strict=True)
        ]
        known = [{name: value for name, value in each.items() if value is not None} for each in rows]
        return json.dumps({"_producer": producer, "operators": known})
