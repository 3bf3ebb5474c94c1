from __future__ import annotations

from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch, PlanKey


def key(session: str, number: int, *rdds: int) -> PlanKey:
    return PlanKey(session, number, frozenset(rdds))


def test_a_write_belongs_to_the_last_call_before_it_in_its_session() -> None:
    links = BatchLinks()
    links.called(key("q1", 10, 3), MicroBatch("q1", 0))
    links.called(key("q2", 15, 4), MicroBatch("q2", 0))
    links.called(key("q1", 20, 5), MicroBatch("q1", 1))
    assert links.owner(key("q1", 11)) == MicroBatch("q1", 0)
    assert links.owner(key("q1", 19)) == MicroBatch("q1", 0)
    assert links.owner(key("q1", 21)) == MicroBatch("q1", 1)
    assert links.owner(key("q2", 21)) == MicroBatch("q2", 0)


def test_the_order_of_calls_does_not_matter() -> None:
    links = BatchLinks()
    links.called(key("q1", 20), MicroBatch("q1", 1))
    links.called(key("q1", 10), MicroBatch("q1", 0))
    assert links.owner(key("q1", 25)) == MicroBatch("q1", 1)
    assert links.owner(key("q1", 15)) == MicroBatch("q1", 0)


def test_a_write_through_another_session_is_known_by_the_frame_in_it() -> None:
    links = BatchLinks()
    links.called(key("q1", 10, 3), MicroBatch("q1", 0))
    links.called(key("q1", 20, 5), MicroBatch("q1", 1))
    assert links.owner(key("main", 30, 3, 99)) == MicroBatch("q1", 0)


def test_any_other_write_belongs_to_none() -> None:
    links = BatchLinks()
    assert not links
    links.called(key("q1", 10, 3), MicroBatch("q1", 0))
    assert links
    assert links.owner(key("main", 30, 4)) is None
    assert links.owner(key("q1", 9)) is None, "made before the first call"


def test_of_frames_that_were_gathered_the_latest_counts() -> None:
    links = BatchLinks()
    links.called(key("q1", 10, 3), MicroBatch("q1", 0))
    links.called(key("q1", 20, 5), MicroBatch("q1", 1))
    assert links.owner(key("q1", 30, 3, 5)) == MicroBatch("q1", 1)
    assert links.owner(key("main", 30, 5, 3)) == MicroBatch("q1", 1)


def test_what_was_made_of_a_frame_is_its_batchs() -> None:
    links = BatchLinks()
    links.called(key("q1", 10, 3), MicroBatch("q1", 0))
    links.kept(7, MicroBatch("q1", 0))
    assert links.owner(key("main", 30, 7)) == MicroBatch("q1", 0)
    assert links.made_of([99, 7]) == MicroBatch("q1", 0)
    assert links.made_of([99]) is None


def test_a_call_is_found_by_what_spark_says_of_it() -> None:
    links = BatchLinks()
    first, again = MicroBatch("q1", 1, "run-1"), MicroBatch("q1", 1, "run-2")
    links.called(key("s1", 10), first)
    links.called(key("s2", 20), again)
    assert links.call("q1", 1, "run-1") == first
    assert links.call("q1", 1) == again, "the last start's"
    assert links.call("q1", 2) is None
    assert links.call("q1", 1, "run-3") is None


def test_memory_is_bounded() -> None:
    links = BatchLinks()
    for number in range(3_000):
        links.called(key("q", number, number), MicroBatch("q", number))
    assert links.owner(key("main", 9_999, 2_999)) == MicroBatch("q", 2_999)
    assert links.owner(key("main", 9_999, 0)) is None
