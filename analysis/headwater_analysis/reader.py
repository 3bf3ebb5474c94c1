"""Reader: one question, one read transaction, one time limit; its statements by name."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar, cast

from neo4j import ManagedTransaction, unit_of_work
from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError

from headwater_analysis.errors import (
    GraphRefusedError,
    GraphUnreachableError,
    NotFilteredError,
    NotPreparedError,
    TimeLimitError,
)
from headwater_analysis.filtered import filtered
from headwater_analysis.freshness import NOT_REPORTED, GraphState, TopicEnds, freshness, not_asked
from headwater_analysis.settings import DEFAULT_STALE_SECONDS, DEFAULT_TENANT, DEFAULT_TIMEOUT_SECONDS
from headwater_analysis.visibility import Visible
from headwater_graph.connection import CERTIFICATE_SETTINGS, Neo4jTarget, connect, untrusted_certificate
from headwater_graph.schema import GRAPH_VERSION, version_mismatch
from headwater_graph.statement_files import load
from headwater_schemas.tracing import span

if TYPE_CHECKING:
    from neo4j import Driver, Record, Result


_PACKAGE = "headwater_analysis"
_FULL_TEXT = "db.index.fulltext"
_EVERYTHING = 2**31 - 1
UNFILTERED = frozenset({"service/graph", "service/ping"})
"""Statements whose rows name no asset: version of the graph, progress, and flags by which look-ups are skipped."""


def statement(name: str) -> LiteralString:
    """Return a statement by its file and name: `trace/locate` is in `analysis/cypher/trace.cypher`.

    Raises:
        KeyError: no statement has this name.
    """
    return load(_PACKAGE, name)


T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """Run `call` with a time limit: return its result, or raise its error.

    The call runs in a separate thread. A late call continues there; its result is ignored, and it doesn't keep the
    process alive.

    Raises:
        TimeoutError: the call took longer than `seconds`.
    """
    # The other thread's spans and log lines belong to this question.
    context, outcome = copy_context(), Future[T]()

    def run() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  raised in the thread that waits
            outcome.set_exception(error)

    threading.Thread(target=run, daemon=True, name="headwater-question").start()
    return outcome.result(seconds)


# Neo4j checks every two seconds for queries to end; opening a connection may take time, too.
_PATIENCE_SECONDS = 5.0
# Messages of the driver's errors, which have no exception classes of their own.
_NO_SUCH_HOST = "Cannot resolve address"
_NO_CONNECTION = "failed to obtain a connection from the pool"
# Full-text indexes for names; the consumer creates them before it writes anything.
_NO_INDEX = "There is no such fulltext schema index: headwater_"
# Error for a statement with an index that a consumer is creating at the moment.
_INDEX_IN_MAKING = "Could not solve these hints"
_INDEX_POLL_SECONDS = 0.5


class _IndexInMakingError(GraphUnreachableError):
    """Neo4j can't plan a statement yet: the question has to be repeated."""


class _AskElsewhereError(Exception):
    """Signal that a question needs another server's answer; the question is then run again with this answer."""

    def __init__(self, of: Hashable, ask: Callable[[], object]) -> None:
        super().__init__(of)
        self.of = of
        self.ask = ask


