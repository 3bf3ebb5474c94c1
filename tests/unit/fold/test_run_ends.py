"""Runs that reported no end: what shows that they have ended, what doesn't, and what a Run shows of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_graph import keys
from headwater_graph.derive import (
    Because,
    RunEnd,
    RunSeen,
    application_end,
    child_end,
    end_properties,
    own_end,
    run_ends,
    seen,
)
from headwater_graph.facts.nodes import RunFacts, TimeSpan

if TYPE_CHECKING:
    import pytest


def at(minutes: int) -> datetime:
    return datetime(2013, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)


def run(name: str, first: int | None, last: int | None = None, **fields: Any) -> RunSeen:
    """One that was seen from one minute to another, and reported no end."""
    began, until = (None if minute is None else at(minute) for minute in (first, first if last is None else last))
    return RunSeen(
        name, f"id of {name}", **{"reported": False, "parent": None, **fields, "first": began, "last": until}
    )


LATER = run("later", 30, 40)
ENDED = RunEnd(Because.QUERY_CONTINUED, at(20), "id of later", at(30))


def test_a_query_that_went_on_ends_the_run_before() -> None:
    assert own_end(run("one", 10, 20), LATER) == ENDED


NO_ENDS: list[tuple[RunSeen, RunSeen | None]] = [
    (run("one", 10, 20, reported=True), LATER),
    (run("one", None), LATER),
    (run("one", 10, 20), None),
    (run("one", 10, 20), run("later", None)),
]


def test_a_run_that_reported_its_end_or_was_not_seen_has_none(subtests: pytest.Subtests) -> None:
    for one, later in NO_ENDS:
        with subtests.test(one=one):
            assert own_end(one, later) is None


APPLICATION = run("application", 0, 5)
CHILD = run("child", 10, 20, parent="application")


def elsewhere(name: str, first: int) -> RunSeen:
    return run(name, first, parent="another application")


GOING_ON: dict[str, tuple[RunSeen, RunSeen, RunSeen | None, int | None]] = {
    "reported": (run("application", 0, 5, reported=True), CHILD, elsewhere("later", 30), 20),
    "unseen": (APPLICATION, CHILD, elsewhere("later", 30), None),
    "no later run": (APPLICATION, CHILD, None, 20),
    "seen since": (APPLICATION, CHILD, elsewhere("later", 30), 30),
    "of no application": (APPLICATION, CHILD, run("later", 30), 20),
    "of the same": (APPLICATION, CHILD, run("later", 30, parent="application"), 20),
    "child reported": (
        APPLICATION,
        run("child", 10, 20, parent="application", reported=True),
        elsewhere("later", 30),
        20,
    ),
}


def test_an_application_goes_on(subtests: pytest.Subtests) -> None:
    for case, (application, child, later, last) in GOING_ON.items():
        with subtests.test(case):
            assert application_end(application, [(child, later)], None if last is None else at(last)) is None


def test_the_first_of_the_runs_elsewhere_ends_an_application() -> None:
    children = [(CHILD, elsewhere(name, first)) for name, first in (("c", 40), ("b", 31), ("a", 31), ("d", 50))]
    assert application_end(APPLICATION, children, at(30)) == RunEnd(
        Because.CHILDREN_CONTINUED, at(30), "id of a", at(31)
    )
    assert application_end(APPLICATION, [], at(30)) is None


def test_what_an_ended_application_started_has_ended() -> None:
    assert child_end(run("child", 10, 29), ENDED) == RunEnd(Because.PARENT_ENDED, at(29), "id of later", at(30))


CHILD_GOING_ON: list[tuple[RunSeen, RunEnd | None]] = [
    (run("child", 10, 29, reported=True), ENDED),
    (run("child", None), ENDED),
    (run("child", 10, 29), None),
    (run("child", 10, 30), ENDED),
    (run("child", 10, 31), ENDED),
]


def test_a_child_goes_on(subtests: pytest.Subtests) -> None:
    for child, above in CHILD_GOING_ON:
        with subtests.test(child=child):
            assert child_end(child, above) is None


def test_what_a_run_shows_of_its_end() -> None:
    assert end_properties(run("one", 10, 20, reported=True), ENDED) == {}
    assert end_properties(run("one", None), None) == {}
    assert end_properties(run("one", 10, 20), None) == {"open": True}
    assert end_properties(run("one", 10, 20), ENDED) == {
        "inferred_state": "ABORT",
        "inferred_ended_at": at(20),
        "inferred_because": "QUERY_CONTINUED",
        "inferred_by": "id of later",
        "_inferred_before": at(30),
    }


def facts(name: str, first: int, last: int, *, query: str | None = None, parent: str | None = None) -> RunFacts:
    found = RunFacts({"tenant": "acme", "run_id": name})
    found.seen.see(at(first), at(last))
    if query is not None:
        found.registers["query_id"] = ("stamp", {"query_id": query, "_query": f"key of {query}"})
    if parent is not None:
        found.registers["parent"] = ("stamp", {"parent_run_id": parent})
    return found


def shown(*runs: RunFacts) -> dict[str, Any]:
    """End of each run: reason, time and ending run; None for open ones."""
    ends = run_ends({keys.run_key("acme", str(each.identity["run_id"])): each for each in runs})
    found: dict[str, Any] = {}
    for each in runs:
        end = ends[keys.run_key("acme", str(each.identity["run_id"]))]
        found[str(each.identity["run_id"])] = (
            None if end == {"open": True} else (end["inferred_because"], end["inferred_ended_at"], end["inferred_by"])
        )
    return found


def test_a_run_is_seen_with_its_state_its_parent_and_its_query() -> None:
    one = facts("one", 10, 20, query="q", parent="application")
    one.registers["state"] = ("stamp", {"state": "FAIL"})
    key = keys.run_key("acme", "application")
    assert seen("key", one) == RunSeen("key", "one", True, at(10), at(20), key, "key of q")
    one.registers["state"] = ("stamp", {"state": "RUNNING"})
    assert not seen("key", one).reported
    bare = RunFacts({"tenant": "acme", "run_id": "bare"})
    assert seen("key", bare) == RunSeen("key", "bare", False, None, None, None, None)


def test_the_next_run_of_the_query_is_the_first_that_began_after_one_was_last_seen() -> None:
    one = facts("one", 10, 20, query="q")
    assert shown(one, facts("two", 20, 25, query="q")) == {"one": None, "two": None}
    assert shown(one, facts("two", 21, 25, query="other")) == {"one": None, "two": None}
    assert shown(facts("three", 26, 30, query="q"), one, facts("two", 21, 25, query="q")) == {
        "one": ("QUERY_CONTINUED", at(20), "two"),
        "two": ("QUERY_CONTINUED", at(25), "three"),
        "three": None,
    }


def test_a_run_without_a_query_goes_on_whoever_began_after_it() -> None:
    assert shown(facts("one", 10, 20), facts("two", 21, 25)) == {"one": None, "two": None}


def test_a_run_that_was_only_mentioned_neither_ends_nor_ends_another() -> None:
    mentioned = facts("mentioned", 0, 0, query="q")
    mentioned.seen = TimeSpan()
    ends = run_ends(
        {"one": facts("one", 10, 20, query="q"), "mentioned": mentioned, "two": facts("two", 9, 20, query="q")}
    )
    assert ends == {"one": {"open": True}, "mentioned": {}, "two": {"open": True}}


def test_all_that_an_application_started_ends_with_it() -> None:
    started = [
        facts("application", 0, 5),
        facts("query", 10, 20, query="q", parent="application"),
        facts("write", 12, 22, parent="application"),
    ]
    later = [facts("other application", 29, 29), facts("query again", 30, 40, query="q", parent="other application")]
    assert shown(*started, *later) == {
        "application": ("CHILDREN_CONTINUED", at(22), "query again"),
        "query": ("QUERY_CONTINUED", at(20), "query again"),
        "write": ("PARENT_ENDED", at(22), "query again"),
        "other application": None,
        "query again": None,
    }
    # It was seen itself when the query already ran elsewhere.
    assert shown(facts("application", 0, 35), *started[1:], *later)["application"] is None
    # Something that it started was seen when the query already ran elsewhere: then it hasn't ended.
    goes_on = facts("write", 12, 30, parent="application")
    assert shown(*started[:2], goes_on, *later) == {
        "application": None,
        "query": ("QUERY_CONTINUED", at(20), "query again"),
        "write": None,
        "other application": None,
        "query again": None,
    }
