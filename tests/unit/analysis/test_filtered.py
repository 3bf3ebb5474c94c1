"""Statements for askers who may not see everything: no pattern of a statement is without a condition."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from headwater_analysis.filtered import FREE, condition, filtered
from headwater_analysis.reader import UNFILTERED, statement
from headwater_analysis.visibility import Visible
from headwater_graph.statement_files import names

PACKAGE = "headwater_analysis"
STATEMENTS = sorted(
    f"{file.name.removesuffix('.cypher')}/{name}"
    for file in files(PACKAGE).joinpath("cypher").iterdir()
    for name in names(PACKAGE, file.name.removesuffix(".cypher"))
)
NAMELESS = {"declared/set", "known/retention"}
"""Statements whose every node belongs to no asset: a declaration set, and days of retention, by key."""


def test_every_statement_is_filtered() -> None:
    plain = {name for name in STATEMENTS if "$given.visible" not in filtered(statement(name))}
    assert plain == NAMELESS | {"service/ping"}
    assert set(STATEMENTS) > UNFILTERED


def test_every_label_in_a_pattern_has_a_condition() -> None:
    # Found apart from the filter: a label in parentheses, which no condition follows before they close.
    labelled = re.compile(r"\((\w*):(Hw\w+)((?:\|\w+)*)(?: \{[^{}]*\})?\)")
    for name in STATEMENTS:
        if name not in UNFILTERED:
            left = [found.group() for found in labelled.finditer(filtered(statement(name))) if found[2] not in FREE]
            assert not left, f"{name}: {left}"


def test_conditions() -> None:
    asked = "MATCH (j:HwJob {key: $given.key})-[:READS]->(d)<-[f:FEEDS]-() WHERE d.key = 'x' RETURN d"
    assert filtered(asked) == (
        f"MATCH (j:HwJob {{key: $given.key}} WHERE {condition('j')})-[:READS]->(d WHERE {condition('d')})"
        f"<-[f:FEEDS WHERE {condition('f', 'job')}]-(v1_ WHERE {condition('v1_')}) WHERE d.key = 'x' RETURN d"
    )


def test_an_incident_is_visible_to_no_restricted_asker() -> None:
    """It concerns several assets, and so has none of which the condition could be true."""
    reached = "MATCH (d:HwDataset)<-[r:REACHED]-(i) RETURN r"
    assert f"<-[r:REACHED]-(i WHERE {condition('i')})" in filtered(reached)
    assert filtered("MATCH (i:HwIncident) RETURN i") == f"MATCH (i:HwIncident WHERE {condition('i')}) RETURN i"


def test_a_name_is_checked_once_in_a_scope() -> None:
    asked = "MATCH (a:HwJob) MATCH (a)-[:READS]->(b) CALL (a) { MATCH (a)-[:WRITES]->(c) RETURN c } RETURN b, c"
    assert filtered(asked).count(condition("a")) == 1


def test_a_name_of_another_scope_is_checked_again() -> None:
    reads, writes = "MATCH (a)-[:READS]->(b:HwDataset) RETURN b", "MATCH (a)-[:WRITES]->(b) RETURN b"
    asked = f"MATCH (a:HwJob) CALL () {{ {reads} UNION {writes} }} RETURN a"
    assert filtered(asked).count(condition("a")) == 3
    assert filtered(asked).count(condition("b")) == 2


def test_groups_and_calls_are_no_nodes() -> None:
    asked = "MATCH (a:HwJob) WHERE (a.x = 1 OR size(a.y) > (2)) RETURN collect(a), count(a), (a.z) - (a.w)"
    assert filtered(asked).count("$given.visible.scopes") == 1


def test_micro_batches_are_visible_with_their_query() -> None:
    asked = "MATCH (s:HwSegment)-[:PRODUCED]->(d:HwDataset) RETURN s"
    assert f"(s:HwSegment WHERE EXISTS {{ (s)-[:IN_QUERY]->(s_q:HwQuery WHERE {condition('s_q')}) }})" in filtered(
        asked
    )


@pytest.mark.parametrize(
    "asked",
    ["MATCH (a:HwJob)-[]->(b) RETURN b", "MATCH (a:HwJob)-[:FEEDS*1..3]->(b) RETURN b", "MATCH (a:HwJob RETURN a"],
)
def test_what_cannot_be_checked_is_refused(asked: str) -> None:
    with pytest.raises(ValueError, match=r"type|repeats|bracket|matches"):
        filtered(asked)


def test_parameters() -> None:
    given = Visible(frozenset({"dataset:kafka://b", "consumer:"}), frozenset({"b", "a"}), frozenset({"c"})).given("t")
    assert given["hidden"] == ["a", "b"]
    assert given["also"] == ["c"]
    assert len(set(given["scopes"])) == 2
    assert given["scopes"] != Visible(frozenset({"dataset:kafka://b", "consumer:"})).given("u")["scopes"]
