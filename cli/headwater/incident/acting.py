"""Actions of commands on incidents: publish an action, and wait until the graph has it.

Ctrl-C ends the waiting, and leaves the reach unrecorded: the action is on the topic already, and consumers will apply
it.
"""

from __future__ import annotations

import contextlib
import getpass
import inspect
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from inspect import Parameter
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from headwater.console import JsonOption, console, shortened
from headwater.errors import InputError, UnreachableError
from headwater.graph_command import document
from headwater.graph_reader import answer_of, in_words
from headwater.incident import views
from headwater.incident.parts import PART_OPTIONS, given_parts, part_fault
from headwater.lean_imports import without
from headwater.options import TenantOption
from headwater.publishing import publish
from headwater.remote.choice import chosen_server
from headwater.settings import Settings, connected_settings
from headwater.trace_options import arrived
from headwater_schemas.events import IncidentAction, LineageEvent

with without("numpy", "pandas"):
    from headwater_analysis.errors import AnalysisError, NotFoundError, QuestionError
    from headwater_analysis.incidents.actions import (
        GivenAction,
        GivenOpening,
        Prepared,
        PublishedAction,
        action,
        action_of,
    )
    from headwater_analysis.incidents.answers import Incident
    from headwater_analysis.incidents.questions import incident
    from headwater_analysis.incidents.recording import is_changed, reach_record, with_action
    from headwater_analysis.reader import Reader

if TYPE_CHECKING:
    from headwater.remote.server import Server

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """An action that is to be published, by this command or by a server.

    Attributes:
        kind: the action.
        path: path of the server's operation.
        body: its body.
        prepare: builds the action, after a check against the graph.
        dry_run: whether to print the event, and publish nothing.
        records: whether to record the incident's reach if the action changes it.
        shows: whether to print the whole incident with its reach.
    """

    kind: IncidentAction
    path: tuple[str, ...]
    body: GivenOpening | GivenAction
    prepare: Callable[[Reader], Prepared]
    dry_run: bool = False
    records: bool = True
    shows: bool = False


def act(run: ActionRun, incident_id: str, given: GivenAction) -> None:
    """Publish an action on an existing incident, wait for it, and print the incident's new state.

    Raises:
        HeadwaterError: see `perform`.
    """
    deed = Deed(
        kind=given.action,
        path=("incidents", incident_id, "actions"),
        body=given,
        prepare=lambda reader: action(
            reader, incident_id, given, by=run.actor, now=datetime.now(UTC), arrivals=arrived
        ),
    )
    perform(run, deed)


def perform(run: ActionRun, deed: Deed) -> None:
    """Publish an action, wait until the graph has it, record a changed reach, and print the result.

    If questions go to a server, it publishes the action, and records the reach.

    Raises:
        HeadwaterError: see `headwater.errors`; UnreachableError: the graph doesn't get the action in time.
    """
    if chosen_server(run.tenant) is None:
        # Both servers are reported in one line, and a missing setting before anything is asked.
        connected_settings({"analysis.tenant": run.tenant}, kafka=not deed.dry_run, neo4j=True)
    found = answer_of(
        lambda reader: _published_here(run, deed, reader),
        lambda server: _published_there(run, deed, server),
        tenant=run.tenant,
    )
    if found.answer is not None:
        console.result(document(found.answer, found.graph), _view(found.answer, with_reach=deed.shows))


def _published_here(run: ActionRun, deed: Deed, reader: Reader) -> Acted | None:
    """Publish an action; None: it was only printed."""
    with in_words(_part_words):
        prepared = deed.prepare(reader)
    if deed.dry_run:
        console.result(msgspec.to_builtins(prepared.event))
        return None
    settings = connected_settings({"analysis.tenant": run.tenant}, kafka=True)
    _warn_of(prepared.left)
    publish(settings, prepared.events)
    if not run.wait_seconds:
        return _acted(deed, prepared.published, None)
    found = [waited(reader, event, run.wait_seconds) for event in prepared.events][-1]
    if deed.records and prepared.reached is not None:
        recorded = _recorded(settings, reader, prepared.reached, run, detailed=deed.shows)
        found = recorded if deed.shows and recorded is not None else found
    return _acted(deed, prepared.published, found)


