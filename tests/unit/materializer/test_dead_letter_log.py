"""Log lines of dead letters."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from support.materializer.events import GARBAGE
from support.materializer.harness import Harness

if TYPE_CHECKING:
    import pytest


def test_ten_a_minute_are_logged_and_the_others_counted(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness()
    with caplog.at_level(logging.WARNING, "headwater.consume"):
        harness.broker.extend([GARBAGE] * 25)
        harness.settle()
        first = [each.getMessage() for each in caplog.records if "Dead letter" in each.message]
        assert len(first) == 10
        assert first[0].startswith("Dead letter: lineage.events[0]@0, event unknown, NOT_AN_EVENT: ")
        caplog.clear()
        harness.clock.advance(61)
        harness.broker.extend([GARBAGE])
        harness.settle()
        (again,) = [each.getMessage() for each in caplog.records if "Dead letter" in each.message]
    assert "@25, event" in again
    assert again.endswith("(15 earlier dead letters weren't logged.)")
