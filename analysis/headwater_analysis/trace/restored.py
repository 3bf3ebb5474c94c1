"""Versions to which a RESTORE set Delta tables back, and the times when these versions were written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headwater_analysis.trace.batches import Batch, Run
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.indexed import version_users
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_analysis.trace.uses import StoredUse
from headwater_graph.keys import version_key
from headwater_schemas.events import Certainty

_ORDERED: Final = "delta"
"""Format whose versions are numbers in the order of the writes."""


@dataclass(frozen=True, slots=True)
class RestoredVersion:
    """Version to which a RESTORE set a table back.

    Attributes:
        version: number of the version; None: unknown.
        committed: when the run or micro-batch that wrote the version ended; None: unknown.
    """

    version: int | None
    committed: datetime | None


def is_restore(use: StoredUse) -> bool:
    """Return whether a use is a RESTORE, which sets a table back to an earlier version."""
    return use.produced and str(use.properties.get("operation", "")).lower() == "restore"


def restored_version(context: Context, run: Run, dataset: str) -> RestoredVersion:
    """Find the version that a RESTORE read: its one input, the table itself.

    Args:
        dataset: key of the table under any of its names.
    """
    names = context.datasets.keys_of(context.datasets.shown_key(dataset))
    read = [_exact(each) for name in names for each in run.reads(name)]
    if len(read) != 1 or read[0] is None:
        return RestoredVersion(None, None)
    [version] = read
    keys = [version_key(context.tx.tenant, name, _ORDERED, str(version)) for name in names]
    batches, runs = version_users(context, keys)
    users: list[Batch | Run] = [*batches, *runs]
    # A table that was deleted and created again reuses version numbers: the latest writer counts.
    wrote = [
        each.ended_at
        for each in users
        if any(_exact(written) == version for name in names for written in each.writes(name))
    ]
    known = [time for time in wrote if time is not None]
    return RestoredVersion(version, max(known) if known and len(known) == len(wrote) else None)


def read_before(context: Context, part: Part, run: Run, dataset: str) -> bool:
    """Return whether a run is a RESTORE to a version that was certainly written before a part.

    Args:
        dataset: key of the table under the name that the run used.
    """
    if part.since is None or not any(map(is_restore, run.writes(dataset))):
        return False
    committed = restored_version(context, run, dataset).committed
    return committed is not None and part.since > committed


def version_number(part: Part) -> int | None:
    """Number of a part's version; None unless it is known, and versions are ordered."""
    of_version = part.kind is PartKind.SNAPSHOT and part.format == _ORDERED and part.version is not None
    return int(str(part.version)) if of_version and str(part.version).isdecimal() else None


def _exact(use: StoredUse) -> int | None:
    """Number of the version that a use read or wrote; None unless it is exactly known, and versions are ordered."""
    version = str(use.properties.get("snapshot_id", ""))
    known = use.kind is PartKind.SNAPSHOT and use.certainty is Certainty.EXACT and version.isdecimal()
    return int(version) if known and use.properties.get("format") == _ORDERED else None
