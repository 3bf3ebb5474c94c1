"""Verdict: whether the graph, the offsets and the dead letters are what was acknowledged."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_consumers.materializer.accounting import Accounting
from headwater_graph.dump import Comparison


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a comparison.

    Attributes:
        accounting: of the topic as it is.
        comparison: of the graph with the ledger.
        earlier: acknowledged and dead-lettered on incarnations of the topic that are gone.
        bad: dead letters that there should be.
        seconds: that the check took.
    """

    accounting: Accounting
    comparison: Comparison
    earlier: tuple[int, int]
    bad: int
    acknowledged: int
    seconds: float

    @property
    def faults(self) -> list[str]:
        """Differences from the expected result."""
        given, dead = (
            self.accounting.acknowledged + self.earlier[0],
            self.accounting.dead_lettered + self.earlier[1],
        )
        found = self.comparison
        return [
            fault
            for fault, holds in (
                (f"{self.accounting.pending} events pending", not self.accounting.pending),
                (f"{self.accounting.expired} events expired", not self.accounting.expired),
                (f"{self.acknowledged} records acknowledged, {given} on the topic", given == self.acknowledged),
                (f"{dead} dead letters, {self.bad} bad records", dead == self.bad),
                (f"graph: {found.missing} missing, {found.extra} too many, {found.changed} changed", found.same),
            )
            if not holds
        ]
