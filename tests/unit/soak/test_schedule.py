"""The soak's own rules, on a world where nothing is real: a fault without a trace fails it, and so do too few."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import pytest

from headwater.errors import CheckFailedError, InputError
from headwater_benchmarks.commands.soak import _least
from headwater_benchmarks.soak import schedule
from headwater_benchmarks.soak.faults import Fault, NotPossibleError, require
from headwater_benchmarks.soak.schedule import SoakOptions, soak

pytestmark = pytest.mark.nightly


class World:
    """Nothing happens in it, and all is well."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.feed = self

    peaks: dict[str, float] = {}  # noqa: RUF012  never changed

    def resume(self) -> None: ...

    def warm_up(self) -> None: ...

    def hold(self, dice: random.Random, least: float, most: float) -> None: ...

    def recover(self) -> float:
        return 0.5

    def verify(self) -> dict[str, int]:
        return {"acknowledged": 0, "dead_lettered": 0, "compared": 1}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


@contextmanager
def faults(monkeypatch: pytest.MonkeyPatch, *happens: Any) -> Iterator[None]:
    monkeypatch.setattr(schedule, "World", World)
    monkeypatch.setattr(schedule, "FAULTS", tuple(Fault(f"fault {n}", each) for n, each in enumerate(happens)))
    yield


def seen(_world: Any, _dice: random.Random) -> str:
    return "it was seen"


def unseen(_world: Any, _dice: random.Random) -> str:
    return ""


def unproven(_world: Any, _dice: random.Random) -> str:
    require(shown=0, what="no deadlock")
    return "never"


def impossible(_world: Any, _dice: random.Random) -> str:
    raise NotPossibleError("no root")


def test_what_showed_each_fault_is_in_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    with faults(monkeypatch, seen, impossible):
        document = soak(SoakOptions(seconds=None))
    assert document["failure"] is None
    assert document["faults"] == 1
    shown = {row["name"]: (row["times"], row["shown"], row["not_here"]) for row in document["measurements"]}
    assert shown == {"fault 0": (1, ["it was seen"], None), "fault 1": (0, [], "no root")}


@pytest.mark.parametrize(("fault", "named"), [(unseen, "no evidence"), (unproven, "no deadlock")])
def test_a_fault_that_left_no_trace_fails_the_soak(monkeypatch: pytest.MonkeyPatch, fault: Any, named: str) -> None:
    with faults(monkeypatch, fault):
        document = soak(SoakOptions(seconds=None))
    assert "fault 0" in document["failure"]
    assert named in document["failure"]


def test_it_goes_on_until_there_were_enough_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    with faults(monkeypatch, seen):
        assert soak(SoakOptions(seconds=0.0, least_faults=0))["faults"] == 0
        assert soak(SoakOptions(seconds=0.2, least_faults=3))["faults"] >= 3


def test_too_few_faults_fail_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with faults(monkeypatch, seen):
        document = soak(SoakOptions(seconds=0.001, least_faults=100_000))
    assert "fewer than 100000" in document["failure"]


def test_minutes_have_a_least_number_of_faults() -> None:
    assert _least(120.0, None) == 480
    assert _least(120.0, 200) == 200
    assert _least(None, None) == 0
    with pytest.raises(InputError):
        _least(None, 5)


def test_a_verdict_that_fails_is_the_soak_s_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_world: World) -> dict[str, int]:
        raise CheckFailedError("Checks failed: graph: 1 missing")

    monkeypatch.setattr(World, "verify", fails)
    with faults(monkeypatch, seen):
        assert "1 missing" in soak(SoakOptions(seconds=None))["failure"]
