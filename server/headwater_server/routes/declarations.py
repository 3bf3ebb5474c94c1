"""Route for declarations over HTTP: the documents of `headwater declare`, one in each request.

A request is answered 201 once all in-sync replicas of the events topic have the changes, and 200 if nothing changes.
Otherwise the rules of OpenLineage events apply (`routes.intake`): 503 if Kafka takes too long, and repeated
declarations are stored once.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import Query
from fastapi import Request as HttpRequest
from starlette.responses import Response

from headwater_analysis.declaring.difference import SetResult
from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.names import Names, found_in
from headwater_analysis.declaring.problems import DeclarationError, FileProblem
from headwater_analysis.declaring.revising import NextRevision, OlderRevisionError, next_revision, progress, result
from headwater_analysis.declaring.sets import DeclaredSet
from headwater_server.asking import Graph, answered, area, note_body
from headwater_server.documented import problem_responses
from headwater_server.identity import Identity, Scope, identity_of
from headwater_server.middleware.bodies import READ
from headwater_server.middleware.intake import DECLARATIONS
from headwater_server.parameters import AnyCase
from headwater_server.problems import OF_IDENTITY, OF_SENDING, FieldProblem, ProblemType, problem
from headwater_server.routes.intake import sent_events, unavailable

_PROBLEMS = problem_responses(
    ProblemType.DECLARATION,
    ProblemType.REVISION,
    *OF_IDENTITY,
    *OF_SENDING,
    ProblemType.GRAPH_UNREACHABLE,
    ProblemType.GRAPH_REFUSED,
    ProblemType.TIME_LIMIT,
)
_MOST_ERRORS = 100
_LONGEST_MESSAGE = 600
_POLL_SECONDS = 0.25
_BODY_NAME = "body"
"""Name of a request's body in findings, in place of the file that `headwater declare` names."""

router = area("declarations", needs=Scope.DECLARE, responses=_PROBLEMS)


class Mode(StrEnum):
    """Modes of the endpoint: publish, compare or check declarations."""

    PUBLISH = "PUBLISH"
    DIFF = "DIFF"
    CHECK = "CHECK"


_BODY = {
    "requestBody": {
        "required": True,
        "description": "A declaration set, an ODCS data contract, or dbt's manifest; as YAML or JSON, also as gzip.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "application/yaml": {"schema": {"type": "string"}},
        },
    }
}


@router.post(
    DECLARATIONS,
    status_code=201,
    response_model=SetResult,
    operation_id="post_declarations",
    openapi_extra=_BODY,
    responses={
        200: {"model": SetResult, "description": "Nothing was published: nothing changes, or `mode` isn't PUBLISH."}
    },
)
async def post_declarations(
    request: HttpRequest,
    mode: Annotated[
        Mode,
        AnyCase,
        Query(
            description="`publish`: publish the changes; `diff`: only return the changes; `check`: only look for "
            "mistakes, without the graph: `revision` is the body's or 0, and no changes are listed."
        ),
    ] = Mode.PUBLISH,
    namespace: Annotated[
        str | None,
        Query(min_length=1, description="Namespace of the datasets of a contract or manifest that names none."),
    ] = None,
    wait: Annotated[
        float,
        Query(
            ge=0,
            le=3_600,
            allow_inf_nan=False,
            description="Seconds to wait until the revision is in the graph (`in_graph`); "
            "at most `HEADWATER_SERVE_TIMEOUT_MAX_SECONDS`.",
        ),
    ] = 0.0,
) -> Response:
    """Publish a declaration set. 201: Kafka has it. Only if declarations are accepted (`HEADWATER_SERVE_DECLARE`)."""
    body = await request.body()
    graph: Graph = request.app.state.graph
    identity = identity_of(request.scope)
    declaring: CapacityLimiter = request.app.state.declaring
    if graph.sink is None or not request.scope.get(READ):
        raise RuntimeError("there is no sink, or middleware.intake hasn't read the body")
    try:
        names = Names(None) if mode is Mode.CHECK else found_in(graph.reader(identity))
        declared = await to_thread.run_sync(_read, body, namespace, names, limiter=declaring)
    except DeclarationError as error:
        return _refused(error)
    note_body(request, {"set": declared.name})
    if mode is Mode.CHECK:
        return answered(request, _checked(declared, list(names.unchecked)), status=200)
    reader = graph.reader(identity)
    try:
        revision = await to_thread.run_sync(
            lambda: next_revision(reader, declared, now=datetime.now(UTC)), limiter=declaring
        )
    except OlderRevisionError as error:
        return problem(
            ProblemType.REVISION,
            f"{error} Raise `revision`, or leave it out.",
            errors=(FieldProblem("/revision", f"is {error.given}, but the graph has {error.revision}"),),
        )
    publishes = mode is Mode.PUBLISH and bool(revision.events)
    if publishes:
        outcome = await sent_events(request, revision.events)
        if outcome.refused:
            (refusal,) = outcome.refused.values()
            return problem(ProblemType.DECLARATION, refusal.message[:_LONGEST_MESSAGE])
        if outcome.unavailable is not None:
            return unavailable()
    in_graph = not revision.events
    if publishes and wait:
        in_graph = await _waited(graph, identity, revision, min(wait, graph.serve.timeout_max_seconds))
    shown = await to_thread.run_sync(
        lambda: result(reader, revision, published=publishes, in_graph=in_graph), limiter=declaring
    )
    return answered(request, shown, status=201 if publishes else 200)


def _read(body: bytes, namespace: str | None, names: Names) -> DeclaredSet:
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise DeclarationError([FileProblem(_BODY_NAME, line, (), "not UTF-8")]) from error
    return read_file(_BODY_NAME, text, namespace=namespace, names=names)


def _refused(error: DeclarationError) -> Response:
    first, count = error.problems[0], len(error.problems)
    return problem(
        ProblemType.DECLARATION,
        f"{count:,} mistake{'s' * (count > 1)}, the first: {first}"[:_LONGEST_MESSAGE],
        errors=tuple(
            FieldProblem(each.pointer, f"line {each.line}: {each.message}"[:_LONGEST_MESSAGE])
            for each in error.problems[:_MOST_ERRORS]
        ),
    )


def _checked(declared: DeclaredSet, unchecked: list[str]) -> SetResult:
    return SetResult(
        declared.name, declared.revision or 0, len(declared.declarations), 0, False, [], [], [], [], unchecked
    )


async def _waited(graph: Graph, identity: Identity, revision: NextRevision, seconds: float) -> bool:
    """Wait until the graph has the revision; return False after the time limit."""
    ends = time.monotonic() + seconds
    reader = graph.reader(identity)
    while True:
        is_there, _ = await to_thread.run_sync(progress, reader, revision)
        if is_there or time.monotonic() > ends:
            return is_there
        await asyncio.sleep(_POLL_SECONDS)
