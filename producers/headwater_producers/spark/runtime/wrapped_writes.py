"""Commands that make a table of a query run a write inside, and Spark tells of both, of the inner one first.

Several threads may write at once, so other writes may be told in between.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from headwater_producers.spark.events.batch import BatchRun
    from headwater_producers.spark.jvm.commands import StagedWrite
    from headwater_producers.spark.plan import PlanDescription

# Writes remembered. More threads than these hardly make tables at once.
_REMEMBERED: Final = 16

Names = frozenset[tuple[str, str]]


class WrappedWrites:
    """The last writes, for the commands that they may have run in."""

    def __init__(self) -> None:
        self._staged: deque[tuple[Names, StagedWrite]] = deque(maxlen=_REMEMBERED)
        self._done: deque[tuple[Names, datetime]] = deque(maxlen=_REMEMBERED)

    def stage(self, description: PlanDescription, write: StagedWrite) -> None:
        """A write into a table that isn't there before the command around it ends."""
        self._staged.append((_names(description), write))

    def rows_of(self, description: PlanDescription, started_at: datetime, ended_at: datetime) -> StagedWrite | None:
        """The staged write that a command ran inside; by its table, or where nothing else was written meanwhile."""
        if not _makes_a_table(description):
            return None
        during = [each for each in self._staged if started_at <= each[1].started_at <= ended_at]
        mine = [each for each in during if each[0] & _names(description)] or (during if len(during) == 1 else [])
        if not mine:
            return None
        self._staged.remove(mine[0])
        return mine[0][1]

    def is_wrapper(self, run: BatchRun) -> bool:
        """Whether a command only wraps a write that was told before it. From now on it is one of those itself."""
        names = _names(run.write.description)
        if run.error is not None:
            return False
        is_wrapper = _makes_a_table(run.write.description) and any(
            inner & names and run.started_at <= began <= run.ended_at for inner, began in self._done
        )
        self._done.append((names, run.started_at))
        return is_wrapper


def _makes_a_table(description: PlanDescription) -> bool:
    return "AsSelect" in (description.command or "")


def _names(description: PlanDescription) -> Names:
    names = [(output.dataset.namespace, output.dataset.name) for output in description.outputs]
    links = [(link.namespace, link.name) for output in description.outputs for link in output.symlinks]
    return frozenset([*names, *links])
