"""Flow of records: pipelining, bounds, rebalances, draining, catching up."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.materializer.checkpoint import Wait
from headwater_consumers.materializer.errors import GraphUnavailableError
from headwater_consumers.materializer.lane import JobResult, ThreadLane
from headwater_consumers.materializer.limits import BatchPolicy
from headwater_consumers.materializer.loop import Loop, LoopPolicy
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent
from support.materializer.broker import FakeBroker
from support.materializer.clock import FakeClock
from support.materializer.events import GARBAGE, good
from support.materializer.graph import FakeGraph, fold_ids
from support.materializer.harness import Harness, ids
from support.materializer.lane import InlineLane
from support.waiting import eventually, patience

AWAY = GraphUnavailableError("Neo4j is away.")


class SlowGraph(FakeGraph):
    """Writes when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.go = threading.Semaphore(0)

    def apply(self, folded: frozenset[str]) -> WriteCounters:
        self.entered.release()
        assert self.go.acquire(timeout=patience(30))
        return super().apply(folded)


@pytest.fixture
def slow() -> Iterator[Slow]:
    """Maker of a consumer that writes into a `SlowGraph`, in a thread."""
    made: list[Harness] = []

    def make(**more: Any) -> tuple[SlowGraph, Harness]:
        graph = SlowGraph()
        made.append(Harness(graph=graph, lane=ThreadLane(), **more))
        return graph, made[-1]

    yield make
    for harness in made:
        harness.parts.lane.close(harness.graph.close, patience(5))


def assigned(harness: Harness) -> None:
    """Run rounds until there are partitions."""

    def is_assigned() -> bool:
        harness.rounds()
        return harness.metric("partitions_assigned") > 0

    eventually(is_assigned, every=0.001)


def write_begins(harness: Harness, graph: SlowGraph) -> None:
    """Run rounds until the graph is asked to write."""

    def is_asked() -> bool:
        if graph.entered.acquire(blocking=False):
            return True
        harness.loop.run_once()
        return False

    eventually(is_asked, every=0.001)


Slow = Callable[..., tuple[SlowGraph, Harness]]


class HeldLane(InlineLane):
    """Lane whose job takes until it is let go; waits for its result pass on the clock of the test alone."""

    def __init__(self) -> None:
        super().__init__()
        self.held = False
        self.waited_seconds = 0.0
        self.clock = FakeClock()

    def take(self, timeout_seconds: float) -> JobResult | None:
        if not self.held:
            return super().take(timeout_seconds)
        self.clock.advance(timeout_seconds)
        self.waited_seconds += timeout_seconds
        return None


def test_the_next_batch_is_fetched_decoded_and_folded_while_one_is_written(slow: Slow) -> None:
    folded: list[int] = []

    def fold(events: list[object]) -> frozenset[str]:
        folded.append(len(events))
        return fold_ids(events)  # type: ignore[arg-type]

    graph, harness = slow(batch=BatchPolicy(max_records=10), fold=fold)
    harness.broker.extend(good(number) for number in range(100))
    write_begins(harness, graph)
    harness.rounds(5)

    assert folded == [10, 10], "the batch that is written, and the next one: ready"
    # One record more with each poll keeps the membership alive without a pause.
    assert 30 <= harness.metric("records_in_hand") <= 30 + harness.source.polls, "and a third is fetched, and no more"
    assert graph.events == set()

    for _ in range(10):
        graph.go.release()
    harness.settle_with_thread()
    assert graph.events == ids(range(100))


def test_what_comes_while_a_batch_is_written_is_decoded_at_once(slow: Slow) -> None:
    """It isn't enough for a batch, and a batch isn't made before the one before is through; but nothing keeps it."""
    decoded: list[bytes | None] = []
    real = Decoder()

    class Watched:
        def decode(self, value: bytes | None) -> LineageEvent:
            decoded.append(value)
            return real.decode(value)

    graph, harness = slow(batch=BatchPolicy(max_records=100), decoder=Watched())
    harness.broker.extend([good(0)])
    write_begins(harness, graph)
    harness.broker.extend([*(good(number) for number in range(1, 70)), GARBAGE])
    harness.rounds(5)
    assert len(decoded) == 71
    assert graph.events == set()

    for _ in range(3):
        graph.go.release()
    harness.settle_with_thread()
    assert graph.events == ids(range(70))
    assert len(harness.broker.letters) == 1
    assert len(decoded) == 71, "and once only"


