"""Output of a command, from which a plan's description is made."""

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
"""Lifecycle change of a dataset by the mode of a write; other modes don't affect the whole dataset."""


@dataclass(frozen=True, slots=True)
class WrittenOutputs:
    """Output of a command.

    Attributes:
        outputs: the datasets, without schema.
        problem: reason why the output is incomplete, as a sentence.
        schema: schema of the outputs, if it differs from the schema of the command's query.
        staged: True if a CREATE TABLE AS, reported next, makes the table that is written.
        generated: columns that the table adds to the query's columns.
        replaced: influences on the choice of the existing rows that are replaced.
        read: inputs of the command in addition to the inputs of its query.
        copied: True if the command copies the first of `read`: each column comes from the column of the same name, or
            from the whole dataset if the dataset's columns are unknown.
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
