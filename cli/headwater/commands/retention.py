"""`headwater retention`: retention of the micro-batches of streaming queries."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.table import Table

from headwater.confirming import YesOption, confirm
from headwater.console import JsonOption, console
from headwater.errors import InputError
from headwater.graph_driver import current_graph
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.settings import connected_settings
from headwater.times import parse_time
from headwater_graph.write.retention import Moved, retentions, retire
from headwater_schemas.events import RetentionEvent, RetentionMode, build
from headwater_schemas.visible import visible_lines

app = typer.Typer(help="Retention of the micro-batches of streaming queries.", no_args_is_help=True)

_PRODUCER = "https://headwater/retention"


@app.command("set")
def set_(
    before: Annotated[
        str, typer.Option(metavar="TIME", help="First day (UTC) that the rule doesn't apply to: 90d, 2025-01-31.")
    ],
    *,
    namespace: Annotated[str | None, typer.Option(help="Namespace of the jobs. Default: all.")] = None,
    job: Annotated[str | None, typer.Option(help="Name of one job, with --namespace. Default: all.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Drop the micro-batches without leaving summaries.")] = False,
    yes: YesOption = False,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Publish a retention rule: a summary for each run and day replaces the micro-batches of earlier days.

    A rule can't be taken back: a later rule can only name a later day. The records of the events topic and of its
    archive stay. To keep 90 days, run `retention set --before 90d` and `retention apply` once a day.
    """
    if job is not None and namespace is None:
        raise InputError("--job needs the job's namespace.", fix="Add --namespace.")
    time = parse_time(before)
    day = time.astimezone(UTC).date().isoformat()
    now = datetime.now(UTC)
    if time > now:
        raise InputError(f"{day} is in the future.", fix="Name a day that is over.")
    settings = connected_settings({"analysis.tenant": tenant}, kafka=True)
    scope = visible_lines("all jobs" if namespace is None else namespace if job is None else f"{namespace}.{job}")
    what = "dropped" if drop else "summarized"
    confirm(f"Micro-batches of {scope} before {day} are {what} for good. Go on?", yes=yes)
    body = RetentionEvent(
        before=time.replace(hour=0, minute=0, second=0, microsecond=0),
        mode=RetentionMode.DROP if drop else RetentionMode.SUMMARIZE,
        namespace=namespace,
        job=job,
    )
    event = build.lineage_event(body, producer=_PRODUCER, event_time=now, tenant=settings.analysis.tenant)
    publish(settings, [event])
    console.result(
        {"event_id": event.event_id, "before": day, "mode": body.mode.value, "namespace": namespace, "job": job},
        f"Micro-batches of {scope} before {day} are {what}, once the event is in the graph. "
        "`headwater retention apply` frees the space.",
    )


@app.command("list")
def list_(json_output: JsonOption = False) -> None:
    """List the retention rules: the first day whose micro-batches are kept one by one."""
    settings = connected_settings(neo4j=True)
    with current_graph(settings.neo4j) as driver:
        found = retentions(driver, settings.neo4j.database)
    documents: list[dict[str, str | None]] = [
        {
            "tenant": str(one.identity["tenant"]),
            "namespace": _text(one.identity.get("namespace")),
            "job": _text(one.identity.get("job")),
            "summarize_before": _day(one.summarize_before),
            "drop_before": _day(one.drop_before),
        }
        for one in found
    ]
    table = Table("tenant", "namespace", "job", "summarized before", "dropped before", box=None)
    for document in documents:
        scope = (visible_lines(document[name] or "all") for name in ("tenant", "namespace", "job"))
        table.add_row(*scope, document["summarize_before"], document["drop_before"])
    console.result({"retentions": documents}, table if documents else "All micro-batches are kept one by one.")


@app.command()
def apply(json_output: JsonOption = False) -> None:
    """Remove micro-batches past their retention from the graph, and leave summaries unless the rule drops them.

    Consumers may run meanwhile. After an interruption, run the command again.
    """
    settings = connected_settings(neo4j=True)
    with current_graph(settings.neo4j) as driver, console.progress() as progress:
        task = progress.add_task("Reading queries", total=None)

        def show(moved: Moved, left: int) -> None:
            text = f"{moved.micro_batches:,} micro-batches moved, {left:,} queries left"
            progress.update(task, description=text)

        moved = retire(driver, settings.neo4j.database, show)
    document: dict[str, Any] = {
        "queries": moved.queries,
        "micro_batches": moved.micro_batches,
        "summaries_dropped": moved.summaries_dropped,
    }
    console.result(
        document,
        f"{moved.micro_batches:,} micro-batches of {moved.queries:,} queries moved, "
        f"{moved.summaries_dropped:,} summaries dropped.",
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _day(time: datetime | None) -> str | None:
    return None if time is None else time.date().isoformat()
