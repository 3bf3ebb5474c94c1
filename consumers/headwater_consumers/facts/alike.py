"""Micro-batches that are alike: what they have in common, and where each has its own numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from headwater_consumers.facts.model import UseKey
from headwater_consumers.facts.registers import Props

Numbers = tuple[int, ...]
Pick = Callable[[Numbers], Numbers]
"""Some of the numbers, in an order."""


@dataclass(frozen=True, slots=True)
class KafkaUse:
    """A use of Kafka offsets by micro-batches that are alike.

    Attributes:
        properties: the position's, with the offsets of any micro-batch.
        from_, to_exclusive: take the offsets from a micro-batch's numbers, in the order of the position's partitions.
    """

    properties: Props
    from_: Pick
    to_exclusive: Pick

    def position(self, numbers: Numbers) -> Props:
        """The position of a micro-batch."""
        ranges: Props = {"from": list(self.from_(numbers)), "to_exclusive": list(self.to_exclusive(numbers))}
        return self.properties | ranges


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """What some micro-batches have in common. Each was observed, without conflicts and assertions.

    Attributes:
        query, run: keys; `run` is None where none is known.
        time, duration_ms, rows_in, dropped: places of these numbers; None: not known. `time` is the processing time in
            microseconds, `dropped` the rows that were late for the watermark.
        uses: of datasets; None: without a position.
    """

    query: str
    run: str | None
    time: int | None
    duration_ms: int | None
    rows_in: int | None
    dropped: int | None
    uses: Mapping[UseKey, KafkaUse | None]
