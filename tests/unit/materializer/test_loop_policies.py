"""Every policy, through the loop: what comes of an error is what the loop does, not what a class says."""

from __future__ import annotations

import itertools

import pytest

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.dead_letters.topic import DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import (
    DeadLetterLimitError,
    DeadLetterReason,
    EventRefusedError,
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    UndecidedError,
)
from headwater_consumers.materializer.lane import JobResult
from headwater_consumers.materializer.limits import BatchPolicy, DeadLetterPolicy
from headwater_consumers.materializer.loop import LoopPolicy
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import BrokerUnavailableError, CredentialsRefusedError, SchemasUnavailableError
from headwater_schemas.events import LineageEvent
from support.materializer import events
from support.materializer.events import event_id, good
from support.materializer.harness import Harness, ids
from support.materializer.lane import InlineLane

AWAY = GraphUnavailableError("Neo4j at bolt://x doesn't answer.")


def fed(count: int, harness: Harness) -> Harness:
    harness.broker.extend(good(number) for number in range(count))
    return harness


def reasons(letters: list[DeadLetter]) -> list[str]:
    return [letter.reason.value for letter in letters]


# TRANSIENT


def test_a_database_that_is_away_is_waited_for_and_nothing_is_lost_or_dead_lettered() -> None:
    harness = fed(5, Harness())
    harness.rounds(2)
    harness.graph.errors.extend([AWAY] * 20)

    harness.settle(seconds=12)

    assert harness.graph.events == ids(range(5))
    assert harness.broker.letters == []
    assert harness.totals.retries == 20
    assert harness.metric("retries_total", cause="GRAPH") == 20


def test_dead_letters_wait_for_the_graph() -> None:
    """Letters first, and a crash in between would send them again with the batch, for as long as the graph is away."""
    harness = Harness()
    harness.broker.extend([good(0), events.GARBAGE, good(1)])
    harness.graph.errors.extend([AWAY] * 3)
    harness.rounds(6)
    assert harness.totals.retries >= 1
    assert harness.broker.letters == []
    harness.settle(seconds=11)
    assert reasons(harness.broker.letters) == [DeadLetterReason.NOT_AN_EVENT.value]
    assert harness.graph.events == ids([0, 1])


def test_while_the_database_is_away_partitions_are_paused_and_polled_on() -> None:
    harness = fed(5, Harness())
    harness.graph.errors.extend([AWAY] * 3)
    harness.rounds(4)
    assert harness.totals.retries == 1, "the next attempt waits for its back-off"

    polls = harness.source.polls
    harness.rounds(10)

    assert harness.source.paused
    assert harness.metric("paused") == 1
    assert harness.source.polls == polls + 10, "or the group would take the partitions away"
    assert harness.health.alive
    assert harness.health.document()["ready"] is False
    assert harness.source.commits == []
    harness.settle(seconds=1)
    harness.rounds()
    assert harness.metric("paused") == 0
    assert harness.health.document()["ready"] is True


def test_attempts_are_spaced_ever_wider_up_to_the_cap() -> None:
    harness = fed(1, Harness())
    harness.graph.errors.extend([AWAY] * 1_000)
    attempts = []
    for _ in range(4_000):
        before = harness.totals.retries
        harness.rounds(seconds=0.05)
        if harness.totals.retries > before:
            attempts.append(harness.clock.now)
    gaps = [later - earlier for earlier, later in itertools.pairwise(attempts)]
    assert gaps[0] < 0.3
    # The cap is 10 s; this harness's jitter takes a quarter off it.
    assert gaps[-1] == pytest.approx(7.5, abs=0.2)
    assert gaps == sorted(gaps) or max(abs(a - b) for a, b in zip(gaps, sorted(gaps), strict=True)) < 0.11


def test_trouble_is_logged_at_once_then_once_a_minute_then_when_it_is_over() -> None:
    harness = fed(1, Harness())
    harness.rounds(2)
    harness.graph.errors.extend([AWAY] * 30)
    for _ in range(150):
        harness.rounds(seconds=1)
    while_away = list(harness.logged)
    harness.graph.errors.clear()
    harness.settle(seconds=11)
    harness.rounds(2)

    assert while_away[0].startswith("Neo4j at bolt://x doesn't answer.")
    assert len(while_away) == 3, "at 0, 60 and 120 of 150 seconds"
    assert "60 s" in while_away[1] or "6" in while_away[1]
    assert harness.logged[3:] == [line for line in harness.logged[3:] if "well again" in line]
    assert len(harness.logged) == 4


