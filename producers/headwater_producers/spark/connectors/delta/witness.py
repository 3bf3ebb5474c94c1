"""Evidence in a Delta table's log of a write whose driver ended without reporting the write's end.

The candidates are the commits since the write began that have the write's operation. A commit can carry the id of its
application's run (`spark.databricks.delta.commitInfo.userMetadata`, which `capture_commit_marks` sets). If exactly one
candidate carries this run's id, it is the write's commit; INFERRED, since the id identifies the application and not the
write. A candidate without an id may be from any application. Without any candidate the write has committed nothing. An
idempotent write (`txnAppId`, `txnVersion`) is identified by its transaction, EXACT; if an earlier commit has this
transaction, Delta skipped the write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from headwater_producers.spark.connectors.delta.commits import operations_of
from headwater_producers.spark.connectors.delta.log import delta_actions, delta_counts, delta_snapshot, delta_text
from headwater_producers.spark.events.left_writes import (
    LeftWrite,
    WriteFate,
    WriteOutcome,
    marked_run,
    nothing,
    unknown,
)
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.jvm.scala import instant
from headwater_schemas.events import Certainty

_COMMIT: Final = re.compile(r"(\d{20})\.json")
_MAX_COMMITS: Final = 200
"""Maximum number of searched commits, including other applications'."""
_SKEW_MILLIS: Final = 600_000
"""Maximum difference between the clocks of a table's writers."""


def left_in_delta(table: TextFolder, write: LeftWrite) -> WriteOutcome:
    """Determine the outcome of a write by the table's log.

    Args:
        write: the write whose driver is gone.

    Raises:
        OSError, ValueError, Py4JError: the log can't be read.
    """
    versions = [int(found[1]) for name in table.names("_delta_log") if (found := _COMMIT.fullmatch(name))]
    if not versions:
        return nothing("the table that the write was to change doesn't exist")
    try:
        commits = list(_commits_since(table, max(versions), write))
    except _NotThereError as error:
        return unknown(str(error))
    whose = [_is_its_own(actions, write) for _, actions in commits]
    mine = [commit for commit, is_its_own in zip(commits, whose, strict=True) if is_its_own]
    if len(mine) == 1:
        number, actions = mine[0]
        info = actions.get("commitInfo", {})
        return WriteOutcome(
            verdict=WriteFate.COMMITTED,
            at=instant(int(info["timestamp"])),
            position=delta_snapshot(number, info),
            certainty=Certainty.INFERRED if write.transaction is None else Certainty.EXACT,
            counts=delta_counts(info.get("operationMetrics", {})),
        )
    if possible := sum(is_its_own is not False for is_its_own in whose):
        return unknown(f"{possible} commits of the table since the write's start may be the write's")
    return nothing("the table's log has no commit of the write")


class _NotThereError(Exception):
    """Missing commit in the range that has to be searched."""


def _commits_since(table: TextFolder, newest: int, write: LeftWrite) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the candidates, versions and actions, newest first; commits that another write claims are left out.

    Raises:
        _NotThereError: a commit is gone, or there are too many.
    """
    begin = int(write.started_at.timestamp() * 1000)
    for number in range(newest, -1, -1):
        if number == newest - _MAX_COMMITS:
            raise _NotThereError(
                f"the table has {_MAX_COMMITS} commits since the write's start; older ones aren't searched"
            )
        if not (text := delta_text(table, number)):
            raise _NotThereError(f"the table's log doesn't go back to the write's start: version {number} is gone")
        actions = delta_actions(text)
        info = actions.get("commitInfo", {})
        at = int(info.get("timestamp", 0))
        if at < begin - _SKEW_MILLIS:
            return
        is_of_its_kind = str(info.get("operation")) in operations_of(write.command)
        if at >= begin and is_of_its_kind and str(number) not in write.claimed:
            yield number, actions


def _is_its_own(actions: dict[str, Any], write: LeftWrite) -> bool | None:
    """Return True if a commit names this write, or its application's run.

    None for a commit that names no run: the commit may belong to this write.
    """
    if write.transaction is not None:
        transaction = actions.get("txn", {})
        return (transaction.get("appId"), transaction.get("version")) == write.transaction
    metadata = actions.get("commitInfo", {}).get("userMetadata")
    if (named := marked_run(metadata)) is not None:
        return named == write.app_run
    # If the application marks its commits, a commit without a text is from another application. A commit with another
    # text may be from this application: the job itself can set the text.
    return False if write.marked and metadata is None else None
