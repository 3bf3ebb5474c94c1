"""Inbox: the bounded queue between Spark's threads and the worker, the signals in it, and their weights.

In a signal, `session` is the `SparkSession` whose listener was called; a query or write in a copy of it is reported by
it too. A py4j reference keeps its JVM object alive for as long as it is held here, and lets go of it when it is
dropped.

A signal's weight is about how much of the JVM's memory it keeps from being freed while it waits. A command holds its
`QueryExecution`: the plan as it was analyzed, optimized and executed, in which each operator has an object for each of
its columns, and several for what is computed. So a plan weighs its operators times their columns. Both are in the text
by which Spark shows a plan, where it names the first columns of an operator and counts the rest: one look of a
millisecond at 500 operators. It is only taken where something waits already.
"""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from headwater_schemas.events import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator


T = TypeVar("T")


class Inbox(Generic[T]):
    """Many threads put, one takes. Putting never waits: what finds no room is counted and forgotten.

    It is bounded by the number of its items and by what they weigh together, whichever comes first; whatever it weighs,
    one item always has room. Its lock can be taken again by the thread that holds it, since a signal handler may run
    inside any of its methods.

    Args:
        limit: how many items may wait.
        limit_bytes: how much they may weigh; None: that isn't limited.
    """

    def __init__(self, limit: int, limit_bytes: int | None = None) -> None:
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._items: deque[tuple[T, int]] = deque()
        self._urgent: deque[T] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._bytes = 0
        self._received = 0
        self._dropped = 0

    def put(self, item: T, *, weight: int = 0, always: bool = False) -> bool:
        """Adds an item; False where there is no room.

        Args:
            item: to add.
            weight: bytes that it keeps from being freed, about.
            always: for the few that are never dropped.
        """
        with self._changed:
            if not always and not self._has_room(weight):
                self._dropped += 1
                return False
            self._items.append((item, weight))
            self._bytes += weight
            self._received += 1
            self._changed.notify()
            return True

    def put_urgent(self, item: T) -> None:
        """Adds an item that is never dropped, and taken before all others: an order to the worker itself."""
        with self._changed:
            self._urgent.append(item)
            self._changed.notify()

    def take(self, timeout_seconds: float) -> T | None:
        """The next item; None when none has come in time."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not self._urgent and not self._items:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not self._changed.wait(remaining):
                    break
            if self._urgent:
                return self._urgent.popleft()
            return self._pop() if self._items else None

    def take_waiting(self) -> Iterator[T]:
        """The items that are here now, in order, without the urgent ones. Each counts until its turn has come."""
        for _ in range(len(self._items)):
            with self._changed:
                if not self._items:
                    return
                item = self._pop()
            yield item

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._items)

    @property
    def bytes(self) -> int:
        """What they weigh."""
        return self._bytes

    @property
    def received(self) -> int:
        """How many items were ever taken in."""
        return self._received

    @property
    def dropped(self) -> int:
        """How many items found no room."""
        return self._dropped

    def _has_room(self, weight: int) -> bool:
        if len(self._items) >= self._limit:
            return False
        return self._limit_bytes is None or not self._items or self._bytes + weight <= self._limit_bytes

    def _pop(self) -> T:
        item, weight = self._items.popleft()
        self._bytes -= weight
        return item


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A query has ended; `error` is its JVM exception, None where it succeeded.

    `function` is what Spark calls it: `command`, `overwrite` of a write or DDL; `collect`, `count` of what only reads.
    """

    function: str
    query_execution: Any
    duration_ns: int | None
    error: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryStarted:
    """A streaming query starts. `query` is its JVM object, None where it was gone already."""

    event: Any
    query: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class Attached:
    """Capture begins to observe a session, whose queries may be running already."""

    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryProgressed:
    """A micro-batch has been committed."""

    event: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryTerminated:
    """A streaming query has stopped or failed."""

    event: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class BatchFunctionCalled:
    """A foreachBatch function is being called with `frame`, a JVM Dataset."""

    frame: Any
    query_id: str
    batch_id: int


@dataclass(frozen=True, slots=True)
class FrameKept:
    """A frame's rows live on: in `frame`, a JVM Dataset that begins anew, or in `rdd`, a `JavaRDD`."""

    source: Any
    frame: Any
    rdd: Any
    session: Any


@dataclass(frozen=True, slots=True)
class RddActed:
    """Something was done with an RDD, a `JavaRDD`, that runs no query.

    `action` is PySpark's method, `path` where it writes, `error` why it failed, `inside` the query's id and
    the batch's number where a foreachBatch function did it.
    """

    rdd: Any
    action: str
    path: str | None
    started_at: datetime
    ended_at: datetime
    error: RunError | None
    inside: tuple[str, int] | None = None


Signal = (
    Attached
    | BatchFunctionCalled
    | CommandEnded
    | FrameKept
    | QueryProgressed
    | QueryStarted
    | QueryTerminated
    | RddActed
)


SMALL_BYTES: Final = 16 * 1024
"""Of what holds no plan of a command: a progress, a frame of a micro-batch."""

# Measured: what the heap holds after a collection, with fresh plans that wait and without. Of 5 columns and 3 operators
# 0.15 MB each, 1,000 and 3: 15.5 MB, 300 and 10: 15.7 MB, 600 and 2: 6.9 MB, 1 and 150: 0.9 MB.
COMMAND_BYTES: Final = 128 * 1024
"""Of any command: what its execution consists of beside operators and columns."""

OPERATOR_BYTES: Final = 8 * 1024

COLUMN_BYTES: Final = 5 * 1024
"""Of one column that an operator computes, over all its plans."""

# Measured the same way, of projections that change one column: 50 operators of 1,000 columns 15 MB, 500 of 100 10 MB.
PASSED_BYTES: Final = 512
"""Of one column that an operator only passes on: all of them refer to one attribute."""

# Spark names an operator's first columns, and new ones may come after them: so many of the others may be computed.
_LEAST_COMPUTED: Final = 0.2

# Of TreeNode.treeString: verbose, addSuffix, maxFields, printOperatorId. As many fields as Spark shows, by default:
# with fewer it would complain of the shortening, once a process.
_SHOWN: Final = (False, False, 25, False)
_MORE: Final = re.compile(r"\.\.\. (\d+) more fields")


def weigh(signal: Signal) -> int:
    """Bytes, within about a factor of two for a plan that shares nothing with another that waits.

    Of four, where an operator's first columns aren't like its others. Never raises: what can't be read is taken
    for small.
    """
    if not isinstance(signal, CommandEnded):
        return SMALL_BYTES
    try:
        return weight_of_plan(signal.query_execution.analyzed())
    except Exception:  # whatever py4j raises; the worker will meet it again, and log it
        return COMMAND_BYTES


def weight_of_plan(plan: Any) -> int:
    """Of a JVM `LogicalPlan`, in two round trips."""
    text = str(plan.treeString(*_SHOWN))
    return COMMAND_BYTES + sum(map(_weight_of_operator, text.splitlines()))


def _weight_of_operator(line: str) -> int:
    """Of one line: `+- Project [id#0L, (id#0L + 1) AS next#2L, ... 975 more fields]`."""
    named = line.count(", ")
    computed = min(named, line.count(" AS "))
    more = _MORE.search(line)
    unnamed = int(more[1]) if more is not None else 0
    computed += int(unnamed * max(_LEAST_COMPUTED, computed / named)) if named else 0
    return OPERATOR_BYTES + computed * COLUMN_BYTES + (named + unnamed - computed) * PASSED_BYTES
