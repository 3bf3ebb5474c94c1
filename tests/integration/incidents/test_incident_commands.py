"""`headwater incident` and `headwater gate` on a real Kafka, Neo4j and consumer."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater.incident import refreshing
from support.analysis.chains import Stream
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

CLEAN = "file:/lake/clean"


def names(found: dict[str, Any]) -> list[str]:
    """Datasets with bad data."""
    return [each["dataset"]["name"] for each in found["reach"]["blast"]["tainted"] if each["parts"]]


def test_from_the_opening_to_the_resolution(followed_pipeline: dict[str, str], headwater: Command) -> None:
    opening = ("incident", "open", "Negative delays", "--query", "enrich", "--batches", "3..5")
    opened = headwater(*opening, "--severity", "sev2", "--by", "ann", "--reason", "seen on the board")
    name = opened["incident"]
    assert (opened["action"], opened["was_open"], opened["in_graph"]) == ("OPENED", False, True)
    details = opened["details"]
    assert (details["brief"]["status"], details["brief"]["severity"]) == ("New", "SEV2")
    assert names(details) == ["/lake/clean"]
    assert [each["name"] for each in details["reach"]["blast"]["consumers"]] == ["board"]
    assert [each["action"] for each in details["history"]] == ["OPENED", "REACHED"]
    assert (details["recorded"]["datasets"], details["recorded"]["complete"]) == (1, True)

    again = headwater(*opening, "--no-reach")
    assert (again["incident"], again["was_open"]) == (name, True)

    # The gate: the partitions of the bad micro-batches, whatever the severity that is asked for.
    held = headwater("gate", CLEAN, status=5)
    assert [(each["incident"], each["certainty"]) for each in held["holds"]] == [(name, "EXACT")]
    assert headwater("gate", CLEAN, "--partition", "day=3", status=5)["checked"] == 1
    assert headwater("gate", CLEAN, "--partition", "day=7")["is_free"]
    assert headwater("gate", CLEAN, "--max-severity", "sev2", status=5)["checked"] == 1
    assert headwater("gate", CLEAN, "--max-severity", "SEV1")["checked"] == 0
    assert headwater("gate", "file:/lake/b")["is_free"]
    assert "partition" in headwater("gate", CLEAN, "--partition", "day", status=2)["error"]["message"]

    assert headwater("incident", "ack", name)["details"]["brief"]["status"] == "Ack"
    assigned = headwater("incident", "assign", name[:8], "team:lake")["details"]["brief"]
    assert (assigned["status"], assigned["assignee"]) == ("Assigned", "team:lake")
    noted = headwater("incident", "note", name, "A unit was wrong.", "--severity", "sev1")["details"]
    assert (noted["brief"]["severity"], noted["history"][-1]["text"]) == ("SEV1", "SEV1; A unit was wrong.")
    (listed,) = headwater("incident", "list", "--dataset", CLEAN)["items"]
    assert (listed["incident"], listed["reached_datasets"]) == (name, 1)
    assert headwater("incident", "list", "--severity", "sev2")["total"] == 0
    assert headwater("incident", "note", name, status=2)["error"]["message"].startswith("reason:")

    # One of two partitions is repaired.
    repair = ("incident", "repair", name, "--dataset", CLEAN, "--partition", "day=3", "--reason")
    assert headwater(*repair, " ", status=2)["error"]["message"].startswith("reason: REPAIRED needs it")
    headwater(*repair, "Ran again.")
    history = headwater("incident", "show", name, "--no-reach")["history"]
    assert [each["action"] for each in history][-2:] == ["REPAIRED", "REACHED"]
    assert headwater("gate", CLEAN, "--partition", "day=3")["is_free"]
    assert headwater("gate", CLEAN, "--partition", "day=4", status=5)["holds"]
    resolve = ("incident", "resolve", name, "repaired", "--reason", "Done.")
    refused = headwater(*resolve, status=2)["error"]["message"]
    assert f"bad data is left in 1 dataset ({CLEAN})" in refused
    days = [word for day in range(4, 6) for word in ("--partition", f"day={day}")]
    headwater("incident", "repair", name, "--dataset", CLEAN, *days, "--reason", "Ran again.", "--wait", "0")
    eventually(lambda: len(headwater("incident", "show", name, "--no-reach")["repaired"]) == 3, patience(60))
    (cleared,) = headwater("incident", "refresh", name)["items"]
    assert (cleared["recorded"], [each["change"] for each in cleared["changes"]]) == (True, ["CLEARED"])
    (same,) = headwater("incident", "refresh", name)["items"]
    assert (same["recorded"], same["changes"]) == (False, [])
    assert headwater("gate", CLEAN)["is_free"]

    resolved = headwater(*resolve)["details"]["brief"]
    assert (resolved["status"], resolved["resolution"]) == ("Resolved", "REPAIRED")
    assert headwater("incident", "list")["total"] == 0
    assert headwater("incident", "list", "--all")["total"] == 1
    assert "reopen it first" in headwater("incident", "ack", name, status=2)["error"]["message"]
    assert headwater("incident", "reopen", name)["details"]["brief"]["status"] == "Assigned"
    shown = headwater("incident", "show", name)
    assert [each["action"] for each in shown["history"]][-2:] == ["RESOLVED", "REOPENED"]
    assert names(shown) == []
    assert headwater("graph", "verify")["holds"]


def test_a_scope_that_cannot_be_known_holds_every_dataset(
    followed_pipeline: dict[str, str], headwater: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = headwater("incident", "open", "Later", "--query", "enrich", "--batches", "100..110")
    name = opened["incident"]
    (hold,) = headwater("gate", "file:/lake/b", status=5)["holds"]
    assert (hold["certainty"], hold["why"]) == ("UNKNOWN", "The reach of the incident isn't fully known.")
    capsys.readouterr()
    assert cli.main(["incident", "show", name]) == 0
    text = capsys.readouterr().out
    assert "Datasets with bad data: 0; not known: 1 part of the scope" in text
    # The scope changes: what can't be known goes, what is known comes.
    headwater("incident", "scope", name, "--query", "enrich", "--batches", "3")
    removed = ("incident", "scope", name, "--remove", "--query", "enrich", "--batches")
    assert "No part of the scope is" in headwater(*removed, "7", status=2)["error"]["message"]
    headwater(*removed, "100..110")
    assert headwater("gate", "file:/lake/b")["is_free"]
    assert headwater("gate", CLEAN, status=5)["holds"]


def test_a_consumer_of_the_scope_has_to_be_declared_repaired(
    followed_pipeline: dict[str, str], headwater: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """The graph has no data of consumers. `--force` states what is left."""
    name = headwater("incident", "open", "Wrong colours", "--consumer", "board")["incident"]
    resolve = ("incident", "resolve", name, "repaired", "--reason", "Done.")
    left = "1 consumer of the scope (board) isn't declared repaired."
    assert left in headwater(*resolve, status=2)["error"]["message"]
    assert cli.main([*resolve, "--force"]) == 0
    assert left in " ".join(capsys.readouterr().err.split())
    headwater("incident", "reopen", name)
    headwater("incident", "repair", name, "--consumer", "board", "--reason", "Corrected.")
    assert headwater(*resolve)["details"]["brief"]["resolution"] == "REPAIRED"


def test_a_merge_adds_the_parts_to_the_incident_that_goes_on(
    followed_pipeline: dict[str, str], headwater: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    one = headwater("incident", "open", "One", "--query", "enrich", "--batches", "3", "--no-reach")["incident"]
    other = headwater("incident", "open", "Other", "--dataset", "file:/lake/b", "--no-reach")["incident"]
    assert one != other
    capsys.readouterr()
    assert cli.main(["incident", "merge", one, other]) == 0
    assert f"{one}: merged. It is Resolved now." in capsys.readouterr().out
    assert headwater("incident", "show", one, "--no-reach")["brief"]["continued_in"] == other
    dataset, query = headwater("incident", "show", other, "--no-reach")["brief"]["scope"]
    assert (dataset, query.startswith("query ")) == ("dataset file:/lake/b", True)
    message = headwater("incident", "merge", other, one, status=2)["error"]["message"]
    assert message == f"{one} isn't open: reopen it first."
    better = headwater("incident", "open", "Better", "--dataset", "file:/lake/a", "--no-reach")["incident"]
    done = headwater("incident", "supersede", other, better, "--reason", "The table is wrong, too.")
    brief = done["details"]["brief"]
    assert (done["action"], brief["status"], brief["continued_in"]) == ("SUPERSEDED", "Resolved", better)
    scope = headwater("incident", "show", better, "--no-reach")["brief"]["scope"]
    assert scope == sorted(["dataset file:/lake/a", dataset, query])
    # What the merged incident had reached is marked by the one that goes on.
    (mark,) = headwater("show", CLEAN)["incidents"]["items"]
    assert (mark["incident"], mark["certainty"]) == (better, "EXACT")


def test_one_incident_for_the_same_scope(followed_pipeline: dict[str, str], headwater: Command) -> None:
    """Whatever the cause of the open one; a cause of its own opens another."""
    part = ("--query", "enrich", "--batches", "3", "--no-reach")
    name = headwater("incident", "open", "Found by a rule", *part, "--cause", "rule 7")["incident"]
    again = headwater("incident", "open", "Seen on the board", *part)
    assert (again["incident"], again["was_open"]) == (name, True)
    other = headwater("incident", "open", "Another fault of it", *part, "--cause", "rule 8")
    assert (other["incident"] != name, other["was_open"]) == (True, False)
    worse = headwater("incident", "open", "Worse", *part, "--severity", "sev1")
    assert (worse["was_open"], worse["details"]["brief"]["severity"]) == (False, "SEV1")
    more = headwater("incident", "open", "More of it", "--query", "enrich", "--batches", "3..5", "--no-reach")
    assert more["incident"] not in (name, other["incident"], worse["incident"])


def test_an_opening_that_is_only_looked_at(followed_pipeline: dict[str, str], headwater: Command) -> None:
    opening = ("incident", "open", "T", "--dataset", "kafka://k/raw", "--offsets", "0:30..40")
    event = headwater(*opening, "--dry-run")
    assert event["incident_event"]["scope"][0]["offsets"] == [{"partition": 0, "from": 30, "to_exclusive": 40}]
    assert headwater("incident", "list", "--all")["total"] == 0
    message = headwater(*opening, "--partition", "day=1", status=2)["error"]["message"]
    assert message.startswith("--partition: can't be combined with offsets")
    assert headwater("incident", "open", "T", "--dataset", "nothing", status=3)["error"]["kind"] == "not_found"
    assert headwater("incident", "show", "INC-0", status=3)["error"]["kind"] == "not_found"


def test_what_is_not_in_the_graph_in_time(pipeline_graph: dict[str, str], headwater: Command) -> None:
    """No consumer runs."""
    opening = ("incident", "open", "T", "--run", Stream("enrich").run_id(0))
    found = headwater(*opening, "--wait", "0")
    assert (found["in_graph"], found["details"]) == (False, None)
    error = headwater(*opening, "--wait", "0.5", status=4)["error"]
    assert f"The action OPENED of {found['incident']} is on the topic, but after 0.5 s" in error["message"]


@pytest.mark.nightly
def test_rounds_go_on_until_a_signal(
    followed_pipeline: dict[str, str], headwater: Command, stop_after: Callable[..., None]
) -> None:
    """The first round records, the second one finds nothing new."""
    name = headwater("incident", "open", "T", "--query", "enrich", "--batches", "3", "--no-reach")["incident"]
    stop_after(refreshing, "_round", 2)
    done = headwater("incident", "refresh", "--every", "10ms")
    assert (done["rounds"], done["recorded"], [each["incident"] for each in done["items"]]) == (2, 1, [name])


def test_bad_records_are_clean_once_they_are_declared_repaired(
    followed_pipeline: dict[str, str], headwater: Command
) -> None:
    """The dataset in which bad data began is held, too, and free after the repair; what was derived from it stays."""
    records = ("--dataset", "kafka://k/raw", "--offsets", "0:30..50")
    name = headwater("incident", "open", "T", *records)["incident"]
    assert headwater("gate", "kafka://k/raw", status=5)["holds"][0]["certainty"] == "EXACT"
    assert headwater("gate", CLEAN, "--partition", "day=4", status=5)["holds"]
    headwater("incident", "repair", name, *records, "--reason", "Sent again.")
    assert headwater("gate", "kafka://k/raw")["is_free"]
    assert headwater("gate", CLEAN, "--partition", "day=4", status=5)["holds"]


@pytest.mark.nightly
def test_the_commands_of_a_plan_leave_nothing(
    followed_pipeline: dict[str, str], headwater: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    """Batch 3 of `enrich` read the bad records, and wrote a file that `board` reads.

    Every command of the plan is run as it stands there, in its order.
    """
    records = ("--dataset", "kafka://k/raw", "--offsets", "0:30..40")
    name = headwater("incident", "open", "It's bad", *records)["incident"]
    found = headwater("incident", "plan", name)
    kinds = ["NOTIFY", "CORRECT", "REPROCESS", "DECLARE", "DECLARE", "NOTIFY", "RESOLVE"]
    assert [step["kind"] for step in found["steps"]] == kinds
    assert [step["after"] for step in found["steps"]] == [[], [], [2], [2], [3], [3, 5], [1, 4, 6]]
    assert [step["query"]["restart_after"] for step in found["steps"] if step["query"]] == [2]
    assert (found["complete"], found["nothing_left"]) == (True, False)

    capsys.readouterr()
    assert cli.main(["incident", "plan", name[:8]]) == 0
    printed = capsys.readouterr()
    for step in found["steps"]:
        for command in (*step["commands"], *step["file_commands"]):
            assert f"\n    $ {command}\n" in printed.out
    assert printed.err.splitlines()[-1] == "Plan of 7 steps."

    last: dict[str, Any] = {}
    for step in found["steps"]:
        for command in (*step["commands"], *step["file_commands"]):
            program, *words = shlex.split(command)
            assert program == "headwater"
            if words[:2] == ["incident", "refresh"]:
                left = headwater("incident", "plan", name)
                assert (left["steps"], left["nothing_left"], left["clean_again"]) == ([], True, 1)
            last = headwater(*words)
    assert last["details"]["brief"]["resolution"] == "REPAIRED"
    capsys.readouterr()
    assert cli.main(["incident", "plan", name]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "Nothing is left to repair, 1 step of the reach clean again."
