"""The commits of a Delta table's log that a batch write may have made, and what they say."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.committed import Committed
from headwater_producers.spark.connectors.delta.files import DeltaFiles, delta_files, files_of_version
from headwater_producers.spark.connectors.delta.log import delta_actions, delta_counts, delta_snapshot, delta_text
from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_schemas.events import Certainty, Position, TableSnapshot

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_COMMITS: Final = 50
"""How many commits others may have made meanwhile."""


@dataclass(frozen=True, slots=True)
class DeltaCommit:
    """A version, its `commitInfo`, its whole text, and how sure it is that the write made it."""

    version: int
    info: dict[str, Any]
    text: str
    certainty: Certainty


def delta_commits(
    path: str,
    operations: tuple[str, ...],
    session: Any,
    window: tuple[int, int],
    transaction: tuple[str, int] | None,
) -> list[DeltaCommit]:
    """The commits of a transaction, else those of a kind that were made within a time; newest first."""
    files = JvmFiles(session.sparkContext)
    newest = int(latest_snapshot(session, path).version())
    found: list[DeltaCommit] = []
    for version in range(newest, max(-1, newest - MAX_COMMITS), -1):
        text = delta_text(files, path, version)
        actions = delta_actions(text)
        info = actions.get("commitInfo", {})
        if transaction is not None:
            made = actions.get("txn", {})
            if (made.get("appId"), made.get("version")) == transaction:
                return [DeltaCommit(version, info, text, Certainty.EXACT)]
            continue
        if int(info.get("timestamp", 0)) < window[0]:
            break
        if int(info["timestamp"]) <= window[1] and str(info.get("operation")) in operations:
            found.append(DeltaCommit(version, info, text, Certainty.INFERRED))
    return found


def committed_delta(path: str, found: list[DeltaCommit], session: Any, columns: Collection[str]) -> Committed:
    """What a write's commits say, newest first."""
    newest, oldest = found[0], found[-1]
    changed = functools.reduce(DeltaFiles.plus, (delta_files(each.text) for each in found))
    # Only a plain overwrite leaves a doubt.
    said = newest.info.get("operationParameters", {})
    doubtful = newest.info.get("operation") == "WRITE" and said.get("mode") == "Overwrite" and "predicate" not in said
    added = changed.added if doubtful else None
    there = files_of_version(JvmFiles(session.sparkContext), path, newest.version) if added is not None else None
    counts = [delta_counts(each.info.get("operationMetrics", {})) for each in found]
    return Committed(
        delta_snapshot(newest.version, newest.info, changed.paths(columns)),
        newest.certainty,
        functools.reduce(Counts.plus, counts),
        before=_version(oldest.info.get("readVersion")),
        keeps=there > added if there is not None and added is not None else None,
    )


def _version(version: int | None) -> Position | None:
    return None if version is None else Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=str(version)))
