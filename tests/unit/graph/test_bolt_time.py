"""The Bolt structure that is built here is the one that the driver would send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from neo4j._codec.hydration.v2.temporal import dehydrate_datetime
from neo4j.time import DateTime

from headwater_graph.write.bolt import bolt_time, from_bolt, to_bolt

if TYPE_CHECKING:
    import pytest


def test_as_the_driver_would(subtests: pytest.Subtests) -> None:
    cases = [
        datetime(2013, 1, 1, 5, 15, 0, 123456, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ]
    for time in cases:
        with subtests.test(time=time):
            assert bolt_time(time) == dehydrate_datetime(time)  # type: ignore[no-untyped-call]


def test_in_utc_whatever_the_zone() -> None:
    time = datetime(2013, 1, 1, 5, 15, tzinfo=timezone(timedelta(hours=-5)))
    assert bolt_time(time) == bolt_time(time.astimezone(UTC))


def test_only_times_are_touched() -> None:
    properties = {"name": "n", "rows": 1, "paths": ["a"], "complete": True, "facets": [7]}
    assert to_bolt(properties) == properties == from_bolt(properties)


def test_times_come_as_microseconds_or_as_the_drivers_own() -> None:
    time = datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    assert from_bolt({"first_seen": -1, "from_time": DateTime.from_native(time)}) == {
        "first_seen": time,
        "from_time": time,
    }


def test_what_is_null_is_not_there() -> None:
    assert from_bolt({"first_seen": None, "name": "n"}) == {"name": "n"}
