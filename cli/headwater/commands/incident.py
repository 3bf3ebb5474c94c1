"""`headwater incident`: incidents of bad data, from opening to resolution."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.text import Text

from headwater.console import JsonOption, console, shortened
from headwater.graph_command import Ask, Shown, document, graph_command
from headwater.graph_reader import in_words
from headwater.incident import views
from headwater.incident.acting import (
    WAIT_SECONDS,
    ActionRun,
    Deed,
    IdArgument,
    ReasonOption,
    WaitOption,
    act,
    action_command,
    perform,
)
from headwater.incident.detecting import BY, LOOK_BACK, detection_lines, run_detection
from headwater.incident.figures import figures_summary, figures_table
from headwater.incident.notifying import check, notify, summary
from headwater.incident.notifying import lines as notification_lines
from headwater.incident.planning import plan_summary, plan_view
from headwater.incident.refreshing import lines, refresh
from headwater.lean_imports import without
from headwater.options import TenantOption, complete_dataset
from headwater.show.pages import FittedView, counted
from headwater.times import parse_time
from headwater.trace_options import arrived, parse_duration
from headwater_schemas.events import IncidentAction, IncidentResolution, IncidentSeverity, IncidentType

with without("numpy", "pandas"):
    from headwater_analysis.freshness import NOT_REPORTED
    from headwater_analysis.incidents import questions
    from headwater_analysis.incidents.actions import GivenAction, GivenOpening, opening
    from headwater_analysis.incidents.answers import GivenPart, Incident, IncidentPage
    from headwater_analysis.incidents.detection.fault_policy import (
        default_fault_policy,
        default_fault_policy_text,
        load_fault_policy,
    )
    from headwater_analysis.incidents.figures import PERIOD, IncidentFigures, incident_figures
    from headwater_analysis.incidents.planning.plan import plan
    from headwater_analysis.incidents.planning.planned import IncidentPlan

if TYPE_CHECKING:
    from headwater.remote.server import Server

app = typer.Typer(help="Incidents of bad data: open one, see its reach, and work on it.", no_args_is_help=True)

Stated = TypeVar("Stated", bound=StrEnum)

SeverityOption = Annotated[
    IncidentSeverity | None,
    typer.Option("--severity", case_sensitive=False, help="SEV1 is the worst.", show_default=False),
]
TypeOption = Annotated[
    IncidentType | None, typer.Option("--type", case_sensitive=False, help="Type of fault.", show_default=False)
]
TitleOption = Annotated[str | None, typer.Option("--title", help="A new title.", show_default=False)]
DescriptionOption = Annotated[
    str | None, typer.Option("--description", help="Text for people; replaces the earlier text.", show_default=False)
]
EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="TIME",
        help="Repeat until Ctrl-C, with this pause between rounds: 60s, 5m.",
        show_default=False,
    ),
]
IntoArgument = Annotated[
    str, typer.Argument(metavar="INTO", help="Id of the incident that stays open.", show_default=False)
]
NeededReason = Annotated[str, typer.Option("--reason", help="Reason of the action.", show_default=False)]


@app.command("open")
@action_command
def open_(
    run: ActionRun,
    title: Annotated[str, typer.Argument(help="One line for people.", show_default=False)],
    *,
    parts: tuple[GivenPart, ...],
    severity: SeverityOption = None,
    type_: TypeOption = None,
    cause: Annotated[
        str | None,
        typer.Option(
            help="Text that names the cause. Only one incident is open for each cause. Default: the given parts.",
            show_default=False,
        ),
    ] = None,
    description: Annotated[str | None, typer.Option(help="Text for people.", show_default=False)] = None,
    reason: ReasonOption = None,
    no_reach: Annotated[bool, typer.Option("--no-reach", help="Don't record the reach of the incident.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the event, and publish nothing.")] = False,
) -> None:
    """Open an incident of bad data, record its reach, and show the incident.

    If an incident of the same cause is open, the parts are added to it. Ctrl-C ends only the waiting.

    headwater incident open "Negative delays" --dataset flights.departed --offsets 0:120..130 --severity sev2

    headwater incident open "Bad join" --query enrich --batches 12..15    # 12, 13 and 14
    """
    given = GivenOpening(
        title=title,
        scope=parts,
        severity=_stated(severity, "--severity"),
        type=_stated(type_, "--type"),
        cause=cause,
        description=description,
        reason=reason,
    )
    deed = Deed(
        kind=IncidentAction.OPENED,
        path=("incidents",),
        body=given,
        prepare=lambda reader: opening(reader, given, by=run.actor, now=datetime.now(UTC)),
        dry_run=dry_run,
        records=not no_reach,
        shows=not no_reach,
    )
    perform(run, deed)


@app.command("list")
@graph_command(page=50)
def list_(
    ask: Ask,
    *,
    everything: Annotated[bool, typer.Option("--all", help="List resolved incidents, too.")] = False,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Only incidents whose scope has this dataset, or whose latest recorded reach includes it.",
            autocompletion=complete_dataset,
            show_default=False,
        ),
    ] = None,
    severity: Annotated[
        list[IncidentSeverity] | None,
        typer.Option(
            "--severity", case_sensitive=False, help="Only incidents of this severity. Repeatable.", show_default=False
        ),
    ] = None,
) -> Shown:
    """List open incidents, the latest opened first, each with its latest recorded reach."""
    severities = tuple(severity or ())

    def at_server(server: Server) -> IncidentPage:
        given = {"all": everything, "dataset": dataset, "severity": severities}
        return server.get(("incidents",), IncidentPage, {**given, "limit": ask.limit, "cursor": ask.cursor})

    found = ask(
        lambda reader: questions.incidents(
            reader,
            everything=everything,
            dataset=dataset,
            severities=severities,
            limit=ask.limit,
            cursor=ask.cursor,
        ),
        at_server,
    )
    what = "incident" if everything else "open incident"
    summary = counted(found.total, len(found.items), what, found.next_cursor)
    return Shown(found, FittedView(views.incidents_table(found)), summary)


@app.command("figures")
@graph_command()
def figures(
    ask: Ask,
    *,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Length of the period until now, whose openings, acknowledgements and resolutions count: 30d, 12h.",
        ),
    ] = "90d",
) -> Shown:
    """Count open incidents by severity and age, and show the time to acknowledge and resolve incidents.

    The times are those of all incidents that were acknowledged or resolved in the period, also of incidents that aren't
    open any more.
    """
    period = parse_duration(since) or PERIOD
    found = ask(
        lambda reader: incident_figures(reader, period=period),
        lambda server: server.get(("incident-figures",), IncidentFigures, {"period": period}),
    )
    return Shown(found, FittedView(figures_table(found)), figures_summary(found))


@app.command("show")
@graph_command(steps=1_000)
def show(
    ask: Ask,
    incident: IdArgument,
    *,
    no_reach: Annotated[
        bool,
        typer.Option(
            "--no-reach", help="Don't compute the current reach from the graph; show only the latest recorded reach."
        ),
    ] = False,
) -> Shown:
    """Show an incident: its scope, its reach now, consumers of bad data, unknown facts, and all actions."""
    found = ask(
        lambda reader: questions.incident(reader, incident, with_reach=not no_reach, limit=ask.limit, arrivals=arrived),
        lambda server: server.get(("incidents", incident), Incident, {"reach": not no_reach, "limit": ask.limit}),
    )
    notes = () if found.reach is None else found.reach.blast.notes
    return Shown(found, views.incident_view(found), views.reach_summary(found), notes)


@app.command("plan")
@graph_command(steps=1_000)
def plan_(ask: Ask, incident: IdArgument) -> Shown:
    """Plan the repair of an incident: what to correct, run again, declare and report, in order, with the commands.

    A step disappears from the plan when a rerun has replaced its bad data.
    """
    found = ask(
        lambda reader: plan(reader, incident, limit=ask.limit, arrivals=arrived),
        lambda server: server.get(("incidents", incident, "plan"), IncidentPlan, {"limit": ask.limit}),
    )
    return Shown(found, plan_view(found), plan_summary(found), tuple(shortened(note, 600) for note in found.notes))


@app.command()
@action_command
def ack(run: ActionRun, incident: IdArgument, *, reason: ReasonOption = None) -> None:
    """Acknowledge an incident: somebody looks at it."""
    act(run, incident, GivenAction(action=IncidentAction.ACKNOWLEDGED, reason=reason))


@app.command()
@action_command
def assign(
    run: ActionRun,
    incident: IdArgument,
    who: Annotated[str, typer.Argument(help="Person or team.", show_default=False)],
    *,
    reason: ReasonOption = None,
) -> None:
    """Assign an incident to a person or team."""
    act(run, incident, GivenAction(action=IncidentAction.ASSIGNED, assignee=who, reason=reason))


@app.command()
@action_command
def scope(
    run: ActionRun,
    incident: IdArgument,
    *,
    parts: tuple[GivenPart, ...],
    remove: Annotated[bool, typer.Option("--remove/--add", help="Remove the part from the scope, or add it.")] = False,
    reason: ReasonOption = None,
) -> None:
    """Add a part with bad data to the scope of an incident, or remove a part, or some data of one, from it.

    headwater incident scope INC-1a2b3c4d5e --add --dataset flights.departed --offsets 1:80..90
    """
    added, removed = ((), parts) if remove else (parts, ())
    given = GivenAction(action=IncidentAction.SCOPE_CHANGED, scope=added, removed=removed, reason=reason)
    act(run, incident, given)


@app.command()
@action_command
def repair(run: ActionRun, incident: IdArgument, *, parts: tuple[GivenPart, ...], reason: NeededReason) -> None:
    """Declare a part repaired: data that was written to the part before now isn't bad any more.

    Data that was derived from the part earlier stays bad until it is written again, or declared repaired separately.

    headwater incident repair INC-1a2b3c4d5e --dataset delays --partition day=2025-01-31 --reason "Ran again."
    """
    act(run, incident, GivenAction(action=IncidentAction.REPAIRED, scope=parts, reason=reason))


@app.command()
@action_command
def resolve(
    run: ActionRun,
    incident: IdArgument,
    resolution: Annotated[IncidentResolution, typer.Argument(case_sensitive=False, help="The result.")],
    *,
    reason: NeededReason,
    force: Annotated[
        bool, typer.Option("--force", help="Resolve as repaired although bad data is left, or possibly left.")
    ] = False,
) -> None:
    """Resolve an incident, after a check for bad data that is left.

    headwater incident resolve INC-1a2b3c4d5e repaired --reason "All partitions were written again."
    """
    result = _stated(resolution, "RESOLUTION")
    given = GivenAction(action=IncidentAction.RESOLVED, resolution=result, reason=reason, force=force)
    act(run, incident, given)


@app.command()
@action_command
def reopen(run: ActionRun, incident: IdArgument, *, reason: ReasonOption = None) -> None:
    """Reopen a resolved incident."""
    act(run, incident, GivenAction(action=IncidentAction.REOPENED, reason=reason))


@app.command()
@action_command
def note(
    run: ActionRun,
    incident: IdArgument,
    text: Annotated[str | None, typer.Argument(help="A note for the history.", show_default=False)] = None,
    *,
    title: TitleOption = None,
    description: DescriptionOption = None,
    severity: SeverityOption = None,
    type_: TypeOption = None,
) -> None:
    """Add a note to the history, or change the title, description, severity or type."""
    given = GivenAction(
        action=IncidentAction.NOTED,
        reason=text,
        title=title,
        description=description,
        severity=_stated(severity, "--severity"),
        type=_stated(type_, "--type"),
    )
    act(run, incident, given)


@app.command()
@action_command
def merge(run: ActionRun, incident: IdArgument, into: IntoArgument, *, reason: ReasonOption = None) -> None:
    """Merge an incident into another open incident of the same fault, which gets the parts of its scope."""
    act(run, incident, GivenAction(action=IncidentAction.MERGED, into=into, reason=reason))


@app.command()
@action_command
def supersede(run: ActionRun, incident: IdArgument, into: IntoArgument, *, reason: ReasonOption = None) -> None:
    """Replace an incident by another open incident, such as a better description, which gets the parts of its scope."""
    act(run, incident, GivenAction(action=IncidentAction.SUPERSEDED, into=into, reason=reason))


@app.command("refresh")
@action_command
def refresh_(
    run: ActionRun,
    incident: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Ids of incidents, or beginnings of ids. Default: all open incidents.",
            show_default=False,
        ),
    ] = None,
    *,
    every: EveryOption = None,
) -> None:
    """Record the current reach of incidents, if it changed, and print the changes.

    Other commands use these records to mark the datasets that open incidents reached.
    """
    pause = parse_duration(every)
    done = refresh(run, incident or (), pause)
    if pause is None:
        view = "\n".join(lines(done.items)) or "No incident is open."
    else:
        view = f"{done.recorded:,} records in {done.rounds:,} rounds."
    console.result(document(done, NOT_REPORTED), Text(view))


@app.command("notify")
@action_command
def notify_(
    run: ActionRun,
    channels: Annotated[
        Path, typer.Option("--channels", metavar="FILE", help="Channels of owners and consumers.", show_default=False)
    ],
    incident: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID]...",
            help="Ids of incidents, or beginnings of ids. Default: all open incidents, and those that were resolved "
            "since the last message.",
            show_default=False,
        ),
    ] = None,
    *,
    every: EveryOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the messages; send and record nothing.")] = False,
) -> None:
    """Notify owners and consumers of datasets that incidents reached, once per incident and change.

    Accepted messages are recorded. Exit status 5: a service refused a message, which the next round sends again.

    headwater incident notify --channels channels.toml --every 60s

    headwater incident notify INC-1a2b3c4d5e --channels channels.toml --dry-run
    """
    pause = parse_duration(every)
    done = notify(run, incident or (), channels, pause, dry_run=dry_run)
    found = notification_lines(done.items, with_text=dry_run) if pause is None else []
    console.result(document(done, NOT_REPORTED), Text("\n".join([*found, summary(done)])))
    check(done)


def _print_policy(value: bool) -> None:
    if value:
        console.raw(default_fault_policy_text())
        raise typer.Exit


@app.command("detect")
def detect_(
    *,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="Policy file (TOML) to use instead of Headwater's policy.", show_default=False),
    ] = None,
    print_policy: Annotated[
        bool,
        typer.Option("--print-policy", callback=_print_policy, is_eager=True, help="Print Headwater's policy."),
    ] = False,
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="TIME",
            help="Look-back: faults from before this time don't open incidents. A time, or 2h, 7d.",
        ),
    ] = LOOK_BACK,
    every: EveryOption = None,
    by: Annotated[str, typer.Option("--by", help="Person or program that acts.")] = BY,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show incidents that would open; publish nothing.")
    ] = False,
    wait: WaitOption = WAIT_SECONDS,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Look for data faults in the graph, and open incidents for the faults that a policy selects.

    Faults are failed assertions, broken chains of micro-batches, failed runs that had committed output, versions that
    no known run wrote, and late datasets. A fault that already has an incident, open or resolved, opens no other one.

    headwater incident detect --policy incidents.toml --every 60s
    """
    parse_time(since)
    pause = parse_duration(every)
    with in_words(str):
        chosen = default_fault_policy() if policy is None else load_fault_policy(policy)
    run = ActionRun(tenant=tenant, by=by, wait_seconds=wait)
    done = run_detection(run, chosen, since=since, pause=pause, dry_run=dry_run)
    if pause is None and done.latest is not None:
        view = "\n".join(detection_lines(done.latest, dry_run=dry_run))
    else:
        view = f"{done.opened:,} incidents opened, {done.extended:,} extended in {done.rounds:,} rounds."
    console.result(document(done, NOT_REPORTED), Text(view))


def _stated(value: Stated | None, option: str) -> Stated | None:
    if value is not None and value.value == "UNKNOWN":
        raise typer.BadParameter("UNKNOWN can't be stated: leave it out.", param_hint=option)
    return value
