"""`headwater reconcile`: backfills lineage after a crash, from a query's checkpoint or a table's log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import InputError, SubjectNotFoundError
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.reconciling.checkpoints import NAME_THE_FOLDER, location, reading, unreadable_as_errors
from headwater.reconciling.queries import Knowledge, QueryOptions, Reconciled, knowledge, reconcile
from headwater.reconciling.tables import Left, is_name, is_table
from headwater.settings import connected_settings
from headwater_producers.spark.common.errors import CheckpointError, UnknownOriginError
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_schemas.events import LineageEvent
from headwater_schemas.ranges import range_text
from headwater_schemas.redaction import redact


def command(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="CHECKPOINT|TABLE…",
            help="Folder of a checkpoint, or of a Delta or Iceberg table: a path, or a URI that Hadoop can open. "
            "Or the name of a table in its catalog: db.orders.",
        ),
    ],
    *,
    job: Annotated[str | None, typer.Option("--job", help="Job of the query. Default: as in the graph.")] = None,
    job_namespace: Annotated[
        str | None, typer.Option("--job-namespace", help="Namespace of the job, with --job. Default: `default`.")
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INDEX=WHERE",
            help="Dataset of a source: 0=kafka://cluster, 1=/data/in, '2=NAMESPACE NAME'. Default: as in the graph.",
        ),
    ] = None,
    graph: Annotated[
        bool, typer.Option("--graph/--no-graph", help="Look the query up in the graph; without it, --job is needed.")
    ] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")] = False,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Publish lineage that a crash left unreported, marked RECONCILED: from a query's checkpoint or a table's log.

    From a CHECKPOINT: the committed micro-batches of its streaming query. From a TABLE: the end of each batch write
    that is open in the graph, COMPLETE with the version that it committed, or ABORT if its heartbeat has stopped and no
    commit is found.

    A micro-batch has the same event id as when capture observes it: sending it again is harmless, and observed values
    stay. Micro-batches that were planned but not committed aren't sent. Micro-batches that were never emitted, and that
    Spark has purged, are reported as a gap. Don't move or edit the checkpoint meanwhile; the query may keep running.
    """
    options = QueryOptions(
        job=job, namespace=job_namespace, tenant=tenant, sources=_sources(source or ()), ask_graph=graph
    )
    settings = connected_settings({"analysis.tenant": tenant}, kafka=not dry_run)
    named = [text for text in places if is_name(text)]
    locations = [location(text) for text in places if not is_name(text)]
    open_writes = Left(options)
    documents: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = []
    events: list[LineageEvent] = []
    with reading([*locations, *open_writes.locations(named)]) as files:
        for each in [*named, *locations]:
            with unreadable_as_errors(each):
                if each in named or is_table(each, files):
                    ended, shown = open_writes.of(each, files)
                    tables.append(shown)
                    events += ended
                    continue
                log = QueryLog(each, files)
                query_id = _query_id(log)
                try:
                    known = knowledge(options, query_id, until=max(log.committed(), default=-1) + 1)
                    found = reconcile(
                        log, files, known, query_id=query_id, tenant=settings.analysis.tenant, sources=options.sources
                    )
                except UnknownOriginError as error:
                    raise InputError(f"{each}: {error}.", fix=f"Name it: --source {error.source}=….") from error
                except CheckpointError as error:
                    raise InputError(f"{each}: {error}.") from error
            documents.append(document(found, known))
            events += found.events
    sent = 0 if dry_run else publish(settings, events)
    answer: dict[str, Any] = {"checkpoints": documents, "dry_run": dry_run, "sent": sent}
    views = [table(documents)] if documents else []
    if tables:
        answer["tables"] = tables
        views.append(tables_view(tables))
    console.result(answer, Group(*views))
    _report(documents, events=len(events), dry_run=dry_run)


def _report(documents: list[dict[str, Any]], *, events: int, dry_run: bool) -> None:
    for each in documents:
        for unreadable in each["unreadable"]:
            console.warning(f"{each['checkpoint']}: batch {unreadable['batch_id']}: {unreadable['reason']}")
        if each["gaps"]:
            console.warning(
                f"{each['checkpoint']}: batches {gaps_text(each['gaps'])} were never emitted, and Spark has "
                "purged them: they stay a gap."
            )
    if not console.json_mode:
        console.message(f"{events:,} would be sent (--dry-run)." if dry_run else f"{events:,} sent.")


def _query_id(log: QueryLog) -> str:
    try:
        return log.query_id()
    except CheckpointError as error:
        raise SubjectNotFoundError(f"{error}.", fix=NAME_THE_FOLDER) from error


def _sources(options: list[str] | tuple[str, ...]) -> dict[int, str]:
    out: dict[int, str] = {}
    for option in options:
        index, separator, where = option.partition("=")
        is_dataset = where.startswith("/") or ":" in where or " " in where.strip()
        if not separator or not index.isdecimal() or not is_dataset:
            raise typer.BadParameter(
                f"{option!r}: write 0=kafka://cluster, 1=/data/in or '2=NAMESPACE NAME'.", param_hint="--source"
            )
        out[int(index)] = where
    return out


def document(found: Reconciled, known: Knowledge) -> dict[str, Any]:
    """Document of one checkpoint, in `reconcile --json`."""
    return {
        "checkpoint": redact(found.location),
        "query_id": found.query_id,
        "job": {"namespace": known.job.namespace, "name": known.job.name},
        "batches": _bounds(found.batches),
        "not_emitted": None if found.not_emitted is None else list(found.not_emitted),
        "uncommitted": list(found.uncommitted),
        "unreadable": [{"batch_id": batch, "reason": reason} for batch, reason in found.unreadable],
        "purged": found.purged,
        "gaps": None if found.gaps is None else [{"first": first, "last": last} for first, last in found.gaps],
    }


def table(documents: Sequence[dict[str, Any]]) -> Table:
    """Table with a row for each checkpoint."""
    out = plain_table("checkpoint", "job", "batches", "not in the graph", "not committed", "gaps")
    for each in documents:
        bounds = each["batches"]
        out.add_row(
            shortened(each["checkpoint"]),
            shortened(each["job"]["name"]),
            f"{bounds['count']:,}: {range_text(bounds['first'], bounds['last'] + 1)}" if bounds["count"] else "none",
            "not asked" if each["not_emitted"] is None else f"{len(each['not_emitted']):,}",
            ", ".join(map(str, each["uncommitted"])) or "none",
            gaps_text(each["gaps"]),
        )
    return out


def tables_view(documents: Sequence[dict[str, Any]]) -> Table:
    """Table with a row for each open run of each table."""
    out = plain_table("table", "run", "job", "became", "version", "because")
    for each in documents:
        for run in each["runs"]:
            out.add_row(
                shortened(each["table"]),
                shortened(run["run_id"]),
                shortened(run["job"]["name"]),
                run["became"],
                shortened(run["version"] or ""),
                shortened(run["reason"] or "", 200),
            )
        if not each["runs"]:
            out.add_row(shortened(each["table"]), "no open write")
    return out


def gaps_text(gaps: Iterable[dict[str, int]] | None) -> str:
    """Format batch ids as ranges: `0..12, 14`; "none" if there are none, "not asked" if the graph wasn't asked."""
    if gaps is None:
        return "not asked"
    return ", ".join(range_text(each["first"], each["last"] + 1) for each in gaps) or "none"


def _bounds(batches: Sequence[int]) -> dict[str, int | None]:
    return {
        "count": len(batches),
        "first": batches[0] if batches else None,
        "last": batches[-1] if batches else None,
    }
