"""Actions of commands on incidents: publish an action, and wait until the graph has it.

Ctrl-C ends only the waiting: the action is on the topic already, and consumers will apply it.
"""

from __future__ import annotations

import getpass
import inspect
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import Parameter
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from headwater.console import JsonOption, console, shortened
from headwater.errors import UnreachableError
from headwater.graph_command import document
from headwater.graph_reader import asking, in_words
from headwater.incident import views
from headwater.incident.parts import PART_OPTIONS, given_parts, part_fault
from headwater.lean_imports import without
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.settings import Settings, connected_settings
from headwater.trace_options import arrived
from headwater_schemas.events import IncidentAction, IncidentEvent, LineageEvent
from headwater_schemas.events.build import lineage_event

with without("numpy", "pandas"):
    from headwater_analysis.errors import NotFoundError
    from headwater_analysis.incidents.actions import PRODUCER, GivenAction, Prepared, action
    from headwater_analysis.incidents.answers import Incident
    from headwater_analysis.incidents.questions import incident
    from headwater_analysis.incidents.recorded import reached_event
    from headwater_analysis.reader import Reader

WAIT_SECONDS: Final = 300.0
_POLL_SECONDS: Final = 0.25

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Id of the incident, or the beginning of it.", show_default=False)
]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Reason of the action.", show_default=False)]
ByOption = Annotated[
    str | None, typer.Option("--by", help="Person or program that acts. Default: the user.", show_default=False)
]
WaitOption = Annotated[
    float, typer.Option("--wait", min=0.0, help="Seconds to wait until the graph has the action; 0: don't wait.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """Document of an action.

    Attributes:
        incident: id of the incident.
        action: the action.
        event_id: id of the event on the topic.
        was_open: for an opening: whether the parts were added to an open incident of the same cause; None: another
            action.
        in_graph: whether the graph has the action; false: the command didn't wait for it.
        details: the incident after the action; None: the command didn't wait for it.
    """

    incident: str
    action: IncidentAction
    event_id: str
    was_open: bool | None
    in_graph: bool
    details: Incident | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRun:
    """Options that all actions share.

    Attributes:
        tenant: `--tenant`.
        by: `--by`.
        wait_seconds: `--wait`.
    """

    tenant: str | None
    by: str | None
    wait_seconds: float

    @property
    def actor(self) -> str:
        """Person or program that acts: `--by`, else the user's name in $USER or in the system, else the user's id."""
        if name := self.by or os.environ.get("USER"):
            return name
        try:
            return getpass.getuser()
        except (KeyError, OSError):
            return str(os.getuid())


_RUN_OPTIONS: Final = tuple(
    Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, annotation, default in (
        ("by", ByOption, None),
        ("wait", WaitOption, WAIT_SECONDS),
        ("tenant", TenantOption, None),
        ("json_output", JsonOption, False),
    )
)


def action_command(function: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a command that acts on incidents: passes `run`, and `parts` if the function has this parameter.

        @action_command
        def command(run: ActionRun, incident: …, *, parts: tuple[GivenPart, ...], reason: … = None) -> None: …

    Typer gets the function without these two, with the options of a part and of `ActionRun` added.
    """
    signature = inspect.signature(function, eval_str=True)
    part_options = PART_OPTIONS if "parts" in signature.parameters else ()

    def command(**given: Any) -> None:
        tenant, by, wait, _ = (given.pop(name) for name in ("tenant", "by", "wait", "json_output"))
        if part_options:
            given["parts"] = given_parts(**{each.name: given.pop(each.name) for each in part_options})
        function(ActionRun(tenant=tenant, by=by, wait_seconds=wait), **given)

    own = [each for each in signature.parameters.values() if each.name not in ("run", "parts")]
    arguments = [each for each in own if each.kind is not Parameter.KEYWORD_ONLY]
    options = [each for each in own if each.kind is Parameter.KEYWORD_ONLY]
    parameters = [*arguments, *part_options, *options, *_RUN_OPTIONS]
    # Attributes of a function that Typer reads.
    command.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__, command.__name__ = function.__doc__, function.__name__
    return command


def act(run: ActionRun, incident_id: str, given: GivenAction) -> None:
    """Publish an action on an existing incident, wait for it, and print the incident's new state.

    Raises:
        HeadwaterError: see `perform`.
    """
    perform(
        run,
        lambda reader: action(reader, incident_id, given, by=run.actor, now=datetime.now(UTC), arrivals=arrived),
    )


def perform(
    run: ActionRun,
    prepare: Callable[[Reader], Prepared],
    *,
    dry_run: bool = False,
    with_reach: bool = False,
) -> None:
    """Publish an action, wait until the graph has it, and print the result.

    Args:
        prepare: builds the action, after a check against the graph.
        dry_run: whether to print the event, and publish nothing.
        with_reach: whether to compute and record the incident's reach afterwards.

    Raises:
        HeadwaterError: see `headwater.errors`; UnreachableError: the graph doesn't get the action in time.
    """
    settings = connected_settings({"analysis.tenant": run.tenant}, kafka=not dry_run, neo4j=True)
    with asking(tenant=run.tenant) as reader, in_words(lambda error: shortened(part_fault(error), 600)):
        prepared = prepare(reader)
        if dry_run:
            console.result(msgspec.to_builtins(prepared.event))
            return
        if prepared.left:
            console.warning(shortened(prepared.left, 600))
        publish(settings, prepared.events)
        found = None
        if run.wait_seconds:
            found = waited(reader, prepared.incident, prepared.event, run.wait_seconds)
            if with_reach:
                found = record_reach(settings, reader, prepared.incident, run)
        body = _body(prepared.event)
        acted = Acted(
            incident=prepared.incident,
            action=body.action,
            event_id=prepared.event.event_id,
            was_open=prepared.was_open if body.action is IncidentAction.OPENED else None,
            in_graph=found is not None,
            details=found,
        )
        console.result(document(acted, reader.freshness), _view(acted, with_reach=with_reach))


def _view(acted: Acted, *, with_reach: bool) -> RenderableType:
    name = shortened(acted.incident)
    if acted.was_open is not None:
        first = f"Added to {name}, which is open for the same cause." if acted.was_open else f"Opened {name}."
    else:
        first = f"{name}: {views.action_words(acted.action)}."
    if acted.details is None:
        return Text(f"{first} The action is on the topic; the command didn't wait until the graph had it.")
    if with_reach:
        return Group(Text(first), Text(), views.incident_view(acted.details))
    return Text(f"{first} It is {views.status_words(acted.details.brief)} now.")


def _body(event: LineageEvent) -> IncidentEvent:
    if event.incident_event is None:
        raise TypeError("an action on an incident is published, and this event has none")
    return event.incident_event


def waited(reader: Reader, incident_id: str, event: LineageEvent, seconds: float) -> Incident:
    """Wait until the graph has an action, and return the incident without its reach.

    Args:
        incident_id: complete id of the incident.
        event: event of the published action.
        seconds: maximum time to wait.

    Raises:
        UnreachableError: the graph doesn't have the action in time.
    """
    ends = time.monotonic() + seconds
    wanted = _body(event).action
    while True:
        try:
            found = incident(reader, incident_id, with_reach=False)
        except NotFoundError:
            found = None
        if found is not None and any(each.at == event.event_time and each.action is wanted for each in found.history):
            return found
        if time.monotonic() > ends:
            raise UnreachableError(
                f"The action {wanted} of {shortened(incident_id)} is on the topic, but after {seconds:g} s it isn't in "
                "the graph.",
                fix="Start a consumer with `headwater consume`; nothing has to be sent again.",
            )
        time.sleep(_POLL_SECONDS)


def record_reach(settings: Settings, reader: Reader, incident_id: str, run: ActionRun) -> Incident:
    """Compute the reach of an incident, publish it, and return the incident once the graph has this record.

    Raises:
        HeadwaterError: see `perform`.
    """
    found = incident(reader, incident_id, arrivals=arrived)
    event = reach_record(reader, found, by=run.actor)
    publish(settings, [event])
    if not run.wait_seconds:
        return found
    later = waited(reader, found.brief.incident, event, run.wait_seconds)
    return replace(later, reach=found.reach)


def reach_record(reader: Reader, found: Incident, *, by: str) -> LineageEvent:
    """Build the event that records the reach of an incident.

    Raises:
        ValueError: the answer has no reach.
    """
    body = reached_event(found.brief.incident, found.asked_reach, by=by)
    return lineage_event(body, producer=PRODUCER, event_time=datetime.now(UTC), tenant=reader.tenant)