def _published_there(run: ActionRun, deed: Deed, server: Server) -> Acted:
    """Have a server publish an action.

    Raises:
        InputError: an option works only with a database.
    """
    ours = (("--dry-run", deed.dry_run), ("--no-reach", not deed.records), ("--by", run.by is not None))
    for option in (name for name, is_given in ours if is_given):
        raise InputError(f"{option} works only with a database, and this action goes to a server.")
    with in_words(_part_words):
        published = server.post(deed.path, PublishedAction, deed.body)
    _warn_of(published.left or "")
    if not run.wait_seconds:
        return _acted(deed, published, None)
    found = _until(lambda: _of_server(server, published, deed.kind), published.incident, deed.kind, run.wait_seconds)
    return _acted(deed, published, server.get(("incidents", published.incident), Incident) if deed.shows else found)


def _of_server(server: Server, published: PublishedAction, kind: IncidentAction) -> Incident | None:
    """Return an incident without its reach, once the server's graph has an action on it."""
    # A server that is busy, or just away, has the action nevertheless.
    with contextlib.suppress(NotFoundError, UnreachableError):
        found = server.get(("incidents", published.incident), Incident, {"reach": False})
        return found if found.has_action(kind, published.at) else None
    return None


def _part_words(error: QuestionError) -> str:
    return shortened(part_fault(error), 600)


def _warn_of(left: str) -> None:
    if left:
        console.warning(shortened(left, 600))


def _acted(deed: Deed, published: PublishedAction, found: Incident | None) -> Acted:
    return Acted(
        incident=published.incident,
        action=deed.kind,
        event_id=published.event_id,
        was_open=published.was_open if deed.kind is IncidentAction.OPENED else None,
        in_graph=found is not None,
        details=found,
    )


def _view(acted: Acted, *, with_reach: bool) -> RenderableType:
    name = shortened(acted.incident)
    if acted.was_open is not None:
        first = f"Added to {name}, which is open for the same cause or parts." if acted.was_open else f"Opened {name}."
    else:
        first = f"{name}: {views.action_words(acted.action)}."
    if acted.details is None:
        return Text(f"{first} The action is on the topic; the command didn't wait until the graph had it.")
    if with_reach:
        return Group(Text(first), Text(), views.incident_view(acted.details))
    return Text(f"{first} It is {views.status_words(acted.details.brief)} now.")


def waited(reader: Reader, event: LineageEvent, seconds: float) -> Incident:
    """Wait until the graph has an action, and return the incident without its reach.

    Args:
        event: event of the published action.
        seconds: maximum time to wait.

    Raises:
        UnreachableError: the graph doesn't have the action in time.
    """
    body = action_of(event)
    return _until(lambda: with_action(reader, event), body.incident, body.action, seconds)


def _until(look: Callable[[], Incident | None], incident_id: str, kind: IncidentAction, seconds: float) -> Incident:
    ends = time.monotonic() + seconds
    while (found := look()) is None:
        if time.monotonic() > ends:
            raise UnreachableError(
                f"The action {kind} of {shortened(incident_id)} is on the topic, but after {seconds:g} s it isn't in "
                "the graph.",
                fix="Start a consumer with `headwater consume`; nothing has to be sent again.",
            )
        time.sleep(_POLL_SECONDS)
    return found


def _recorded(
    settings: Settings, reader: Reader, incident_id: str, run: ActionRun, *, detailed: bool
) -> Incident | None:
    """Record the reach; None: it can't be computed, which the action before doesn't fail for."""
    try:
        return record_reach(settings, reader, incident_id, run, detailed=detailed)
    except AnalysisError as error:
        console.warning(
            f"The reach of {shortened(incident_id)} isn't recorded: {shortened(str(error), 600)} "
            "`headwater incident refresh` records it."
        )
        return None


def record_reach(
    settings: Settings, reader: Reader, incident_id: str, run: ActionRun, *, detailed: bool = True
) -> Incident:
    """Compute the reach of an incident, publish it if it changed, and return the incident once the graph has it.

    Args:
        detailed: whether the answer has owners and what else a record lacks.

    Raises:
        HeadwaterError: see `perform`.
    """
    found = incident(reader, incident_id, with_owners=detailed, detailed=detailed, arrivals=arrived)
    if not is_changed(found):
        return found
    event = reach_record(reader, found, by=run.actor)
    publish(settings, [event])
    if not run.wait_seconds:
        return found
    return replace(waited(reader, event, run.wait_seconds), reach=found.reach)
