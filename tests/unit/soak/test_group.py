"""Conditions under which the group counts as recovered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from headwater.errors import HeadwaterError
from headwater_benchmarks.soak import group
from headwater_benchmarks.soak.group import Group
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import Partition
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.topics import TopicNames

pytestmark = pytest.mark.nightly


class Reader:
    """Answers one after another, the last for ever: (end, committed) by partition, or trouble."""

    def __init__(self, *answers: Sequence[tuple[int, int | None]] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    def positions(self, topic: str, *, timeout_seconds: float) -> list[PartitionOffsets]:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return [
            PartitionOffsets(Partition(topic, number, "id"), 0, end, committed)
            for number, (end, committed) in enumerate(answer)
        ]


def group_of(monkeypatch: pytest.MonkeyPatch, reader: Reader, seconds: float = 30.0) -> Group:
    def made(_client: Any, *, group: str) -> Reader:
        return reader

    monkeypatch.setattr(group, "OffsetReader", made)
    monkeypatch.setattr(group, "_LOOK_SECONDS", 0.001)
    return Group({}, TopicNames("soak"), seconds)


AWAY = BrokerUnavailableError("away")


def test_it_has_recovered_once_all_is_committed_and_the_rest_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader([(5, None), (3, 3)], AWAY, [(9, 4), (3, 3)], [(9, 5), (3, 3)])
    ready = [False, False, True]
    group_of(monkeypatch, reader).until_committed({0: 5, 1: 3}, lambda: ready.pop(0), str)
    assert ready == []
    assert reader.asked == 6


def test_the_ends_are_those_of_all_partitions_whatever_it_takes_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    assert group_of(monkeypatch, Reader(AWAY, AWAY, [(5, 1), (0, None)])).ends() == {0: 5, 1: 0}


def test_what_does_not_recover_is_reported_with_how_things_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    unwell = group_of(monkeypatch, Reader([(5, 4)]), seconds=0.01)
    with pytest.raises(HeadwaterError, match=r"No recovery after 0 s\.\n.*4 of 5\nthe consumers are well"):
        unwell.until_committed({0: 5}, lambda: True, lambda: "the consumers are well")


def test_brokers_that_stay_away_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HeadwaterError, match="positions: away"):
        group_of(monkeypatch, Reader(AWAY), seconds=0.01).until_committed({0: 5}, lambda: True, str)
