"""Plans of statements: what Neo4j would do to answer them, by the statistics that the graph has now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    from neo4j import Driver

SORTS = frozenset({"Sort", "Top", "Top1WithTies", "PartialSort", "PartialTop"})


def sample(driver: Driver) -> None:
    """Sample the indexes anew: Neo4j does so now and then, and equal graphs shall have equal plans."""
    with driver.session(database="neo4j") as session:
        session.run("CALL db.prepareForReplanning(60)").consume()


def operators(driver: Driver, statement: LiteralString, /, **parameters: Any) -> list[str]:
    """The operators of a statement's plan, a parent before its children, with statistics sampled now.

    Args:
        driver: of the graph.
        parameters: those that the planner shall know; the others may be left out.
    """
    sample(driver)
    return sampled_operators(driver, statement, **parameters)


def sampled_operators(driver: Driver, statement: LiteralString, /, **parameters: Any) -> list[str]:
    """Operators of a statement's plan with the statistics as they are: for many statements after one `sample`."""
    with driver.session(database="neo4j", notifications_min_severity="OFF") as session:
        plan = session.run("EXPLAIN " + statement, parameters).consume().plan
    assert plan is not None
    return _operators(plan)


@contextmanager
def used_plans(driver: Driver) -> Iterator[dict[str, set[str]]]:
    """The operators of each statement of a block by its name, as Neo4j planned it when it was run; filled at the end.

    EXPLAIN isn't enough: it may plan a statement otherwise than a transaction has, of an index not sampled yet.
    """
    used: dict[str, set[str]] = {}
    driver.execute_query("CALL db.clearQueryCaches()")
    driver.execute_query("CALL db.stats.collect('QUERIES')")
    begun = driver.execute_query("RETURN timestamp() AS now").records[0]["now"]
    yield used
    driver.execute_query("CALL db.stats.stop('QUERIES')")
    # Statements of earlier blocks are returned again, and by default only a statement's first 100 invocations.
    for record in driver.execute_query("CALL db.stats.retrieve('QUERIES', {maxInvocations: 1000000})").records:
        query = record["data"]
        if all(one["startTimestampMillis"] < begun for one in query["invocations"]):
            continue
        if name := re.search(r"^// (\w+):", query["query"], re.MULTILINE):
            used.setdefault(name[1], set()).update(_nested(query["queryExecutionPlan"]))


def _nested(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operator"]
    for side in ("lhs", "rhs"):
        if side in plan:
            yield from _nested(plan[side])


def scans(operators: Iterable[str]) -> set[str]:
    """Those of them that read everything there is of a label, a type or an index."""
    return {each for each in operators if "Scan" in each}


def _operators(plan: dict[str, Any]) -> list[str]:
    below = (each for child in plan.get("children", ()) for each in _operators(child))
    return [plan["operatorType"].split("@")[0], *below]
