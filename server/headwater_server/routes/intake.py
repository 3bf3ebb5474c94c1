"""Routes for OpenLineage events over HTTP: the two paths of OpenLineage's own API.

A request is answered 201 once all in-sync replicas of the events topic have its events. It is answered 503 if Kafka
takes longer than `serve.intake_timeout_seconds`, or if too many events wait for Kafka. The client may then send the
events again: an event has the same id each time, so it is stored once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from fastapi import Request as HttpRequest
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Scope as AsgiScope

from headwater_openlineage.intake.request import IntakeRequest, RequestOutcome
from headwater_openlineage.intake.splitting import Layout, NotAnArrayError, documents, elements, layout
from headwater_schemas.events import LineageEvent
from headwater_server.asking import BELOW, Graph, area, sent
from headwater_server.documented import problem_responses
from headwater_server.identity import Scope, identity_of
from headwater_server.metrics import IntakeMetrics, RequestRejection
from headwater_server.middleware.bodies import READ
from headwater_server.middleware.intake import BATCH, ONE, DirectRoute
from headwater_server.problems import MOST_ERRORS, OF_IDENTITY, OF_SENDING, FieldProblem, ProblemType, problem

_PROBLEMS = problem_responses(
    ProblemType.EVENT,
    *OF_IDENTITY,
    *OF_SENDING,
)
_LONGEST_MESSAGE = 600
_MOST_NOTES = 1_000
# Larger bodies are decoded in a thread, so that other requests needn't wait.
_INLINE_BYTES = 65_536


router = area("intake", needs=Scope.WRITE, responses=_PROBLEMS)


@dataclass(frozen=True, slots=True)
class NotedField:
    """Deviation from the specification in spite of which an event was accepted.

    Attributes:
        index: position of the event in the batch, from 0.
        pointer: JSON pointer (RFC 6901) to the field, within the event.
        message: the fault, and Headwater's repair.
    """

    index: int
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The event is on the events topic.

    Attributes:
        events: number of Headwater's events that were made from the event.
        notes: parts that were filled in or ignored because the event deviates from the specification.
    """

    events: int
    notes: list[NotedField]


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """A refused event of a batch.

    Attributes:
        index: position of the event in the batch, from 0.
        pointer: JSON pointer (RFC 6901) to the field at fault, within the event; empty: the event as a whole.
        message: the fault.
    """

    index: int
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Result of a batch of events.

    Attributes:
        received: number of events in the batch.
        accepted: number of these events that are on the events topic.
        refused: the other events; they would be refused again.
        events: number of Headwater's events that were made from the accepted events.
        notes: parts of accepted events that were filled in or ignored; the first 1,000.
    """

    received: int
    accepted: int
    refused: list[RefusedEvent]
    events: int
    notes: list[NotedField]


_EVENT_BODY = {
    "requestBody": {
        "required": True,
        "description": "A RunEvent, JobEvent or DatasetEvent of OpenLineage 2-0-2 or 1-x; also as gzip.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
_BATCH_BODY = {
    "requestBody": {
        "required": True,
        "description": "An array of such events, or one event per line; also as gzip.",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            # Lines or an array, depending on how the body begins. So the schema has no type.
            "application/x-ndjson": {"schema": {}},
        },
    }
}


@router.post(ONE, status_code=201, response_model=Accepted, operation_id="post_lineage", openapi_extra=_EVENT_BODY)
async def post_lineage(request: HttpRequest) -> Response:
    """Publish one OpenLineage event. 201: Kafka has it. Only if events are accepted (`HEADWATER_SERVE_INTAKE`)."""
    return await _event(request.scope, await _body(request))


async def _event(scope: AsgiScope, body: bytes) -> Response:
    outcome = await _taken(scope, body, lambda: [body])
    if outcome.unavailable is not None:
        return unavailable()
    if outcome.refused:
        (refusal,) = outcome.refused.values()
        return problem(
            ProblemType.EVENT,
            _short(f"{refusal.pointer or 'The event'}: {refusal.message}"),
            errors=(FieldProblem(refusal.pointer, _short(refusal.message)),),
        )
    return sent(Accepted(outcome.events, _notes(outcome)), status=201)


@router.post(
    BATCH,
    status_code=201,
    response_model=BatchResult,
    operation_id="post_lineage_batch",
    openapi_extra=_BATCH_BODY,
    responses={207: {"model": BatchResult, "description": "Some events are on the topic; `refused` lists the others."}},
)
async def post_lineage_batch(request: HttpRequest) -> Response:
    """Publish several OpenLineage events. 201: Kafka has all events; 207: all but those in `refused`; 400: none."""
    return await _batch(request.scope, await _body(request))


async def _batch(scope: AsgiScope, body: bytes) -> Response:
    graph: Graph = scope["app"].state.graph
    most = graph.serve.intake_batch_max_events
    try:
        outcome = await _taken(scope, body, lambda: _split(body, most=most))
    except NotAnArrayError as error:
        return problem(
            ProblemType.EVENT, f"The body isn't a JSON array: {error}.", errors=(FieldProblem("", f"{error}"),)
        )
    except _TooManyError:
        return problem(
            ProblemType.TOO_LARGE,
            f"A batch can have at most {most:,} events (HEADWATER_SERVE_INTAKE_BATCH_MAX_EVENTS).",
        )
    if outcome.unavailable is not None:
        return unavailable()
    refused = sorted(outcome.refused.items())
    if refused and not outcome.accepted:
        return problem(
            ProblemType.EVENT,
            _short(f"None of {outcome.documents:,} events is accepted; the first: {refused[0][1].message}"),
            errors=tuple(
                FieldProblem(f"/{index}{each.pointer}", _short(each.message)) for index, each in refused[:MOST_ERRORS]
            ),
        )
    listed = [RefusedEvent(index, each.pointer, _short(each.message)) for index, each in refused]
    result = BatchResult(outcome.documents, outcome.accepted, listed, outcome.events, _notes(outcome))
    return sent(result, status=207 if refused else 201)


def direct() -> dict[str, DirectRoute]:
    """Handlers by path, which `middleware.intake` calls directly. FastAPI would add a fifth to the time of an event."""
    found = {f"{BELOW}{ONE}": _event, f"{BELOW}{BATCH}": _batch}
    routes = (route for route in router.routes if isinstance(route, APIRoute))
    return {route.path: DirectRoute(route, found[route.path]) for route in routes}


async def _body(request: HttpRequest) -> bytes:
    if not request.scope.get(READ):
        raise RuntimeError("middleware.intake hasn't read the body")
    return await request.body()


async def _taken(scope: AsgiScope, body: bytes, split: Callable[[], list[bytes]]) -> RequestOutcome:
    """Send the documents of a body, and wait for their outcomes.

    Raises:
        NotAnArrayError, _TooManyError: raised by `split`; nothing was sent.
    """
    app: FastAPI = scope["app"]
    metrics: IntakeMetrics = app.state.metrics.intake
    began = time.monotonic()

    async def send(sending: IntakeRequest) -> None:
        if len(body) <= _INLINE_BYTES:
            sending.send(split())
        else:
            decoding: CapacityLimiter = app.state.decoding
            await to_thread.run_sync(lambda: sending.send(split()), limiter=decoding)

    outcome = await acknowledged(scope, send)
    metrics.answered(outcome, time.monotonic() - began)
    return outcome


async def acknowledged(scope: AsgiScope, send: Callable[[IntakeRequest], Awaitable[None]]) -> RequestOutcome:
    """Send events, and wait for their outcomes, for at most `serve.intake_timeout_seconds`.

    Args:
        scope: the request, whose identity has the events' tenant.
        send: function that sends the events.
    """
    graph: Graph = scope["app"].state.graph
    if graph.sink is None:
        raise RuntimeError("there is no sink for events")
    loop = asyncio.get_running_loop()
    settled: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not settled.done():  # otherwise no client waits for the answer
            settled.set_result(None)

    def done() -> None:
        with contextlib.suppress(RuntimeError):  # the server is stopped, and nobody waits for it
            loop.call_soon_threadsafe(settle)

    began = time.monotonic()
    sending = IntakeRequest(
        graph.sink,
        tenant=graph.tenant_of(identity_of(scope)),
        max_bytes=graph.intake.document_max_bytes,
        strict=graph.intake.strict,
        redacting=graph.intake.redact,
        done=done,
    )
    await send(sending)
    outcome = sending.outcome
    left = began + graph.serve.intake_timeout_seconds - time.monotonic()
    try:
        # Not `wait_for`, which would make a task.
        async with asyncio.timeout(max(0.0, left)):
            await settled
    except TimeoutError:
        why = graph.sink.problem()
        outcome.unavailable = why or f"not acknowledged within {graph.serve.intake_timeout_seconds:g} s"
    return outcome


async def sent_events(request: HttpRequest, events: Sequence[LineageEvent]) -> RequestOutcome:
    """Send the events made from a request's body, and wait for their outcomes.

    Args:
        request: the request, whose identity has the events' tenant.
        events: the events. If only some are published, sending the request again publishes the rest.
    """
    metrics: IntakeMetrics = request.app.state.metrics.intake

    async def send(sending: IntakeRequest) -> None:
        await to_thread.run_sync(sending.send_events, events, limiter=request.app.state.declaring)

    outcome = await acknowledged(request.scope, send)
    if outcome.unavailable is not None:
        metrics.rejected(RequestRejection.KAFKA)
    return outcome


class _TooManyError(Exception):
    """A batch has more events than allowed."""


def _split(body: bytes, *, most: int) -> list[bytes]:
    how = Layout.ARRAY if layout(body) is Layout.ARRAY else Layout.LINES
    found = elements(body) if how is Layout.ARRAY else None
    if found is None:
        found = [document.data for document in islice(documents(body, how), most + 1)]
    if len(found) > most:
        raise _TooManyError
    return found


def unavailable() -> Response:
    """Build an answer 503 without the reason, which names brokers. The publisher logs the reason."""
    return problem(
        ProblemType.KAFKA_UNAVAILABLE,
        "Kafka hasn't acknowledged all events. Send the request again a little later: repeated events count once.",
    )


def _notes(outcome: RequestOutcome) -> list[NotedField]:
    return [
        NotedField(index, each.pointer, _short(each.message))
        for index, notes in outcome.notes.items()
        if index not in outcome.refused
        for each in notes
    ][:_MOST_NOTES]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"
