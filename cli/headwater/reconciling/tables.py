"""Open batch writes of the graph, and their outcomes from the logs of their target tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from headwater.errors import InputError
from headwater.graph_reader import asking
from headwater.reconciling.queries import QueryOptions
from headwater.settings import connected_settings
from headwater_analysis.reconciling import OpenWrite, claimed_versions, open_writes
from headwater_analysis.runs.records import MISSED_HEARTBEATS
from headwater_producers.spark.common.versions import capture_version
from headwater_producers.spark.events.left_writes import LeftWrite, WriteFate, recovered_end, with_facet
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.left_writes.left_tables import became_of, location
from headwater_schemas import naming
from headwater_schemas.events import LineageEvent
from headwater_schemas.redaction import redact

_NAME: Final = re.compile(r"[\w`-]+(\.[\w`-]+)+")
_METADATA: Final = re.compile(r".*\.metadata\.json")
_HEARTBEAT_SECONDS: Final = 60.0
"""Heartbeat interval assumed for a run without a recorded one: capture's own default."""
RUNNING: Final = "RUNNING"
"""State of an uncommitted write whose driver still sends heartbeats: the write stays open."""


def is_name(text: str) -> bool:
    """Return True if the text is the name of a table in a catalog, not a path."""
    return _NAME.fullmatch(text) is not None and not Path(text).exists()


def is_table(where: str, files: TextFiles) -> bool:
    """Return True if a Delta or Iceberg table is in the folder."""
    folder = TextFolder(where, files)
    if folder.names("_delta_log"):
        return True
    try:
        return any(_METADATA.fullmatch(name) for name in folder.names("metadata"))
    except NotADirectoryError:
        # In a checkpoint, `metadata` is a file.
        return False


class Left:
    """Open writes of the graph, which are read at the first use."""

    def __init__(self, options: QueryOptions) -> None:
        self._options = options

    @cached_property
    def _writes(self) -> list[tuple[OpenWrite, LeftWrite]]:
        """All open writes, with their known facts.

        Raises:
            InputError: the command excludes the graph.
            UnreachableError, ConfigurationError: the graph can't be read.
        """
        if not self._options.ask_graph:
            raise InputError(
                "Only the graph knows the open writes of a table.", fix="Leave out --no-graph for a table."
            )
        tenant = connected_settings({"analysis.tenant": self._options.tenant}).analysis.tenant
        found: list[tuple[OpenWrite, LeftWrite]] = []
        with asking(tenant=self._options.tenant, silently=True) as reader:
            for run in open_writes(reader):
                write = _left_write(run, tenant)
                if write is not None:
                    claims = [claimed_versions(reader, each.dataset, write.started_at) for each in write.targets]
                    found.append((run, replace(write, claimed=frozenset().union(*claims))))
        return found

    def locations(self, names: Sequence[str]) -> Iterator[str]:
        """List the locations of named tables with open writes."""
        for name in names:
            for _, write in self._writes_to(name):
                yield location(write.targets[0].dataset)

    def of(self, table: str, files: TextFiles) -> tuple[list[LineageEvent], dict[str, Any]]:
        """Build the events that end the open writes of a table, and the rows to show."""
        events: list[LineageEvent] = []
        runs: list[dict[str, Any]] = []
        producer = f"https://headwater/reconcile/{capture_version()}"
        for run, write in self._writes_to(table):
            found = became_of(write, files)
            is_running = found.verdict is not WriteFate.COMMITTED and _was_seen_recently(run)
            if not is_running:
                events.append(recovered_end(write, found, producer=producer))
            snapshot = found.position.table_snapshot if found.position is not None else None
            runs.append(
                {
                    "run_id": run.run_id,
                    "job": {"namespace": run.job.namespace, "name": run.job.name},
                    "became": RUNNING if is_running else found.verdict.value,
                    "version": snapshot.snapshot_id if snapshot is not None else None,
                    "reason": found.reason or None,
                }
            )
        return events, {"table": redact(table), "runs": runs}

    def _writes_to(self, table: str) -> Iterator[tuple[OpenWrite, LeftWrite]]:
        plain = table.replace("`", "")
        ref = None if is_name(table) else naming.path(table)
        for run, write in self._writes:
            if any(each.dataset == ref or plain in (each.dataset.name, *each.names) for each in write.targets):
                yield run, write


def _left_write(run: OpenWrite, tenant: str) -> LeftWrite | None:
    return with_facet(
        run.facet,
        tenant=tenant,
        job=run.job,
        run_id=run.run_id,
        started_at=run.started_at,
        seen_at=run.last_seen,
        inputs=run.reads,
        parent=run.parent,
    )


def _was_seen_recently(run: OpenWrite) -> bool:
    """Return True if a run missed too few heartbeats to be considered dead."""
    patience = timedelta(seconds=MISSED_HEARTBEATS * (run.heartbeat_seconds or _HEARTBEAT_SECONDS))
    return datetime.now(UTC) - run.last_seen < patience
