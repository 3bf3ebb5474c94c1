"""Parts of a batch are written at once; what one of them raises waits for the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest
from neo4j.exceptions import ClientError

from headwater_graph.write import GraphWriter, PartsWriter, PreparedDelta, WriteCounters
from support.waiting import patience

PARTS = [cast("PreparedDelta", "first"), cast("PreparedDelta", "second")]


class Writer:
    """Does something in place of writing, and remembers what it was given."""

    def __init__(self, action: Callable[[], Any] = lambda: None) -> None:
        self.action = action
        self.given: list[Any] = []

    def ensure_schema(self) -> None:
        self.given.append("schema")

    def apply(self, what: Any) -> WriteCounters:
        self.given.append(what)
        self.action()
        return WriteCounters(nodes_created=2, statements=5, duplicates=1)


def parts_writer(*writers: Writer) -> PartsWriter:
    return PartsWriter(cast("list[GraphWriter]", writers))


def refused() -> None:
    raise ClientError("refused")


def test_all_are_written_at_once_and_counted_together() -> None:
    both = threading.Barrier(2, timeout=patience(20))
    writers = Writer(both.wait), Writer(both.wait)
    counters = parts_writer(*writers).apply(PARTS)
    assert [writer.given for writer in writers] == [["first"], ["second"]]
    assert counters == WriteCounters(nodes_created=4, statements=10, duplicates=2)


def test_a_batch_of_one_part_needs_one_writer() -> None:
    first, second = Writer(), Writer()
    assert parts_writer(first, second).apply(PARTS[:1]).nodes_created == 2
    assert (first.given, second.given) == (["first"], [])


def test_a_part_that_is_never_through_does_not_keep_the_process_from_ending() -> None:
    threads: list[threading.Thread] = []
    further = Writer(lambda: threads.append(threading.current_thread()))
    parts_writer(Writer(), further).apply(PARTS)
    assert [thread.daemon for thread in threads] == [True]


def test_the_schema_is_made_once() -> None:
    first, second = Writer(), Writer()
    parts_writer(first, second).ensure_schema()
    assert (first.given, second.given) == (["schema"], [])


@pytest.mark.parametrize("bad", [0, 1])
def test_an_error_is_raised_once_the_other_part_is_through(bad: int) -> None:
    failed = threading.Event()
    through = []

    def fails() -> None:
        failed.set()
        refused()

    def goes_on() -> None:
        assert failed.wait(patience(20))
        through.append(True)

    actions = [goes_on, goes_on]
    actions[bad] = fails
    with pytest.raises(ClientError, match="refused"):
        parts_writer(*map(Writer, actions)).apply(PARTS)
    assert through == [True]


def test_of_two_errors_the_first_part_s_is_raised() -> None:
    def other() -> None:
        raise ClientError("other")

    with pytest.raises(ClientError, match="refused"):
        parts_writer(Writer(refused), Writer(other)).apply(PARTS)