def test_a_lost_race_is_tried_again_and_never_dead_lettered() -> None:
    harness = fed(5, Harness())
    race = GraphUnavailableError("The write lost a race.", cause=RetryCause.RACE)
    harness.graph.errors.extend([race] * 8)
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(5))
    assert harness.broker.letters == []
    assert harness.metric("retries_total", cause="RACE") == 8


def test_the_graph_is_not_written_again_when_only_the_commit_failed() -> None:
    harness = fed(5, Harness())
    harness.source.commit_errors.extend([BrokerUnavailableError("Kafka is away.")] * 3)
    harness.settle(seconds=11)
    assert harness.graph.sizes == [5]
    assert harness.metric("commit_failures_total") == 3


class Flaky:
    """A decoder whose schemas can't be read for some attempts."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.real = Decoder()

    def decode(self, value: bytes | None) -> LineageEvent:
        if self.failures:
            self.failures -= 1
            raise SchemasUnavailableError("topic lineage.schemas can't be read")
        return self.real.decode(value)


def test_unreachable_schemas_hold_the_batch_back() -> None:
    harness = fed(3, Harness(decoder=Flaky(3)))
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(3))
    assert harness.broker.letters == []
    assert harness.metric("retries_total", cause="SCHEMAS") == 2, "one of the three was met by looking ahead"


def test_what_could_not_be_decoded_holds_nothing_back_once_it_is_gone() -> None:
    harness = fed(3, Harness(decoder=Flaky(1)))
    harness.rounds(3)
    assert harness.metric("retries_total", cause="SCHEMAS") == 1
    harness.source.lose(0)
    harness.source.assign(1)
    harness.broker.append(good(9), partition=1)
    harness.rounds(5)
    harness.clock.advance(11)
    harness.rounds(5)
    assert harness.graph.events == ids([9])


class Held(InlineLane):
    """A lane whose job takes until it is let go."""

    held = False

    def take(self, timeout_seconds: float) -> JobResult | None:
        return None if self.held else super().take(timeout_seconds)


def test_what_could_not_be_decoded_does_not_cut_the_drain_short_once_it_is_gone() -> None:
    lane, decoder = Held(), Flaky(0)
    harness = Harness(lane=lane, decoder=decoder, batch=BatchPolicy(max_records=3))
    harness.broker.extend((good(number) for number in range(3)), partition=0)
    harness.rounds(3)
    assert lane.busy
    lane.held, decoder.failures = True, 2
    harness.broker.extend((good(number) for number in range(10, 13)), partition=1)
    harness.rounds(5)
    assert harness.metric("retries_total", cause="SCHEMAS") == 1
    harness.source.lose(1)
    harness.rounds(2)
    lane.held = False
    harness.loop.stop()
    harness.loop.run()
    assert harness.graph.events == ids(range(3))
    assert harness.broker.committed == {harness.broker.partition(0): 3}


# PERMANENT


def test_one_refused_event_is_found_by_halving_and_the_good_ones_around_it_are_applied() -> None:
    harness = fed(100, Harness())
    poison = event_id(37)
    harness.graph.refuses = lambda delta: (
        EventRefusedError("Neo4j refuses the data.", code="x") if poison in delta else None
    )
    harness.settle()
    assert harness.graph.events == ids(range(100)) - {poison}
    (letter,) = harness.broker.letters
    assert letter.reason is DeadLetterReason.WRITE_REFUSED
    assert letter.event_id == poison
    assert letter.record.offset == 37
    assert harness.totals.applied == 99


def test_a_database_that_goes_away_in_the_middle_of_the_halving_dead_letters_nobody_else() -> None:
    harness = fed(16, Harness())
    poison = event_id(5)
    calls = 0

    def refuses(delta: frozenset[str]) -> Exception | None:
        nonlocal calls
        calls += 1
        if calls in (3, 5, 6):
            return AWAY
        return EventRefusedError("refused") if poison in delta else None

    harness.graph.refuses = refuses
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(16)) - {poison}
    assert [letter.event_id for letter in harness.broker.letters] == [poison]


def test_a_fold_that_raises_on_one_event_dead_letters_it_alone() -> None:
    poison = event_id(3)

    def fold(events: list[LineageEvent]) -> frozenset[str]:
        if any(event.event_id == poison for event in events):
            raise KeyError("the secret in the payload")
        return frozenset(event.event_id for event in events)

    harness = fed(10, Harness(fold=fold))
    harness.settle()
    assert harness.graph.events == ids(range(10)) - {poison}
    (letter,) = harness.broker.letters
    assert letter.reason is DeadLetterReason.FOLD_FAILED
    assert "KeyError" in letter.message
    assert "secret" not in letter.message


# Every kind of bad record, among good ones


BAD = [
    (None, "EMPTY"),
    (events.EMPTY, "EMPTY"),
    (events.GARBAGE, "NOT_AN_EVENT"),
    (events.UNKNOWN_FINGERPRINT, "UNKNOWN_SCHEMA"),
    (events.unknown_kind(), "UNKNOWN_KIND"),
    (events.without_run(), "INVALID_EVENT"),
    (events.truncated(), "TRUNCATED"),
    (events.good(0) + b"more", "TRAILING_BYTES"),
]


def test_a_bad_record_is_dead_lettered_with_its_reason_and_its_neighbours_are_applied(
    subtests: pytest.Subtests,
) -> None:
    for value, reason in BAD:
        with subtests.test(reason):
            harness = Harness()
            harness.broker.extend([good(1), value, good(2)])
            harness.settle()
            assert harness.graph.events == ids([1, 2])
            (letter,) = harness.broker.letters
            assert letter.reason.value == reason
            assert letter.record.value == value
            assert harness.metric("dead_letters_total", reason=reason) == 1
            assert harness.broker.committed[harness.broker.partition()] == 3


def test_only_bad_records_are_committed_past_too() -> None:
    harness = Harness()
    harness.broker.extend([events.GARBAGE] * 3)
    harness.settle()
    assert len(harness.broker.letters) == 3
    assert harness.graph.sizes == []


# The database blames itself


def test_an_internal_error_of_a_healthy_database_is_an_events_fault() -> None:
    harness = fed(8, Harness())
    poison = event_id(6)
    harness.graph.refuses = lambda delta: UndecidedError("failed inside") if poison in delta else None
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(8)) - {poison}
    assert reasons(harness.broker.letters) == ["WRITE_REFUSED"]


def test_an_internal_error_of_a_sick_database_is_waited_out() -> None:
    harness = fed(8, Harness())
    harness.graph.refuses = lambda _: UndecidedError("the disk is full")
    harness.graph.probe_error = AWAY
    harness.rounds(30, seconds=11)
    assert harness.broker.letters == []
    assert harness.source.commits == []
    harness.graph.probe_error = None
    harness.graph.refuses = lambda _: None
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(8))
    assert harness.broker.letters == []


def test_an_internal_error_that_passes_between_attempts_dead_letters_nobody() -> None:
    """The disk was full at the write and had room again at the probe, twice in a row."""
    harness = fed(1, Harness())
    harness.graph.errors.extend([UndecidedError("failed inside"), UndecidedError("failed inside")])
    harness.settle(seconds=11)
    assert harness.graph.events == ids([0])
    assert harness.broker.letters == []


def test_out_of_memory_halves_this_batch_and_the_next_ones_until_they_fit() -> None:
    harness = Harness(batch=BatchPolicy(max_records=64))
    harness.graph.refuses = lambda delta: OverCapacityError("out of memory") if len(delta) > 16 else None
    fed(64 * 3, harness)
    harness.settle(seconds=1)
    assert harness.graph.events == ids(range(64 * 3))
    assert harness.broker.letters == []
    assert max(harness.graph.sizes) <= 16
    assert harness.limit.records < 64


def test_one_event_too_large_for_a_healthy_database_is_dead_lettered_after_several_tries() -> None:
    harness = fed(4, Harness())
    giant = event_id(2)
    harness.graph.refuses = lambda delta: OverCapacityError("out of memory") if giant in delta else None
    harness.settle(seconds=11)
    assert harness.graph.events == ids(range(4)) - {giant}
    assert reasons(harness.broker.letters) == ["TOO_LARGE"]
    assert harness.totals.retries == 3


# FATAL


def test_an_event_that_ends_the_database_is_found_and_dead_lettered() -> None:
    """It answers the probe each time, and is gone in the middle of every write with the event."""
    harness = fed(64, Harness())
    (poison,) = ids([37])
    gone = GraphUnavailableError("The connection broke.", broke=True)
    harness.graph.refuses = lambda folded: gone if poison in folded else None
    harness.settle(seconds=120)
    assert reasons(harness.broker.letters) == [DeadLetterReason.TOO_LARGE.value]
    assert harness.graph.events == ids(range(64)) - {poison}


def test_a_database_that_breaks_off_once_in_a_while_dead_letters_nobody() -> None:
    harness = fed(5, Harness())
    gone = GraphUnavailableError("The connection broke.", broke=True)
    harness.graph.errors.extend([gone, None, gone])
    harness.settle(seconds=30)
    assert harness.broker.letters == []
    assert harness.graph.sizes == [5]


def test_wrong_credentials_stop_the_consumer_at_once() -> None:
    harness = Harness()
    harness.graph.prepare_errors.append(
        CredentialsRefusedError("Neo4j refuses the password.", setting="HEADWATER_NEO4J_PASSWORD")
    )
    with pytest.raises(CredentialsRefusedError) as stopped:
        harness.loop.run()
    assert stopped.value.setting == "HEADWATER_NEO4J_PASSWORD"
    assert harness.clock.now == 1_000.0, "at once"
    assert harness.source.closed


def test_a_fatal_error_of_the_broker_stops_the_consumer() -> None:
    harness = Harness()
    harness.source.poll_errors.append(CredentialsRefusedError("SASL", setting="HEADWATER_KAFKA_SASL_PASSWORD"))
    with pytest.raises(CredentialsRefusedError):
        harness.loop.run()


def test_a_graph_of_another_version_stops_the_consumer_and_keeps_what_was_committed() -> None:
    harness = fed(3, Harness())
    harness.settle()
    harness.graph.errors.append(GraphUnusableError("version 9", setting="HEADWATER_NEO4J_DATABASE"))
    fed(2, harness)
    with pytest.raises(GraphUnusableError):
        harness.loop.run()
    assert harness.broker.committed[harness.broker.partition()] == 3


def test_a_startup_error_that_blames_the_statement_is_fatal_and_not_retried() -> None:
    harness = Harness()
    harness.graph.prepare_errors.append(EventRefusedError("refused"))
    with pytest.raises(GraphUnusableError):
        harness.loop.run()


def test_a_defect_is_raised_as_it_is() -> None:
    harness = Harness()
    harness.graph.prepare_errors.append(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        harness.loop.run()


# Dead letters


def test_too_many_dead_letters_pause_the_consumer_and_end_one_that_is_to_catch_up() -> None:
    """It doesn't end, to be restarted and to end again; that batch is neither dead-lettered nor committed."""
    limit = DeadLetterPolicy(max_ratio=0.5, window_records=100, min_letters=10)
    harness = Harness(batch=BatchPolicy(max_records=20), dead_letter_policy=limit)
    fed(20, harness)
    harness.settle()
    harness.broker.extend([events.GARBAGE] * 40)
    harness.rounds(200)
    assert harness.broker.committed[harness.broker.partition()] == 40
    assert len(harness.broker.letters) == 20, "20 of 40 is not more than half; 40 of 60 is"
    assert harness.metric("retries_total", cause="TOO_MANY_DEAD_LETTERS") > 0
    assert harness.source.paused

    ending = Harness(
        batch=BatchPolicy(max_records=20), dead_letter_policy=limit, policy=LoopPolicy(until_caught_up=True)
    )
    ending.broker.extend([events.GARBAGE] * 40)
    with pytest.raises(DeadLetterLimitError) as stopped:
        ending.settle()
    assert stopped.value.setting == "HEADWATER_MATERIALIZER_DEAD_LETTER_MAX_RATIO"


