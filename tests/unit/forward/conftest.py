"""A broker in memory knows at once how far its consumers are: it is asked each time."""

from __future__ import annotations

import pytest

from headwater_consumers.kafka import membership


@pytest.fixture(autouse=True)
def _positions_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "_POSITIONS_SECONDS", 0.0)
