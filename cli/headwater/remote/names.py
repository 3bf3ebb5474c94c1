"""Look-ups of assets by name on a server: `headwater_analysis.known.named` and `known`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from headwater.lean_imports import without

with without("numpy", "pandas"):
    from headwater_analysis.known import (
        ColumnDetails,
        ConsumerDetails,
        DatasetDetails,
        JobDetails,
        Known,
        KnownKind,
        NamedNode,
    )
    from headwater_analysis.runs import RunDetails

if TYPE_CHECKING:
    from headwater.remote.server import Server

_DETAILS: Final[dict[KnownKind, tuple[str, type[Any]]]] = {
    KnownKind.DATASET: ("assets", DatasetDetails),
    KnownKind.COLUMN: ("columns", ColumnDetails),
    KnownKind.JOB: ("jobs", JobDetails),
    KnownKind.CONSUMER: ("consumers", ConsumerDetails),
    KnownKind.RUN: ("runs", RunDetails),
}


def named(server: Server, name: str, kinds: Sequence[KnownKind] = ()) -> NamedNode:
    """Return the dataset, column, job, consumer or run with a name.

    Raises:
        HeadwaterError, AnalysisError: see `Server.get`.
    """
    return server.get(("named",), NamedNode, {"name": name, "kind": kinds})


def known(server: Server, name: str, kind: KnownKind | None = None) -> Known:
    """Return details of the dataset, column, job, consumer or run with a name.

    Raises:
        HeadwaterError, AnalysisError: see `Server.get`.
    """
    found = named(server, name, () if kind is None else (kind,))
    folder, answer = _DETAILS[found.kind]
    details: Known = server.get((folder, found.key), answer)
    return details
