"""`headwater runs`: runs of jobs and datasets, their inputs and outputs, micro-batches, versions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from headwater import errors
from headwater.console import shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.remote import names as remote
from headwater.show import batches as show_batches
from headwater.show import runs as show
from headwater.show.pages import counted
from headwater.times import time_if_given
from headwater.trace_options import parse_duration
from headwater_analysis import runs as questions
from headwater_analysis.assets import AssetKind
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.known import KnownKind, NamedNode, RunList, estate_runs, named
from headwater_analysis.reader import Reader
from headwater_analysis.runs import IntervalPage, OpenRunPage, Role, RunDetails, RunPage, Turn, UsePage, VersionPage
from headwater_schemas.events import RunEventType

if TYPE_CHECKING:
    from headwater.remote.server import Server

app = typer.Typer(help="List runs of a job or dataset, their micro-batches, and versions.", no_args_is_help=True)
app.callback()(lambda: None)

OfArgument = Annotated[
    str, typer.Argument(metavar="JOB|DATASET", help="A name if it is unique, or namespace/name, or a key.")
]
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run, or its beginning.")]
KindOption = Annotated[
    AssetKind | None, typer.Option("--kind", case_sensitive=False, help="JOB or DATASET, if both have this name.")
]


@app.command("list")
@graph_command(page=20)
def list_(
    ask: Ask,
    of: Annotated[
        str | None,
        typer.Argument(
            metavar="[JOB|DATASET]", help="A name if it is unique, or namespace/name, or a key. Default: all jobs."
        ),
    ] = None,
    *,
    open_: Annotated[
        bool, typer.Option("--open", help="Runs without an end, of all jobs or of one. The longest unseen first.")
    ] = False,
    older_than: Annotated[
        str | None, typer.Option(help="With --open: only runs that weren't seen for this time, 90s, 10m, 3h, 2d.")
    ] = None,
    kind: KindOption = None,
    read: Annotated[
        bool, typer.Option("--read", help="For a dataset: runs that read it, instead of runs that wrote it.")
    ] = False,
    state: Annotated[
        list[RunEventType] | None, typer.Option(case_sensitive=False, help="Only runs in this state. Repeatable.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Only runs that began at this time or later: 1h (ago), yesterday."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only runs that began before this time.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help=f"Only runs of this context: {', '.join(questions.CONTEXT_NAMES)}. Repeatable."
        ),
    ] = None,
    period: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only runs for a period (data interval) that contains this time.")
    ] = None,
    statement: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only runs whose SQL statement has this text.")
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="Only runs that rejected rows.")] = False,
) -> Shown:
    """List the runs of a job, or the runs that wrote a dataset, the latest first; with --open, runs without an end.

    Without a job, the time when a run was last seen decides its position, and is compared with --since and --until.

    headwater runs list --state FAIL --since 1d

    headwater runs list daily_report --where branch=main --period 2026-11-23

    headwater runs list --open --older-than 1h
    """
    only = questions.RunFilter(
        where=tuple(where or ()), period=time_if_given(period), statement=statement, rejected=rejected
    )
    if open_:
        is_narrowed = read or state or since or until or only != questions.RunFilter()
        if is_narrowed or kind not in (None, AssetKind.JOB):
            raise typer.BadParameter("--open allows only a job, --older-than, --limit and --cursor.")
        return _list_open(ask, of, older_than)
    if older_than is not None:
        raise typer.BadParameter("--older-than goes with --open.")
    if of is None and (read or kind is not None):
        raise typer.BadParameter("--read and --kind go with a name.")
    common: dict[str, Any] = {
        "states": state or None,
        "since": time_if_given(since),
        "until": time_if_given(until),
        "only": only,
        **ask.page,
    }

    role = Role.READ if read else Role.WROTE

    def question(reader: Reader) -> RunPage | RunList:
        if of is None:
            return estate_runs(reader, **common)
        job, dataset = _named(partial(named, reader), of, kind)
        return questions.runs(reader, job=job, dataset=dataset, role=role, **common)

    def at_server(server: Server) -> RunPage | RunList:
        given = {
            "state": state,
            "since": common["since"],
            "until": common["until"],
            "where": where,
            "period": only.period,
            "statement": statement,
            "rejected": rejected,
            **ask.page,
        }
        if of is None:
            return server.get(("runs",), RunList, given)
        job, dataset = _named(partial(remote.named, server), of, kind)
        if job is not None:
            return server.get(("jobs", job, "runs"), RunPage, given)
        return server.get(("assets", str(dataset), "runs"), RunPage, {**given, "role": role})

    page = ask(question, at_server)
    return _shown(page, show.table(page.items), "run")


def _list_open(ask: Ask, job: str | None, older_than: str | None) -> Shown:
    now, age = datetime.now(UTC), parse_duration(older_than)
    before = None if age is None else now - age
    page = ask(
        lambda reader: questions.open_runs(reader, job=job, before=before, **ask.page),
        lambda server: server.get(("open-runs",), OpenRunPage, {"job": job, "before": before, **ask.page}),
    )
    return _shown(page, show.open_table(page.items, now), "open run")


@app.command("show")
@graph_command()
def show_(
    ask: Ask,
    run: RunArgument,
) -> Shown:
    """Show all known facts on one run."""
    details = ask(lambda reader: questions.run(reader, run), lambda server: server.get(("runs", run), RunDetails))
    return Shown(details, show.details(details))


@app.command()
@graph_command(page=100)
def inputs(
    ask: Ask,
    run: RunArgument,
) -> Shown:
    """List the datasets that a run read, and which part of each.

    For a streaming run, each part spans from the start of its first micro-batch to the end of its last one.
    """
    return _uses(ask, run, Role.READ, "input")


@app.command()
@graph_command(page=100)
def outputs(
    ask: Ask,
    run: RunArgument,
) -> Shown:
    """List the datasets that a run wrote, and which part of each.

    For a streaming run, each part spans from the start of its first micro-batch to the end of its last one.
    """
    return _uses(ask, run, Role.WROTE, "output")


def _uses(ask: Ask, run: str, role: Role, what: str) -> Shown:
    page = ask(
        lambda reader: questions.uses(reader, run, role, **ask.page),
        lambda server: server.get(("runs", run, f"{what}s"), UsePage, ask.page),
    )
    return _shown(page, show_batches.uses(page.items), what)


@app.command()
@graph_command(page=20)
def intervals(
    ask: Ask,
    of: Annotated[
        str,
        typer.Argument(
            metavar="RUN|JOB", help="A run's id, or the beginning of it; or a job, by name, namespace/name or key."
        ),
    ],
    *,
    job: Annotated[bool, typer.Option("--job", help="The argument is a job, even if a run has this id.")] = False,
    from_batch: Annotated[int, typer.Option("--from", min=0, max=2**63 - 1, help="The first batch to show.")] = 0,
) -> Shown:
    """List micro-batches in batch order, with gaps, overlaps, quality, and the offsets that each read.

    For a job: micro-batches of all its runs, and micro-batches that were reconciled from a checkpoint.
    """
    subject: dict[str, Any] = {"job": of} if job else {"of": of}

    def at_server(server: Server) -> IntervalPage:
        given = {"from_batch": from_batch, **ask.page}
        if not job:
            with contextlib.suppress(NotFoundError):
                return server.get(("runs", of, "intervals"), IntervalPage, given)
        return server.get(("jobs", of, "intervals"), IntervalPage, given)

    page = ask(
        lambda reader: questions.intervals(reader, **subject, from_batch=from_batch, **ask.page),
        at_server,
    )
    shown = _shown(page, show_batches.table(page.items), "micro-batch", plural="micro-batches")
    if not page.summarized:
        return shown
    more = f"{page.summarized:,} more are no longer kept one by one: see `headwater retention list`."
    return replace(shown, summary=f"{shown.summary} {more}")


@app.command()
@graph_command(page=20)
def versions(
    ask: Ask,
    dataset: Annotated[str, typer.Argument(help="A name if it is unique, or namespace/name, or a key.")],
) -> Shown:
    """List versions of a dataset, the latest first, and which run or micro-batch produced each."""
    page = ask(
        lambda reader: questions.versions(reader, dataset, **ask.page),
        lambda server: server.get(("assets", dataset, "versions"), VersionPage, ask.page),
    )
    return _shown(page, show.versions(page.items), "version")


@app.command("last-good")
@graph_command()
def last_good(
    ask: Ask,
    of: OfArgument,
    *,
    kind: KindOption = None,
) -> Shown:
    """Show the last good run and the first bad one after it, by state and by quality assertions."""

    def question(reader: Reader) -> Turn:
        job, dataset = _named(partial(named, reader), of, kind)
        return questions.last_good(reader, job=job, dataset=dataset)

    def at_server(server: Server) -> Turn:
        job, dataset = _named(partial(remote.named, server), of, kind)
        named = ("assets", str(dataset)) if job is None else ("jobs", job)
        return server.get((*named, "last-good"), Turn)

    turn = ask(question, at_server)
    return Shown(turn, show.turn(turn))


def _shown(
    page: RunPage | RunList | OpenRunPage | UsePage | IntervalPage | VersionPage,
    view: RenderableType,
    what: str,
    *,
    plural: str = "",
) -> Shown:
    """Show a page, with its count below."""
    return Shown(page, view, counted(page.total, len(page.items), what, page.next_cursor, plural=plural))


def _named(
    find: Callable[[str, Sequence[KnownKind]], NamedNode], of: str, kind: AssetKind | None
) -> tuple[str | None, str | None]:
    """Return the key or name of a job and of a dataset; one of the two is None."""
    if kind is AssetKind.COLUMN:
        raise typer.BadParameter("--kind is JOB or DATASET: columns have no runs of their own")
    if kind is not None:
        return (of, None) if kind is AssetKind.JOB else (None, of)
    try:
        asset = find(of, (KnownKind.JOB, KnownKind.DATASET))
    except AmbiguousError as error:
        if {name.partition(" ")[0] for name in error.candidates} != {"job", "dataset"}:
            raise
        fix = "Choose with --kind job or --kind dataset, or give a key:"
        keys = [name.partition(" ")[2] for name in error.candidates]
        raise errors.InputError(shortened(str(error), 600), fix=fix, nearest=keys) from error
    return (asset.key, None) if asset.kind is KnownKind.JOB else (None, asset.key)
