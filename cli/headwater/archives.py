"""The archive of the events topic, for commands that read it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headwater.console import console
from headwater.decoding import event_decoder
from headwater.errors import InputError
from headwater.invocation import install_command
from headwater.lean_imports import without
from headwater.settings import connected_settings
from headwater_graph.facts.nodes import IntervalFacts
from headwater_schemas.events import JobRef

with without("numpy", "pandas"):
    from headwater_analysis.trace import Archived
    from headwater_analysis.trace.batches import Query
    from headwater_consumers.archive import Archive, ArchiveError, archived_micro_batches


@contextlib.contextmanager
def reading_archive() -> Iterator[None]:
    """Turn errors of the archive within the block into errors of the command, each with its fix."""
    try:
        yield
    except ArchiveError as error:
        raise InputError(str(error), fix="Give --archive the --output of spark_jobs/lineage/archive.py.") from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pyarrow":
            raise
        raise InputError("Reading Parquet needs pyarrow.", fix=f"Install it: {install_command('archive')}") from error


@contextlib.contextmanager
def archived(location: str, tenant: str | None) -> Iterator[Archived]:
    """Finder of archived micro-batches, for traces through micro-batches that retention has summarized."""
    settings = connected_settings({"analysis.tenant": tenant}, kafka=True)
    with reading_archive(), event_decoder(settings) as decoder:
        archive = Archive(location)

        def find(query: Query, summary: Mapping[str, Any]) -> Sequence[IntervalFacts]:
            if query.job is None:
                return ()
            day = summary.get("day")
            with console.status(f"Reading {summary['batches']:,} micro-batches of {day} from the archive"):
                return archived_micro_batches(
                    archive,
                    decoder,
                    tenant=settings.analysis.tenant,
                    job=JobRef(query.job.namespace, query.job.name),
                    query_id=query.query_id,
                    batches=range(summary["first_batch"], summary["last_batch"] + 1),
                    count=summary["batches"],
                    since=day or "",
                )

        yield find
