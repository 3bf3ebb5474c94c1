"""What a command writes: the answer that a plan's description is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headwater_producers.spark.plan.column import DataType, Indirect
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, StreamingLink, WriteMode
from headwater_producers.spark.plan.generated import GeneratedColumns
from headwater_schemas.events import LifecycleChange

LIFECYCLES: Final = {
    WriteMode.OVERWRITE: LifecycleChange.OVERWRITE,
    WriteMode.CREATE: LifecycleChange.CREATE,
    WriteMode.REPLACE: LifecycleChange.OVERWRITE,
}
"""What a write does to its dataset as a whole, by its mode; others leave it what it was."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a command writes.

    Attributes:
        outputs: the datasets, without schema.
        problem: what isn't known of them, as a sentence.
        streaming: where the command is a streaming query's.
        schema: the outputs', where it isn't that of the query that the command runs.
        staged: a CREATE TABLE AS, reported next, is what makes the table that is written.
        generated: what the table adds to the columns of the query.
        replaced: what decides which of the rows go that were there.
        read: what the command reads beside its query, or having none.
        copied: it takes over the first of those as it is: each column from that of its name, or from the dataset as a
            whole where its columns aren't known.
    """

    outputs: tuple[PlanOutput, ...] = ()
    problem: str | None = None
    streaming: StreamingLink | None = None
    schema: DataType = None
    staged: bool = False
    generated: GeneratedColumns | None = None
    replaced: frozenset[Indirect] = frozenset()
    read: tuple[PlanInput, ...] = ()
    copied: bool = False