def test_a_batch_that_is_not_full_is_ready_when_the_one_before_is_through(slow: Slow) -> None:
    """A record takes 0.1 s to prepare and 1 s to write: five are prepared in the last half second of a write."""
    folded: list[int] = []

    def fold(events: list[object]) -> frozenset[str]:
        folded.append(len(events))
        harness.clock.advance(0.1 * len(events))
        return fold_ids(events)  # type: ignore[arg-type]

    graph, harness = slow(batch=BatchPolicy(max_records=100, target_seconds=60), fold=fold)

    def begin(first: int, count: int) -> None:
        harness.broker.extend(good(number) for number in range(first, first + count))
        write_begins(harness, graph)

    def finish() -> None:
        graph.go.release()
        applied = harness.totals.applied

        def applies() -> bool:
            harness.rounds()
            return harness.totals.applied > applied

        eventually(applies, every=0.001)

    begin(0, 10)
    harness.clock.advance(10)
    finish()
    begin(10, 10)
    harness.broker.extend(good(number) for number in range(20, 25))
    harness.rounds(9, seconds=1)
    assert folded == [10, 10], "what comes until then may be in the next batch, too"
    harness.broker.extend([good(25)])
    harness.rounds(3, seconds=0.3)
    assert folded == [10, 10, 6]
    assert graph.events == ids(range(10))

    graph.go.release(3)
    harness.settle_with_thread()
    assert graph.events == ids(range(26))


def test_what_is_in_memory_is_bounded_by_three_batches_whatever_the_backlog() -> None:
    harness = Harness(batch=BatchPolicy(max_records=10))
    harness.broker.extend(good(number) for number in range(1_000))
    harness.graph.errors.extend([AWAY] * 50)
    most = 0.0
    for _ in range(60):
        harness.rounds(seconds=1)
        most = max(most, harness.metric("records_in_hand"))
    assert most <= 30


def test_bytes_bound_a_batch_too() -> None:
    size = len(good(0))
    harness = Harness(batch=BatchPolicy(max_records=1_000, max_bytes=size * 5))
    harness.broker.extend(good(number) for number in range(50))
    harness.settle()
    assert max(harness.graph.sizes) <= 5
    assert harness.graph.events == ids(range(50))


def test_bytes_are_bounded_however_long_a_write_takes(slow: Slow) -> None:
    graph, harness = slow(batch=BatchPolicy(max_records=1_000, max_bytes=5 * len(good(0))))
    harness.broker.extend(good(number) for number in range(200))
    write_begins(harness, graph)
    harness.rounds(30)

    assert harness.metric("records_in_hand") <= 5 + 5 + 2 * 5 + 1
    for _ in range(200):
        graph.go.release()
    harness.settle_with_thread()
    assert graph.events == ids(range(200))


def test_records_that_trickle_in_are_written_at_once() -> None:
    harness = Harness()
    harness.rounds(3)
    harness.broker.append(good(1))
    harness.rounds(3)
    assert harness.graph.events == ids([1])


def test_a_write_that_never_answers_makes_the_consumer_unready_and_not_dead(slow: Slow) -> None:
    graph, harness = slow()

    assigned(harness)
    harness.broker.append(good(1))
    write_begins(harness, graph)
    assert harness.health.document()["ready"] is True
    harness.rounds(40, seconds=1)
    assert harness.health.document()["ready"] is False
    assert harness.health.document()["alive"] is True
    assert len([line for line in harness.logged if "hasn't answered" in line]) == 1
    graph.go.release()
    harness.settle_with_thread()
    harness.rounds()
    assert harness.health.document()["ready"] is True


def test_connections_are_let_go_only_when_the_write_on_them_has_ended(slow: Slow) -> None:
    policy = LoopPolicy(drain_seconds=0.05, close_seconds=0.05)
    graph, harness = slow(policy=policy)
    harness.loop = Loop(harness.parts, harness.policy, clock=time.monotonic, random=lambda: 0.5)
    harness.broker.append(good(1))
    write_begins(harness, graph)
    harness.loop.stop()
    harness.loop.run()
    assert not harness.graph.closed, "it is in use"
    graph.go.release()
    assert harness.parts.lane.close(lambda: None, patience(10))
    assert graph.closed
    assert graph.events == ids([1])


# Rebalances


def test_a_revoked_partition_is_drained_and_committed_before_it_is_given_away() -> None:
    harness = Harness()
    harness.broker.extend((good(number) for number in range(5)), partition=0)
    harness.broker.extend((good(number) for number in range(5, 9)), partition=1)
    harness.rounds(2)
    harness.source.revoke(1)
    harness.rounds(3)
    assert harness.broker.committed[harness.broker.partition(1)] == 4
    assert harness.metric("partitions_assigned") == 1
    assert harness.graph.events == ids(range(9))


