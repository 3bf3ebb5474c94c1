"""Events that are folded: none that makes more relationships than a transaction may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from headwater_consumers.materializer.errors import TooManyLinksError
from headwater_consumers.materializer.graph import checked_fold
from headwater_graph.limits import MOST_LINKS
from headwater_schemas.events import LineageEvent
from support.materializer.events import wide_interval


def folded(*events: LineageEvent) -> Any:
    def fold(given: Sequence[LineageEvent]) -> list[str]:
        return [event.kind for event in given]

    return checked_fold(fold, events)


def test_each_pair_counts_once_however_often_it_is_reported() -> None:
    event = wide_interval(1, 1_000, 20)
    assert event.interval_event is not None
    again = msgspec.structs.replace(event.interval_event, entries=event.interval_event.entries * 64)
    assert folded(msgspec.structs.replace(event, interval_event=again), event) == ["INTERVAL", "INTERVAL"]


def test_more_pairs_than_a_transaction_may_have_are_not_tried() -> None:
    batches = MOST_LINKS // 20_000
    assert folded(wide_interval(batches, 1_000, 20)) == ["INTERVAL"]
    with pytest.raises(TooManyLinksError, match=f"More than {MOST_LINKS:,} relationships"):
        folded(wide_interval(batches + 1, 1_000, 20))
