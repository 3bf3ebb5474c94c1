"""The gate before a write: what it raises, what it lets pass, and how often it asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from headwater_producers.spark import CaptureSettings, TaintedInputError
from headwater_producers.spark.common.metrics import GateOutcome, shared_metrics
from headwater_producers.spark.driver.gate_client import GateClient
from headwater_producers.spark.driver.input_gate import CACHE_SECONDS, MAX_PARTITIONS, WARN_SECONDS, InputGate
from headwater_producers.spark.events.application import UNCHECKED_FACET, UncheckedWrites
from headwater_producers.spark.execution.write_inputs import WriteInputs
from headwater_producers.spark.plan import KnownFrames, PlanSettings
from headwater_schemas.events import DatasetRef
from support.materializer.clock import FakeClock
from support.played_gate import PlayedGate, folder
from support.waiting import patience

ORDERS, CLEAN = Path("/lake/orders"), Path("/lake/clean")


class SteppingClock(FakeClock):
    """A clock on which each look takes ten seconds."""

    def __call__(self) -> float:
        self.advance(10.0)
        return super().__call__()


def input_gate(
    url: str, clock: FakeClock | None = None, *, unchecked: UncheckedWrites | None = None, **more: Any
) -> InputGate:
    settings = CaptureSettings.load(gate_url=url, **{"gate_timeout_seconds": patience(30), **more})
    client, counts = GateClient(settings), unchecked or UncheckedWrites()
    return InputGate(client, settings, PlanSettings(), KnownFrames(), counts, clock or FakeClock())


def reads(*paths: Path, partitions: Mapping[Path, tuple[str, ...]] | None = None) -> WriteInputs:
    by_dataset = {DatasetRef("file", str(path)): each for path, each in (partitions or {}).items()}
    return WriteInputs(tuple(DatasetRef("file", str(path)) for path in paths), partitions=lambda: by_dataset)


def refused(checked: InputGate, inputs: WriteInputs) -> str:
    with pytest.raises(TaintedInputError) as raised:
        checked.check(lambda: inputs)
    return str(raised.value)


def counted() -> dict[str, float]:
    shared_metrics()
    name = "headwater_capture_gate_checks_total"
    return {each.value: REGISTRY.get_sample_value(name, {"outcome": each.value}) or 0.0 for each in GateOutcome}


def since(before: Mapping[str, float]) -> dict[str, float]:
    return {name: value - before[name] for name, value in counted().items() if value != before[name]}


def test_a_held_input_refuses_the_write_with_the_incidents_name(gate: PlayedGate) -> None:
    gate.hold(ORDERS, incident="INC-7f3a9c02b1", title="Negative delays", severity="SEV2", certainty="EXACT")
    before = counted()
    assert refused(input_gate(gate.url), reads(CLEAN, ORDERS)) == (
        'Refused: file:/lake/orders holds bad data of INC-7f3a9c02b1 "Negative delays" (SEV2, EXACT). Nothing was '
        "written. See headwater incident show INC-7f3a9c02b1; without refuse_tainted_inputs the write would run."
    )
    assert gate.asked == [folder(CLEAN), folder(ORDERS)]
    assert since(before) == {"free": 1, "held": 1}


def test_unknown_certainty_and_further_incidents_are_named(gate: PlayedGate) -> None:
    gate.hold(ORDERS, incident="INC-1", title=None, severity=None, certainty="UNKNOWN")
    gate.held[folder(ORDERS)] *= 3
    text = refused(input_gate(gate.url), reads(ORDERS))
    assert "file:/lake/orders may hold bad data of INC-1 (no severity, UNKNOWN) and 2 more incidents." in text


def test_texts_from_outside_are_shown_on_one_line_and_without_secrets(gate: PlayedGate) -> None:
    gate.hold(ORDERS, incident="INC-1\x1b[2J", title="a\nb password=hunter2 " + "x" * 1_000)
    text = refused(input_gate(gate.url), reads(ORDERS))
    assert "\x1b" not in text
    assert "\n" not in text
    assert "hunter2" not in text
    assert len(text) < 600


def test_answers_hold_for_some_seconds(gate: PlayedGate) -> None:
    clock = FakeClock()
    checked = input_gate(gate.url, clock)
    gate.hold(ORDERS)
    for _ in range(3):
        checked.check(lambda: reads(CLEAN))
        refused(checked, reads(ORDERS))
    assert gate.asked == [folder(CLEAN), folder(ORDERS)]
    gate.held.clear()
    clock.advance(CACHE_SECONDS)
    checked.check(lambda: reads(ORDERS))
    assert gate.asked[2:] == [folder(ORDERS)]


def test_a_dataset_that_the_graph_does_not_have_passes(gate: PlayedGate, caplog: pytest.LogCaptureFixture) -> None:
    gate.unknown.add(folder(ORDERS))
    before = counted()
    checked = input_gate(gate.url, gate_unavailable="refuse")
    with caplog.at_level("INFO"):
        checked.check(lambda: reads(ORDERS))
        checked.check(lambda: reads(ORDERS))
    assert [(each.levelname, "file:/lake/orders" in each.message) for each in caplog.records] == [("INFO", True)]
    assert since(before) == {"unknown": 2}


def test_only_partitions_that_would_be_read_hold_it(gate: PlayedGate) -> None:
    gate.hold(ORDERS, "day=2")
    checked = input_gate(gate.url)
    checked.check(lambda: reads(ORDERS, partitions={ORDERS: ("day=1", "day=3")}))
    assert gate.asked == [folder(ORDERS), f"{folder(ORDERS)}#day=1", f"{folder(ORDERS)}#day=3"]
    text = refused(checked, reads(ORDERS, partitions={ORDERS: ("day=1", "day=2")}))
    assert "file:/lake/orders, partition day=2, holds bad data" in text
    many = tuple(f"day={number}" for number in range(10, 11 + MAX_PARTITIONS))
    assert "file:/lake/orders holds bad data" in refused(checked, reads(ORDERS, partitions={ORDERS: many}))


def test_partitions_are_not_looked_up_of_a_free_dataset(gate: PlayedGate) -> None:
    inputs = WriteInputs((DatasetRef("file", "/lake/clean"),), partitions=lambda: pytest.fail("they were"))
    input_gate(gate.url).check(lambda: inputs)
    assert gate.asked == [folder(CLEAN)]


def test_without_an_answer_the_write_goes_on_with_one_warning(
    gate: PlayedGate, caplog: pytest.LogCaptureFixture
) -> None:
    clock, before, unchecked = FakeClock(), counted(), UncheckedWrites()
    checked = input_gate(gate.url, clock, unchecked=unchecked, gate_token="hunter2")
    for seconds in (0.0, CACHE_SECONDS, WARN_SECONDS):
        clock.advance(seconds)
        gate.scripted.append((401, {}, b""))
        checked.check(lambda: reads(ORDERS))
    first, second = [each.message for each in caplog.records if each.levelname == "WARNING"]
    assert first == second
    assert f"the gate at {gate.url}: it refuses gate_token (401)" in first
    assert "hunter2" not in caplog.text
    assert since(before) == {"unavailable": 3}
    facet = json.loads(unchecked.facets("p")[UNCHECKED_FACET])
    assert facet == {"_producer": "p", "writes": 3, "reason": f"the gate at {gate.url}: it refuses gate_token (401)"}


def test_only_a_write_that_goes_on_unchecked_is_recorded(gate: PlayedGate) -> None:
    unchecked = UncheckedWrites()
    gate.scripted.append((503, {}, b""))
    refused(input_gate(gate.url, unchecked=unchecked, gate_unavailable="refuse"), reads(ORDERS))
    gate.hold(ORDERS)
    gate.unknown.add(folder(CLEAN))
    checked = input_gate(gate.url, unchecked=unchecked)
    refused(checked, reads(ORDERS))
    checked.check(lambda: reads(CLEAN))
    assert unchecked.facets("p") == {}


def test_without_an_answer_the_write_is_refused_where_that_is_set(gate: PlayedGate) -> None:
    gate.scripted.append((503, {}, b""))
    text = refused(input_gate(gate.url, gate_unavailable="refuse"), reads(ORDERS))
    assert text == (
        "Refused: the inputs of this write couldn't be checked for bad data: the gate at "
        f"{gate.url}: it answers 503. Nothing was written. Try again; with gate_unavailable=continue the write "
        "would run."
    )


def test_a_held_input_refuses_the_write_beside_one_without_an_answer(gate: PlayedGate) -> None:
    gate.scripted.append((409, {}, b""))
    gate.hold(ORDERS)
    assert "file:/lake/orders holds bad data" in refused(input_gate(gate.url), reads(CLEAN, ORDERS))


def test_a_silent_server_is_not_asked_again_for_some_seconds(gate: PlayedGate) -> None:
    clock = FakeClock()
    checked = input_gate(gate.url, clock, gate_timeout_seconds=0.2)
    gate.stalls = True
    for _ in range(3):
        checked.check(lambda: reads(ORDERS, CLEAN))
    assert gate.asked == [folder(ORDERS)]
    gate.stalls = False
    clock.advance(CACHE_SECONDS)
    gate.hold(CLEAN)
    assert "file:/lake/clean" in refused(checked, reads(CLEAN))


def test_all_inputs_of_a_write_share_the_time(gate: PlayedGate) -> None:
    paths = [Path(f"/lake/{number}") for number in range(100)]
    before = counted()
    input_gate(gate.url, SteppingClock(), gate_timeout_seconds=200.0).check(lambda: reads(*paths))
    asked = len(gate.questions)
    assert 0 < asked < 20
    assert since(before) == {"free": asked, "unavailable": 100 - asked}


@pytest.mark.parametrize("policy", ["continue", "refuse"])
def test_inputs_that_cannot_be_read_are_as_without_an_answer(
    gate: PlayedGate, caplog: pytest.LogCaptureFixture, policy: str
) -> None:
    checked = input_gate(gate.url, gate_unavailable=policy)

    def broken() -> WriteInputs:
        raise LookupError("password=hunter2")

    failing = WriteInputs(failures=("what a LogicalRelation reads couldn't be read (Py4JError)",))
    for read, reason in ((broken, "(LookupError)"), (lambda: failing, "(Py4JError)")):
        if policy == "refuse":
            with pytest.raises(TaintedInputError, match=r"read|failed") as raised:
                checked.check(read)
            assert reason in str(raised.value)
            assert "hunter2" not in str(raised.value)
        else:
            checked.check(read)
    assert len(caplog.messages) == (policy == "continue")


def test_parts_of_a_plan_without_a_known_dataset_pass(gate: PlayedGate) -> None:
    before = counted()
    inputs = WriteInputs(unknown=("rows that the program handed over may come from anywhere",))
    input_gate(gate.url, gate_unavailable="refuse").check(lambda: inputs)
    assert since(before) == {"unread": 1}
    assert gate.questions == []
