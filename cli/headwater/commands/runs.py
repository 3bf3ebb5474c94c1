"""`headwater runs`: runs of jobs and datasets, what they read and wrote, micro-batches, versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from headwater.asking import CursorOption, LimitOption, TenantOption, TimeoutOption, asking, document, time_if_given
from headwater.console import JsonOption, console
from headwater.show import batches as show_batches
from headwater.show import runs as show
from headwater.show.pages import counted
from headwater_consumers.analysis import runs as ask
from headwater_consumers.analysis.assets import AssetKind
from headwater_consumers.analysis.runs import Role
from headwater_schemas.events import RunEventType

if TYPE_CHECKING:
    from headwater_consumers.analysis.reader import Reader

app = typer.Typer(help="Runs of a job or dataset, their micro-batches, and versions.", no_args_is_help=True)
app.callback()(lambda: None)

OfArgument = Annotated[
    str, typer.Argument(metavar="JOB|DATASET", help="Its name where only one has it, or namespace/name, or its key.")
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="Its id.")]
KindOption = Annotated[
    AssetKind | None, typer.Option("--kind", case_sensitive=False, help="JOB or DATASET, where both are called so.")
]


@app.command("list")
def list_(
    of: OfArgument,
    *,
    kind: KindOption = None,
    read: Annotated[
        bool, typer.Option("--read", help="Of a dataset: the runs that read it, not those that wrote it.")
    ] = False,
    state: Annotated[
        list[RunEventType] | None,
        typer.Option(case_sensitive=False, help="Only runs in this state. Repeatable.", show_default=False),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only runs that began at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only runs that began before this time.")] = None,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """List the runs of a job, or those that wrote a dataset, the latest first."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        job, dataset = _named(reader, of, kind)
        page = ask.runs(
            reader,
            job=job,
            dataset=dataset,
            role=Role.READ if read else Role.WROTE,
            states=state or None,
            since=time_if_given(since),
            until=time_if_given(until),
            limit=limit,
            cursor=cursor,
        )
    console.result(document(page), show.table(page.items))
    console.message(counted(page.total, len(page.items), "run", page.next_cursor))


@app.command("show")
def show_(
    run: RunArgument, *, tenant: TenantOption = None, timeout: TimeoutOption = None, json_output: JsonOption = False
) -> None:
    """Show all that is known of one run."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        details = ask.run(reader, run)
    console.result(document(details), show.details(details))


@app.command()
def inputs(
    run: RunArgument,
    *,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """List what a run read, and which part of each. Of a streaming run, from its first micro-batch to its last."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        page = ask.inputs(reader, run, limit=limit, cursor=cursor)
    console.result(document(page), show_batches.uses(page.items))
    console.message(counted(page.total, len(page.items), "input", page.next_cursor))


@app.command()
def outputs(
    run: RunArgument,
    *,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """List what a run wrote, and which part of each. Of a streaming run, from its first micro-batch to its last."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        page = ask.outputs(reader, run, limit=limit, cursor=cursor)
    console.result(document(page), show_batches.uses(page.items))
    console.message(counted(page.total, len(page.items), "output", page.next_cursor))


@app.command()
def intervals(
    of: Annotated[str, typer.Argument(metavar="RUN|JOB", help="A run's id, or a job's name with --job.")],
    *,
    job: Annotated[bool, typer.Option("--job", help="All micro-batches of a job, reconciled ones too.")] = False,
    from_batch: Annotated[int, typer.Option("--from", min=0, max=2**63 - 1, help="The first batch to show.")] = 0,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """List micro-batches in batch order, with gaps, overlaps, quality, and what each read."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        named = {"job": of} if job else {"run": of}
        page = ask.intervals(reader, **named, from_batch=from_batch, limit=limit, cursor=cursor)
    console.result(document(page), show_batches.table(page.items))
    console.message(counted(page.total, len(page.items), "micro-batch", page.next_cursor, plural="micro-batches"))


@app.command()
def versions(
    dataset: Annotated[str, typer.Argument(help="Its name where only one has it, or namespace/name, or its key.")],
    *,
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """List versions of a dataset, the latest first, and which run or micro-batch produced each."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        page = ask.versions(reader, dataset, limit=limit, cursor=cursor)
    console.result(document(page), show.versions(page))
    console.message(counted(page.total, len(page.items), "version", page.next_cursor))


@app.command("last-good")
def last_good(
    of: OfArgument,
    *,
    kind: KindOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show the last good run and the first bad one after it, by state and by quality assertions."""
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        job, dataset = _named(reader, of, kind)
        turn = ask.last_good(reader, job=job, dataset=dataset)
    console.result(document(turn), show.turn(turn))


def _named(reader: Reader, of: str, kind: AssetKind | None) -> tuple[str | None, str | None]:
    """Key or name of a job, and of a dataset, one of which is None."""
    if kind is AssetKind.COLUMN:
        raise typer.BadParameter("--kind is JOB or DATASET: columns have no runs of their own")
    if kind is not None:
        return (of, None) if kind is AssetKind.JOB else (None, of)
    asset = reader.read(lambda tx: ask.resolve_either(tx, of))
    return (asset.key, None) if asset.kind is AssetKind.JOB else (None, asset.key)
