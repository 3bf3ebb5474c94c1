"""The graph as the loop sees it: fold events, apply what came of it, and report whether the database is well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from headwater_consumers.materializer.errors import FoldFailedError
from headwater_schemas.events import LineageEvent

Folded = Any
"""What folding makes of events, and `Graph.apply` takes. The loop only passes it on."""

Fold = Callable[[Sequence[LineageEvent]], Folded]


class WriteSummary(Protocol):
    """What one transaction did, for the metrics."""

    @property
    def nodes_created(self) -> int:
        """Nodes that were not there before."""

    @property
    def relationships_created(self) -> int:
        """Relationships that were not there before."""

    @property
    def duplicates(self) -> int:
        """Events that had come before in the same transaction."""

    @property
    def stale(self) -> int:
        """Events that another report with the same id superseded in the same transaction."""


class Graph(Protocol):
    """Where events end up. Called from one thread at a time, not always the same one."""

    def prepare(self) -> None:
        """Make the database ready: constraints, indexes, version. Safe to repeat.

        Raises:
            LineageError: by the tree of `errors`.
        """

    def apply(self, folded: Folded) -> WriteSummary:
        """Write it in one transaction, committed on return. Applying it again changes nothing.

        Raises:
            LineageError: nothing was written; or, where the connection broke during the commit, maybe all of it.
        """

    def ping(self) -> None:
        """See whether the database can be reached.

        Raises:
            LineageError: it can't.
        """

    def probe(self) -> None:
        """See whether the database is well, by a small committed write.

        Raises:
            LineageError: it isn't.
        """

    def close(self) -> None:
        """Let go of the connections. Never raises: nothing hangs on it."""


def checked_fold(fold: Fold, events: Sequence[LineageEvent]) -> Folded:
    """`fold(events)`.

    Raises:
        FoldFailedError: it raised; with the name of the exception, and none of its text, which may quote a payload.
    """
    try:
        return fold(events)
    except Exception as error:
        name = type(error).__name__
        raise FoldFailedError(f"Folding raised {name}.", code=name) from error
