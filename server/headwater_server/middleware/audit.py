"""Audit of requests: a record of each question and each change, durable before the first byte of the answer.

    a question    OUTCOME, then the answer. If OUTCOME can't be written, the client gets only a 503.
    a change      INTENT before the body is read, then the work, then OUTCOME. If INTENT can't be written, nothing is
                  changed. If OUTCOME can't be written, the answer still reports the change, because Kafka has it. The
                  INTENT stays without OUTCOME, and a LOST record follows.

Refused requests are recorded, too, even without an identity. For routes that show nothing of the graph (`scoped`), only
refusals are recorded. A call of a tool (`mcp`) is recorded once, as the question that it asks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater_audit.audit import Audit
from headwater_audit.errors import AuditUnwritableError
from headwater_audit.record import AuditRecord, Kind, filters_of
from headwater_server.asking import DECISION, FILTERS, RECORDED, REQUEST_ID, RESULTS, TOOL
from headwater_server.identity import Identity
from headwater_server.identity.identity import IDENTITY
from headwater_server.mcp.http import OPERATION as MCP
from headwater_server.metrics import AuditMetrics
from headwater_server.problems import ProblemType, problem
from headwater_server.scoped import is_recorded, route_of

QUESTIONS_WITH_BODIES: Final = frozenset({"impact_analyze", "review"})
"""Operations that change nothing although their method isn't GET."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSED: Final = frozenset({401, 403})


class RequestAudit:
    """Records requests.

    Args:
        audit: the audit; None: nothing is recorded.
        tenant: tenant of identities without one.
    """

    def __init__(self, app: ASGIApp, *, audit: Audit | None, tenant: str, metrics: AuditMetrics) -> None:
        self._app = app
        self._audit = audit
        self._tenant = tenant
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http" or self._audit is None:
            await self._app(scope, receive, send)
            return
        recorded = _Request(scope, receive, send, self._audit, self._tenant, self._metrics.refused.inc)
        try:
            await self._app(scope, recorded.receive, recorded.send)
        except _UnrecordedError:
            await recorded.refuse()
        except BaseException as error:
            # `Unforeseen` answers; its answer contains nothing of the graph.
            recorded.given_up(500 if isinstance(error, Exception) else 503)
            raise
        else:
            recorded.given_up(None)


class _UnrecordedError(Exception):
    """The intent of a change can't be written."""


class _Request:
    """One request and its records."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, audit: Audit, tenant: str, refused: Callable[[], None]
    ) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._audit = audit
        self._tenant = tenant
        self._refused = refused
        self._method: str = scope["method"]  # `Head` changes it
        self._id: str = scope[REQUEST_ID]
        self._began = time.monotonic()
        self._intended = False
        self._answered = False
        self._replaced = False

    async def receive(self) -> Message:
        """Return the next message of the body. Before the first message of a change, write its intent.

        At this time the identity is known, and the body isn't processed yet.

        Raises:
            _UnrecordedError: the intent can't be written.
        """
        if not self._intended and self._method not in _SAFE:
            route, found = _route(self._scope)
            if _changes(route, self._method):
                if not await self._is_recorded(self._record(Kind.INTENT, None, route, found)):
                    raise _UnrecordedError
                self._intended = True
        return await self._receive()

    async def send(self, message: Message) -> None:
        """Send a message of the answer. Before the first message, write the outcome."""
        if self._replaced:
            return
        if message["type"] == "http.response.start" and not self._answered:
            self._answered = True
            status: int = message["status"]
            route, found = _route(self._scope)
            if status in _REFUSED or self._scope.get(RECORDED, is_recorded(route)):
                durable = await self._is_recorded(self._record(Kind.OUTCOME, status, route, found))
                if not durable and not self._intended:
                    self._replaced = True
                    await self.refuse()
                    return
        await self._send(message)

    async def refuse(self) -> None:
        """Answer 503."""
        self._answered = True
        self._refused()
        self._scope["method"] = self._method  # for HEAD, the server then drops the body
        detail = "This server records each request, but can't do so now. Ask again a little later."
        await problem(ProblemType.AUDIT_UNAVAILABLE, detail)(self._scope, self._receive, self._send)

    def given_up(self, status: int | None) -> None:
        """Write the outcome of a request that had no answer yet, without waiting until it is durable.

        Args:
            status: status of the answer of outer middleware; None if the client has disconnected.
        """
        if not self._answered and (status is not None or self._intended):
            self._answered = True
            self._audit.writer.submit(self._record(Kind.OUTCOME, status, *_route(self._scope)))

    async def _is_recorded(self, record: AuditRecord) -> bool:
        """Write a record; return False if the request must be refused because the record can't be written."""
        try:
            await self._audit.writer.written(record)
        except AuditUnwritableError:
            return not self._audit.required
        return True

    def _record(self, kind: Kind, status: int | None, route: BaseRoute | None, found: Mapping[str, Any]) -> AuditRecord:
        scope = self._scope
        identity: Identity | None = scope.get(IDENTITY)
        parameters = [(name, unquote(str(value), errors="replace")) for name, value in found.items()]
        parameters += scope.get(FILTERS, [])
        if route is None:
            parameters.append(("path", scope["path"]))
        if route is None or isinstance(route, APIRoute):
            # Only for the API: other queries may contain one-time codes of a log-in.
            parameters += parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        filters, left_out = filters_of(parameters)
        decision, rules = scope.get(DECISION, (None, ()))
        client = scope.get("client")
        return AuditRecord(
            kind,
            datetime.now(UTC),
            self._id,
            source="unidentified" if identity is None else identity.source.value,
            subject="" if identity is None else identity.subject,
            tenant=self._tenant if identity is None or identity.tenant is None else identity.tenant,
            address=client[0] if client else None,
            method=self._method,
            route=None if route is None else getattr(route, "path_format", None),
            operation=getattr(route, "operation_id", None),
            tool=scope.get(TOOL),
            filters=filters,
            left_out=left_out,
            results=scope.get(RESULTS),
            status=status,
            decision=decision,
            rules=tuple(rules),
            milliseconds=None if kind is Kind.INTENT else (time.monotonic() - self._began) * 1000,
        )


def _route(scope: Scope) -> tuple[BaseRoute | None, Mapping[str, Any]]:
    """Route of a request and its path parameters, as the router has chosen or would choose it."""
    route: BaseRoute | None = scope.get("route")
    if route is not None:
        return route, scope.get("path_params", {})
    return route_of(scope["app"].routes, scope)


def _changes(route: BaseRoute | None, method: str) -> bool:
    """Return True if a request may change something: its route accepts its method, and isn't a question's route."""
    accepts_method = isinstance(route, Route) and method in (route.methods or ())
    return accepts_method and getattr(route, "operation_id", None) not in {*QUESTIONS_WITH_BODIES, MCP}