def test_records_of_a_revoked_partition_that_are_not_being_written_are_dropped_and_the_others_kept() -> None:
    harness = Harness()
    harness.graph.errors.extend([AWAY] * 2)
    harness.broker.extend((good(number) for number in range(5)), partition=0)
    harness.broker.extend((good(number) for number in range(5, 9)), partition=1)
    harness.rounds(3)
    harness.source.revoke(1)
    harness.rounds(1)
    harness.graph.errors.clear()
    harness.rounds(8, seconds=1)
    assert harness.broker.committed == {harness.broker.partition(0): 5}
    assert harness.graph.events == ids(range(5)), "partition 1 is for its new owner"


def test_a_revocation_waits_for_the_write_no_longer_than_the_deadline() -> None:
    lane = HeldLane()
    harness = Harness(lane=lane, policy=LoopPolicy(drain_seconds=0.3))
    lane.clock = harness.clock
    harness.broker.extend(good(number) for number in range(5))
    harness.rounds(3)
    assert lane.busy
    lane.held = True
    harness.source.revoke(0)
    harness.rounds()
    assert lane.waited_seconds == pytest.approx(0.3)
    lane.held = False
    harness.rounds(50)
    assert harness.graph.events == ids(range(5))
    assert harness.broker.partition(0) not in harness.broker.committed, "it is another's by then"


def test_a_lost_partition_is_dropped_and_never_committed() -> None:
    harness = Harness()
    harness.graph.errors.append(AWAY)
    harness.broker.extend(good(number) for number in range(5))
    harness.rounds(3)
    harness.source.lose(0)
    harness.rounds(10, seconds=1)
    assert harness.broker.committed == {}
    assert harness.metric("rebalances_total", kind="lost") == 1


def test_two_consumers_share_the_partitions_and_hand_one_over() -> None:
    broker = FakeBroker(partitions=2)
    one = Harness(broker=broker)
    two = Harness(broker=broker, graph=one.graph)
    two.source.first = ()
    broker.extend((good(number) for number in range(10)), partition=0)
    broker.extend((good(number) for number in range(10, 20)), partition=1)
    one.rounds(2)
    one.source.revoke(1)
    one.rounds(1)
    two.rounds(2)
    two.source.assign(1)
    for _ in range(10):
        one.rounds()
        two.rounds()
    assert one.graph.events == ids(range(20))
    assert broker.committed == {broker.partition(0): 10, broker.partition(1): 10}


# The end


def test_stop_drains_everything_in_hand_commits_and_leaves() -> None:
    harness = Harness(batch=BatchPolicy(max_records=10))
    harness.broker.extend(good(number) for number in range(25))
    harness.rounds(3)
    harness.loop.stop()
    in_hand = harness.totals.consumed
    harness.loop.run()
    assert harness.broker.committed[harness.broker.partition()] == in_hand
    assert harness.source.closed


@pytest.mark.parametrize("revoked", [False, True])
def test_drain_and_revocation_share_the_time_of_a_stop(revoked: bool) -> None:
    lane = HeldLane()
    harness = Harness(lane=lane, policy=LoopPolicy(drain_seconds=20))
    lane.clock = harness.clock
    harness.broker.extend(good(number) for number in range(5))
    harness.rounds(3)
    assert lane.busy
    lane.held = True
    harness.loop.stop()
    if revoked:
        harness.source.revoke(0)
    harness.loop.run()
    assert lane.waited_seconds == pytest.approx(20)
    assert harness.source.closed
    assert harness.broker.committed == {}


def test_stop_does_not_wait_for_a_database_that_is_away() -> None:
    harness = Harness()
    harness.broker.extend(good(number) for number in range(5))
    harness.graph.errors.extend([AWAY] * 100)
    harness.rounds(5)
    harness.loop.stop()
    harness.loop.run()
    assert harness.broker.committed == {}
    assert harness.source.closed


def test_each_record_that_was_consumed_is_in_one_of_the_totals() -> None:
    harness = Harness(batch=BatchPolicy(max_records=10))
    harness.broker.extend([*(good(number) for number in range(25)), GARBAGE], partition=0)
    harness.broker.extend((good(number) for number in range(100, 113)), partition=1)
    harness.settle()
    # A partition that comes back from another consumer, which had committed nothing of it, is read again.
    harness.graph.errors.extend([AWAY] * 100)
    harness.broker.extend((good(number) for number in range(200, 213)), partition=1)
    harness.rounds(5)
    harness.source.revoke(1)
    harness.rounds(2)
    harness.source.assign(1)
    harness.rounds(2)
    harness.loop.stop()
    harness.loop.run()
    document = harness.totals.document()
    assert document["released"] > 0
    assert document["consumed"] == document["applied"] + document["dead_lettered"] + document["released"]
    assert (document["applied"], document["dead_lettered"]) == (38, 1)
    assert harness.unaccounted == 0


