"""Wrapped writes: writes inside a command that makes a table from a query. Spark reports the inner write first.

Several threads may write at once, so other writes may be reported before the command.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import datetime
from typing import Final

from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.execution.writes import StagedWrite
from headwater_producers.spark.plan import PlanDescription, PlanOutput
from headwater_schemas.events import LifecycleChange

# Maximum number of remembered writes: more threads hardly create tables at once.
_REMEMBERED: Final = 16

Names = frozenset[tuple[str, str]]


class WrappedWrites:
    """Latest writes, for the commands that may enclose them."""

    def __init__(self) -> None:
        self._staged: deque[tuple[Names, StagedWrite]] = deque(maxlen=_REMEMBERED)
        self._done: deque[tuple[Names, BatchRun]] = deque(maxlen=_REMEMBERED)

    def stage(self, description: PlanDescription, write: StagedWrite) -> None:
        """Keep a write to a table that doesn't exist until its command has ended."""
        self._staged.append((names_of(description), write))

    def rows_of(self, description: PlanDescription, started_at: datetime, ended_at: datetime) -> StagedWrite | None:
        """Return the staged write that ran inside a command: the write to the command's table, or the only write."""
        if not makes_a_table(description):
            return None
        during = [each for each in self._staged if started_at <= each[1].started_at <= ended_at]
        mine = [each for each in during if each[0] & names_of(description)] or (during if len(during) == 1 else [])
        if not mine:
            return None
        self._staged.remove(mine[0])
        return mine[0][1]

    def inside(self, run: BatchRun) -> BatchRun | None:
        """Return the emitted write that this command only wraps; otherwise remember this command's write.

        Both must have the same outcome: a command that fails after a successful write, because its table can't be
        created, is emitted separately.
        """
        inner = self._inner(run)
        if inner is None:
            self._done.append((names_of(run.write.description), run))
        return inner

    def corrected(self, run: BatchRun) -> BatchRun | None:
        """Return a wrapped write with its command's details; None if the details add nothing.

        The inner write only knows that it replaces a folder's content; it doesn't know the created table or its name.
        """
        if (inner := self._inner(run)) is None:
            return None
        outputs = tuple(map(_named, inner.write.description.outputs, run.write.description.outputs))
        if outputs == inner.write.description.outputs:
            return None
        description = replace(inner.write.description, outputs=outputs)
        return replace(inner, write=replace(inner.write, description=description), ended_at=run.ended_at)

    def _inner(self, run: BatchRun) -> BatchRun | None:
        names = names_of(run.write.description)
        if not makes_a_table(run.write.description):
            return None
        found = (done for inner, done in self._done if inner & names)
        during = (done for done in found if run.started_at <= done.started_at <= run.ended_at)
        return next((done for done in during if (done.error is None) == (run.error is None)), None)


def _named(inner: PlanOutput, table: PlanOutput) -> PlanOutput:
    """Return the inner write's output under the name of the table that the command creates."""
    lifecycle = table.lifecycle
    if lifecycle is None and inner.lifecycle is LifecycleChange.OVERWRITE:
        # An append to a table that didn't exist.
        lifecycle = LifecycleChange.CREATE
    return replace(inner, kind=table.kind, type=table.type, symlinks=table.symlinks, lifecycle=lifecycle)


def makes_a_table(description: PlanDescription) -> bool:
    """Return True if the command is a CREATE TABLE AS, or a REPLACE."""
    return "AsSelect" in (description.command or "")


def names_of(description: PlanDescription) -> Names:
    """Return all names of the written datasets, symlinks included."""
    names = [(output.dataset.namespace, output.dataset.name) for output in description.outputs]
    links = [(link.namespace, link.name) for output in description.outputs for link in output.symlinks]
    return frozenset([*names, *links])