@dataclass(frozen=True, slots=True)
class Transaction:
    """A read transaction that runs statements by name.

    Attributes:
        tenant: tenant of the graph; a parameter of every statement, `$given.tenant`.
        several_names: whether any dataset may have several names.
        consumers: whether anything may have declared consumers.
        declarations: whether anything may be declared.
        incidents: whether any incident may be open.
        freshness: distance of the graph from the end of its topic.
        shared: objects that parts of one question share, by a name or by class (`common`).
        elsewhere: answers of other servers for the question (`asked`).
        visible: what the asker may see; None: everything.
    """

    tenant: str
    _tx: ManagedTransaction
    several_names: bool = True
    consumers: bool = True
    declarations: bool = True
    incidents: bool = True
    freshness: GraphState = NOT_REPORTED
    shared: dict[object, object] = field(default_factory=dict, compare=False, repr=False)
    elsewhere: Mapping[Hashable, object] = field(default_factory=dict, compare=False, repr=False)
    visible: Visible | None = None

    def common(self, make: Callable[[Transaction], T], /) -> T:
        """Return the object that all parts of a question share, created from the transaction on first use."""
        if make not in self.shared:
            self.shared[make] = make(self)
        return cast("T", self.shared[make])

    def asked(self, of: Hashable, ask: Callable[[], T]) -> T:
        """Return the answer of another server, such as Kafka. An error of `ask` ends the question.

        `ask` is called once for a question, between transactions, so its duration doesn't count for the time limit.

        Args:
            of: key of the answer, among all answers of other servers for the question.
            ask: function that returns the answer.
        """
        if of not in self.elsewhere:
            raise _AskElsewhereError(of, ask)
        return cast("T", self.elsewhere[of])

    def rows(self, name: str, /, **parameters: Any) -> list[Record]:
        """Return all rows of a `statement`."""
        with span("statement", {"db.system.name": "neo4j", "db.query.summary": name}) as found:
            rows = list(self._run(name, parameters))
            if found is not None:
                found.set_attribute("db.response.returned_rows", len(rows))
        return rows

    def row(self, name: str, /, **parameters: Any) -> Record | None:
        """Return the first row of a statement, or None."""
        return next(iter(self.rows(name, **parameters)), None)

    def one(self, name: str, /, **parameters: Any) -> Record:
        """Return the only row of a statement. Thousands of values arrive four times as fast as lists in one row."""
        return self.rows(name, **parameters)[0]

    def sent(self, name: str, /, **parameters: Any) -> Callable[[], Record]:
        """Send a statement now, and return a function that waits for its row: Neo4j and Python work in parallel.

        Statements that are sent later, even by other methods, are answered later.
        """
        result = self._run(name, parameters)
        return lambda: result.single(strict=True)

    def _run(self, name: str, parameters: dict[str, Any]) -> Result:
        # One map of parameters, so that Neo4j caches one plan for all sizes of names and lists (decisions:
        # one-parameter).
        given = {**parameters, "tenant": self.tenant}
        if self.visible is None or name in UNFILTERED:
            return self._tx.run(statement(name), {"given": given})
        given["visible"] = self.visible.given(self.tenant)
        if "looked_at" in given and _FULL_TEXT in statement(name):
            # The index also counts hidden assets: with a limit, it could leave out visible assets.
            given["looked_at"] = _EVERYTHING
        return self._tx.run(filtered(statement(name)), {"given": given})