def test_until_caught_up_ends_at_the_ends_that_were_there_at_the_start() -> None:
    harness = Harness(policy=LoopPolicy(until_caught_up=True))
    harness.broker.extend((good(number) for number in range(5)), partition=0)
    harness.broker.extend((good(number) for number in range(5, 9)), partition=1)
    harness.broker.append(GARBAGE, partition=1)
    harness.source.polling = lambda _: harness.clock.advance(0.1)
    harness.loop.run()
    assert harness.broker.committed == {harness.broker.partition(0): 5, harness.broker.partition(1): 5}
    assert harness.totals.document()["applied"] == 9


def test_an_empty_topic_is_caught_up_with_at_once() -> None:
    harness = Harness(policy=LoopPolicy(until_caught_up=True))
    harness.loop.run()
    assert (harness.totals.consumed, harness.clock.now) == (0, 1_000.0)


def test_a_restart_after_a_crash_at_any_step_ends_in_the_same_graph() -> None:
    undisturbed = Harness()
    undisturbed.broker.extend([good(0), GARBAGE, good(1), good(2)])
    undisturbed.settle()

    class Killed(BaseException):
        """The process is gone."""

    for step in ("before the graph", "before the letters", "before the offsets"):
        first = Harness()
        first.broker.extend([good(0), GARBAGE, good(1), good(2)])

        def kill(*_: object) -> None:
            raise Killed

        match step:
            case "before the graph":
                first.graph.apply = kill  # type: ignore[assignment, method-assign]
            case "before the letters":
                first.dead_letters.send = kill  # type: ignore[assignment, method-assign]
            case _:
                first.source.commit_now = kill  # type: ignore[assignment, method-assign]
        with contextlib.suppress(Killed):
            first.rounds(10)
        graph = FakeGraph()
        graph.events = first.graph.events
        second = Harness(broker=first.broker, graph=graph)
        second.settle()
        assert second.graph.events == undisturbed.graph.events, step
        assert {str(letter.record) for letter in second.broker.letters} == {"lineage.events[0]@1"}, step


def reported(harness: Harness) -> list[tuple[int, int]]:
    """Offsets in partition 0 of each report: the next one, and the end."""
    found = [each for report in harness.graph.reports for each in report if each.partition.number == 0]
    return [(each.next_offset, each.end_offset) for each in found]


def test_the_graph_is_told_how_far_the_consumer_is_also_at_its_end() -> None:
    harness = Harness()
    harness.broker.extend(good(number) for number in range(3))
    harness.settle(seconds=1)
    harness.rounds(2, seconds=6)
    assert reported(harness)[-1] == (3, 3)
    harness.broker.extend([good(3)])
    harness.rounds(4)
    harness.loop.stop()
    harness.loop.run()
    assert reported(harness)[-1] == (4, 4), "what was written last, and committed"


def test_a_backlog_doesnt_keep_the_graph_from_being_told() -> None:
    harness = Harness(batch=BatchPolicy(max_records=1))
    harness.broker.extend(good(number) for number in range(60))
    harness.rounds(40, seconds=1)
    offsets = reported(harness)
    assert len(offsets) > 2
    assert {end for _, end in offsets} == {60}
    assert offsets == sorted(offsets)
    assert 0 < offsets[-1][0] < 60


def test_only_the_step_that_waits_is_said_to_be_silent(slow: Slow) -> None:
    graph, harness = slow()

    assigned(harness)
    harness.broker.append(good(1))
    write_begins(harness, graph)
    harness.rounds(40, seconds=1)
    assert ["Neo4j" in line for line in harness.logged if "hasn't answered" in line] == [True]
    # The graph has answered, and the next step has only begun.
    current = harness.loop._in_flight.current
    assert current is not None
    current.waits = Wait(RetryCause.DEAD_LETTERS, harness.clock())
    before = len(harness.logged)
    harness.rounds(5, seconds=1)
    assert harness.logged[before:] == []
    harness.rounds(40, seconds=1)
    assert "dead-letter topic hasn't answered" in harness.logged[before]
    graph.go.release()
    harness.settle_with_thread()
