"""Actions on incidents, sent over HTTP: the openings and actions that `headwater incident` publishes.

A request is answered 201 once all in-sync replicas of the events topic have the action. The graph has the action soon
after, and then the server records the reach if the action changed it. Otherwise the rules of declarations apply
(`routes.declarations`). Actions are accepted if declarations are (`HEADWATER_SERVE_DECLARE`), from senders with the
scope `incidents`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import Body
from fastapi import Request as HttpRequest
from pydantic import ConfigDict, Field, with_config
from starlette.responses import Response

from headwater_analysis.incidents.actions import (
    GivenAction,
    GivenOpening,
    Prepared,
    PublishedAction,
    action,
    opening,
)
from headwater_analysis.incidents.answers import GivenPart
from headwater_analysis.reader import Reader
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_schemas.events import (
    IncidentAction,
    IncidentClock,
    IncidentResolution,
    IncidentSeverity,
    IncidentType,
)
from headwater_schemas.ranges import MOST_OFFSET
from headwater_server.asking import Graph, area, note_body, sent
from headwater_server.documented import problem_responses
from headwater_server.identity import Scope, identity_of
from headwater_server.middleware.bodies import READ
from headwater_server.middleware.intake import ACTIONS, INCIDENTS
from headwater_server.parameters import LONGEST_NAME, AnyCase, Time
from headwater_server.problems import OF_IDENTITY, OF_SENDING, ProblemType, problem
from headwater_server.recording import ReachRecorder
from headwater_server.routes.incidents import IncidentId
from headwater_server.routes.intake import sent_events

_PROBLEMS = problem_responses(
    ProblemType.QUESTION,
    ProblemType.NOT_FOUND,
    ProblemType.AMBIGUOUS,
    *OF_IDENTITY,
    *OF_SENDING,
    ProblemType.GRAPH_UNREACHABLE,
    ProblemType.GRAPH_REFUSED,
    ProblemType.TIME_LIMIT,
)
_LONGEST_MESSAGE = 600
_MOST_PARTS = 1_000
_NOBODY = "api"
"""Actor of an action whose sender has no name."""

router = area("incidents", needs=Scope.INCIDENTS, responses=_PROBLEMS)

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
Words = Annotated[str, Field(max_length=65_536)]
Number = Annotated[int, Field(ge=0, le=MOST_OFFSET)]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class OffsetsBody(OffsetSpan):
    """Half-open range of offsets of one Kafka partition."""

    partition: Annotated[int, Field(ge=0, le=2**31 - 1)]
    start: Number
    end: Number


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class PartBody(GivenPart):
    """One part with bad data: exactly one of `dataset`, `job`, `run`, `query` and `consumer`, and narrowing fields.

    Attributes:
        run: id of a run, or the beginning of it.
        query: id or name of a streaming query.
    """

    dataset: Name | None = None
    job: Name | None = None
    run: Name | None = None
    query: Name | None = None
    consumer: Name | None = None
    column: Name | None = None
    partition: Name | None = None
    offsets: Annotated[tuple[OffsetsBody, ...], Field(max_length=_MOST_PARTS)] = ()
    files: Annotated[tuple[Name, ...], Field(max_length=_MOST_PARTS)] = ()
    version: Name | None = None
    code_version: Name | None = None
    from_batch: Number | None = None
    to_batch: Number | None = None
    since: Time | None = None
    until: Time | None = None
    clock: Annotated[IncidentClock, AnyCase] | None = None


Parts = Annotated[tuple[PartBody, ...], Field(max_length=_MOST_PARTS)]
Severity = Annotated[IncidentSeverity, AnyCase]
Type = Annotated[IncidentType, AnyCase]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningBody(GivenOpening):
    """An incident to be opened."""

    title: Name
    scope: Parts
    severity: Severity | None = None
    type: Type | None = None
    cause: Name | None = None
    description: Words | None = None
    reason: Words | None = None


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ActionBody(GivenAction):
    """An action on an existing incident."""

    action: Annotated[IncidentAction, AnyCase]
    reason: Words | None = None
    assignee: Name | None = None
    scope: Parts = ()
    removed: Parts = ()
    into: Name | None = None
    resolution: Annotated[IncidentResolution, AnyCase] | None = None
    force: bool = False
    title: Name | None = None
    description: Words | None = None
    severity: Severity | None = None
    type: Type | None = None


@router.post(INCIDENTS, status_code=201, response_model=PublishedAction, operation_id="open_incident")
async def open_incident(request: HttpRequest, body: Annotated[OpeningBody, Body()]) -> Response:
    """Open an incident, or add to the open incident of the same cause. Only if declarations are accepted."""
    note_body(request, {"title": body.title, "cause": body.cause})
    return await _published(request, lambda reader, by: opening(reader, body, by=by, now=datetime.now(UTC)))


@router.post(ACTIONS, status_code=201, response_model=PublishedAction, operation_id="act_on_incident")
async def act_on_incident(request: HttpRequest, id_: IncidentId, body: Annotated[ActionBody, Body()]) -> Response:
    """Publish an action on an incident. Only if declarations are accepted (`HEADWATER_SERVE_DECLARE`)."""
    note_body(request, {"action": body.action, "into": body.into, "force": body.force or None})
    arrivals = request.app.state.graph.arrivals
    return await _published(
        request, lambda reader, by: action(reader, id_, body, by=by, now=datetime.now(UTC), arrivals=arrivals)
    )


async def _published(request: HttpRequest, prepare: Callable[[Reader, str], Prepared]) -> Response:
    """Prepare an action of the sender from the state in the graph, and publish it."""
    graph: Graph = request.app.state.graph
    if graph.sink is None or not request.scope.get(READ):
        raise RuntimeError("there is no sink, or middleware.intake hasn't read the body")
    sender = identity_of(request.scope)
    declaring: CapacityLimiter = request.app.state.declaring
    prepared = await to_thread.run_sync(prepare, graph.reader(sender), sender.subject or _NOBODY, limiter=declaring)
    outcome = await sent_events(request, prepared.events)
    if outcome.refused:
        (refusal,) = outcome.refused.values()
        return problem(ProblemType.QUESTION, refusal.message[:_LONGEST_MESSAGE])
    # An action that wasn't acknowledged may arrive all the same.
    recorder: ReachRecorder = request.app.state.recorder
    recorder.record(prepared)
    if outcome.unavailable is not None:
        return problem(
            ProblemType.KAFKA_UNAVAILABLE,
            "Kafka hasn't acknowledged the action, which may arrive all the same: look at the incident's history "
            "before you send it again.",
        )
    return sent(prepared.published, status=201)