class Reader:
    """Reader of one tenant's graph.

    Args:
        driver: driver of the database; the caller closes it.
        target: address of the database, for messages.
        timeout_seconds: limit of one question, all its statements together. Neo4j ends a question within two seconds
            after the limit, and a later answer is discarded. A server without an answer 5 s after the limit counts as
            unreachable.
        stale_seconds: as in `freshness`.
        ends: asks for the events topic's end offsets, if its consumers are silent.
        visible: returns what the asker may see, before each question; None: everything.
        whole: whether to answer only askers who may see everything.

    Attributes:
        tenant, timeout_seconds, stale_seconds: see the arguments.
        freshness: freshness of the graph, as of the last question.
        filtered: whether the last question's asker may not see everything.
    """

    def __init__(
        self,
        driver: Driver,
        target: Neo4jTarget,
        *,
        tenant: str = DEFAULT_TENANT,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        stale_seconds: float = DEFAULT_STALE_SECONDS,
        ends: TopicEnds = not_asked,
        visible: Callable[[], Visible | None] | None = None,
        whole: bool = False,
    ) -> None:
        self._driver = driver
        self._target = target
        self.tenant = tenant
        self.timeout_seconds = timeout_seconds
        self.stale_seconds = stale_seconds
        self._ends = ends
        self._visible = visible
        self._whole = whole
        self.freshness = NOT_REPORTED
        self.filtered = False

    def read(self, question: Callable[[Transaction], T], *, timeout_seconds: float | None = None) -> T:
        """Run `question` in one read transaction and return its answer. It runs again if the transaction was lost.

        Raises:
            GraphRefusedError: also if another version of the model made the graph: nodes of this version may be missing
                there, and an answer would be incomplete.
            AnalysisError: see the tree in `errors`; other errors that `question` raises are passed on.
        """
        limit = self.timeout_seconds if timeout_seconds is None else timeout_seconds
        elsewhere: dict[Hashable, object] = {}
        visible = None if self._visible is None else self._visible()
        self.filtered = visible is not None
        if self._whole and self.filtered:
            raise NotFilteredError
        ends = time.monotonic() + limit
        while True:
            try:
                return self._attempt(question, limit, elsewhere, visible)
            except _IndexInMakingError:
                if time.monotonic() >= ends:
                    raise
                time.sleep(_INDEX_POLL_SECONDS)
            except _AskElsewhereError as wanted:
                elsewhere[wanted.of] = wanted.ask()

    def _answered(self, tx: Transaction, answer: object) -> None:
        """Process an answer before its transaction ends. For subclasses; here it does nothing."""

    def _attempt(
        self,
        question: Callable[[Transaction], T],
        limit: float,
        elsewhere: Mapping[Hashable, object],
        visible: Visible | None,
    ) -> T:
        @unit_of_work(timeout=limit)
        def work(tx: ManagedTransaction) -> T:
            begun = self._begun(Transaction(self.tenant, tx, elsewhere=elsewhere, visible=visible))
            answer = question(begun)
            self._answered(begun, answer)
            return answer

        def ask() -> T:
            with self._driver.session(database=self._target.database, default_access_mode="READ") as session:
                return session.execute_read(work)

        began = time.monotonic()
        try:
            # For a server that hangs, the driver waits until the connection is given up, minutes later.
            answer = within(limit + _PATIENCE_SECONDS, ask)
        except FileNotFoundError:
            # Raised by a statement: no address of a database is a file.
            raise
        except (Neo4jError, DriverError, OSError) as error:
            raise self._meaning(error, limit) from error
        except ValueError as error:
            if not str(error).startswith(_NO_SUCH_HOST):
                raise
            raise GraphUnreachableError(f"The host of {self._target.uri} doesn't exist.") from error
        if time.monotonic() - began > limit:
            # Neo4j checks for queries to end every two seconds, and an answer may arrive just before.
            raise TimeLimitError(limit)
        return answer

    def _begun(self, tx: Transaction) -> Transaction:
        """Add the facts that every question needs to a transaction."""
        # Checked for each question: another release may recreate the graph while this process runs.
        row = tx.one("service/graph")
        if row["version"] not in (None, GRAPH_VERSION):
            raise GraphRefusedError(
                version_mismatch(row["version"], verb="reads", at=f" at {self._target.uri}"),
                setting="HEADWATER_NEO4J_URI, HEADWATER_NEO4J_DATABASE",
            )
        self.freshness = freshness(
            row["progress"],
            stale_seconds=self.stale_seconds,
            ends=lambda topic: tx.asked(("end of", topic), lambda: self._ends(topic)),
        )
        known = {name: row[name] for name in ("several_names", "consumers", "declarations", "incidents")}
        return replace(tx, **known, freshness=self.freshness)

    def _meaning(self, error: Exception, limit: float) -> Exception:
        uri = self._target.uri
        code = getattr(error, "code", None) or type(error).__name__
        if "TransactionTimedOut" in code or "TransactionTerminated" in code:
            return TimeLimitError(limit)
        if isinstance(error, AuthError):
            return GraphRefusedError(
                f"Neo4j at {uri} refuses the user {self._target.user!r} or the password ({code}).",
                setting="HEADWATER_NEO4J_USER, HEADWATER_NEO4J_PASSWORD",
            )
        if code.endswith("DatabaseNotFound"):
            return GraphRefusedError(
                f"Neo4j at {uri} has no database {self._target.database!r}.", setting="HEADWATER_NEO4J_DATABASE"
            )
        if (untrusted := untrusted_certificate(error, uri)) is not None:
            return GraphRefusedError(f"{untrusted}.", setting=CERTIFICATE_SETTINGS)
        if isinstance(error, ConfigurationError):
            return GraphRefusedError(f"{uri!r} is no address of a Neo4j.", setting="HEADWATER_NEO4J_URI")
        if _NO_INDEX in str(error):
            return NotPreparedError(f"Nothing is in the graph at {uri} yet: no consumer has prepared it.")
        if _INDEX_IN_MAKING in str(error):
            return _IndexInMakingError(f"Neo4j at {uri} is still creating the graph's indexes.")
        if isinstance(error, TimeoutError):
            return GraphUnreachableError(f"Neo4j at {uri} didn't answer for {limit + _PATIENCE_SECONDS:g} s.")
        if isinstance(error, Neo4jError) and not error.is_retryable() and _NO_CONNECTION not in str(error):
            return error  # a bug in a statement: raised unchanged
        return GraphUnreachableError(f"Neo4j doesn't answer at {uri} ({code}).")


def reading_driver(target: Neo4jTarget) -> Driver:
    """Create a driver for a `Reader`: 5 s to connect, and few retries, because a person waits.

    Raises:
        GraphRefusedError: the address is invalid.
    """
    try:
        return connect(target, user_agent="headwater-analysis", retry_seconds=2.0)
    except (ConfigurationError, ValueError) as error:
        raise GraphRefusedError(f"{target.uri!r} is no address of a Neo4j.", setting="HEADWATER_NEO4J_URI") from error