def test_a_few_broken_records_at_the_start_are_not_too_many() -> None:
    harness = Harness()
    harness.broker.extend([events.GARBAGE] * 99)
    harness.settle()
    assert len(harness.broker.letters) == 99


def test_an_unwritable_dead_letter_topic_holds_the_offsets_back_and_loses_nothing() -> None:
    harness = Harness()
    harness.broker.extend([good(0), events.GARBAGE, events.EMPTY])
    harness.dead_letters.errors.append(None)
    harness.dead_letters.accepts = 1
    harness.rounds(6)
    assert harness.source.commits == [], "one of two letters is not acknowledged"
    assert len(harness.broker.letters) == 1
    assert harness.metric("dead_letter_failures_total") == 1

    harness.settle(seconds=11)
    assert reasons(harness.broker.letters) == ["NOT_AN_EVENT", "EMPTY"], "the acknowledged one isn't sent again"
    assert harness.graph.sizes == [1], "nor is the graph written again"


def test_a_dead_letter_error_that_goes_on_is_retried_for_ever() -> None:
    harness = Harness()
    harness.broker.append(events.GARBAGE)
    letters: list[DeadLetter] = []

    def send(batch: list[DeadLetter]) -> None:
        letters[:] = batch
        raise DeadLettersUndeliveredError("away", remaining=batch)

    harness.dead_letters.send = send  # type: ignore[assignment, method-assign]
    harness.rounds(200, seconds=11)
    assert harness.source.commits == []
    assert len(letters) == 1
    assert harness.totals.retries > 90
