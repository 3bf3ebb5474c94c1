"""`headwater incident detect` on a real Kafka, Neo4j and consumer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater.incident import detecting
from headwater_schemas.codec import encode
from headwater_schemas.events import DatasetRef, LineageEvent, QualityResult
from headwater_schemas.topics import TopicNames
from support.analysis.chains import files_use, ran
from support.materializer.worlds import RealWorld
from support.running import records_on
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]
    Put = Callable[[LineageEvent], None]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ORDERS = "file:/lake/orders"
DETECT = ("incident", "detect", "--since", "2024-12-31")
POLICY = '[[open]]\nfault = "ASSERTION"\nrules = ["UNIQUENESS"]\nseverity = "SEV2"\nassign = "team:orders"\n'


def bad(at: int) -> LineageEvent:
    """A run that writes a file, of which an assertion fails."""
    quality = (QualityResult(assertion="unique", passed=False, column="id", rule="UNIQUENESS"),)
    return ran("load", [DatasetRef("file", "/lake/raw")], [files_use("/lake/orders", [f"{at}"])], at, quality=quality)


@pytest.fixture
def put(followed: dict[str, str], stack: StackUnderTest, topic_prefix: str, headwater: Command) -> Put:
    """Publishes a bad run, and waits until the graph has its fault."""

    def published(event: LineageEvent) -> None:
        world = RealWorld(stack, topic_prefix)
        world.put_many([encode(event)])
        world.close()
        assert event.run is not None
        wanted = f"run {event.run.run_id}"
        eventually(lambda: wanted in [each["part"] for each in dry(headwater)["latest"]["faults"]], patience(60))

    return published


def dry(headwater: Command) -> Any:
    return headwater(*DETECT, "--dry-run")


def numbers(found: Any) -> tuple[int, int, dict[str, str]]:
    """Opened and extended incidents, and the outcome of each part."""
    return found["opened"], found["extended"], {each["part"]: each["outcome"] for each in found["latest"]["faults"]}


def test_from_a_failed_assertion_to_another_incident_after_the_resolution(
    put: Put, headwater: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "incidents.toml"
    policy.write_text(POLICY, encoding="utf-8")
    detect = (*DETECT, "--policy", str(policy))
    put(bad(0))
    looked = headwater(*detect, "--dry-run")
    assert (looked["opened"], looked["dry_run"]) == (1, True)
    assert headwater("incident", "list", "--all")["total"] == 0

    opened = headwater(*detect)
    (item,) = opened["latest"]["items"]
    name = item["incident"]
    assert (looked["latest"]["items"], item["was_open"], item["assignee"]) == ([item], False, "team:orders")
    shown = headwater("incident", "show", name)
    brief = shown["brief"]
    assert (brief["status"], brief["severity"], brief["type"], brief["assignee"]) == (
        *("Assigned", "SEV2", "DUPLICATES"),
        "team:orders",
    )
    assert brief["scope"] == ["run load 0"]
    assert [(each["action"], each["by"]) for each in shown["history"]] == [
        (action, "headwater detect") for action in ("OPENED", "ASSIGNED", "REACHED")
    ]
    assert headwater("gate", ORDERS, status=5)["holds"][0]["certainty"] == "EXACT"
    assert numbers(headwater(*detect)) == (0, 0, {"run load 0": "KNOWN"})

    headwater("incident", "assign", name, "jo")
    put(bad(10))
    assert numbers(headwater(*detect)) == (0, 1, {"run load 0": "KNOWN", "run load 10": "NEW"})
    brief = headwater("incident", "show", name, "--no-reach")["brief"]
    assert (brief["scope"], brief["assignee"]) == (["run load 0", "run load 10"], "jo")

    headwater("incident", "resolve", name, "false_positive", "--reason", "A test.")
    assert numbers(headwater(*detect)) == (0, 0, {"run load 0": "KNOWN", "run load 10": "KNOWN"})
    assert headwater("incident", "list")["total"] == 0
    put(bad(20))
    capsys.readouterr()
    assert cli.main([*detect]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Opened INC-")
    assert first.endswith(" (SEV2), 1 part: unique (UNIQUENESS) on id of file:/lake/orders failed in jobs/load")
    assert last == "3 faults since 2024-12-31 00:00:00Z: 1 new, 2 known, 0 ignored, 0 without an entry."
    (other,) = headwater("incident", "list")["items"]
    assert (other["incident"] != name, other["scope"]) == (True, ["run load 20"])


@pytest.mark.nightly
def test_a_dry_run_publishes_nothing(
    put: Put, followed: dict[str, str], stack: StackUnderTest, topic_prefix: str, headwater: Command
) -> None:
    put(bad(0))
    before = _end(stack, topic_prefix)
    assert headwater(*DETECT, "--dry-run")["opened"] == 1
    assert _end(stack, topic_prefix) == before
    assert headwater(*DETECT)["opened"] == 1
    assert _end(stack, topic_prefix) == before + 2  # OPENED and REACHED


def _end(stack: StackUnderTest, topic_prefix: str) -> int:
    return len(records_on(stack.bootstrap_servers, TopicNames(topic_prefix).events))


def test_rounds_go_on_until_a_signal(put: Put, headwater: Command, stop_after: Callable[..., None]) -> None:
    """The first round opens, the second one finds nothing new."""
    put(bad(0))
    stop_after(detecting, "_round", 2)
    done = headwater(*DETECT, "--every", "10ms")
    assert (done["rounds"], *numbers(done)) == (2, 1, 0, {"run load 0": "KNOWN"})


def test_an_incident_of_which_nobody_waits_for_the_reach(put: Put, headwater: Command) -> None:
    put(bad(0))
    (item,) = headwater(*DETECT, "--wait", "0", "--by", "ann")["latest"]["items"]
    show = ("incident", "show", item["incident"], "--no-reach")
    eventually(lambda: headwater("incident", "list")["total"] == 1, patience(60))
    assert [(each["action"], each["by"]) for each in headwater(*show)["history"]] == [("OPENED", "ann")]


def test_a_policy_that_is_none(settings: dict[str, str], headwater: Command, tmp_path: Path) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('[[open]]\nfault = "ASSERTION"\nseverety = "SEV1"\n', encoding="utf-8")
    message = headwater(*DETECT, "--policy", str(policy), status=2)["error"]["message"]
    assert message == f"{policy}:3: open[0].severety: unknown; did you mean `severity`?"


def test_the_policy_that_comes_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["incident", "detect", "--print-policy"]) == 0
    assert 'fault = "WRITTEN_FROM_OUTSIDE"' in capsys.readouterr().out
