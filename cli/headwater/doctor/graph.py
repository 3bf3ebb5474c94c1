"""Graph check: version, constraints and indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.doctor.finding import DoctorFinding, FindingSeverity, ok
from headwater_graph.schema import GRAPH_VERSION, version_mismatch
from headwater_graph.statements import names, statement

if TYPE_CHECKING:
    from neo4j import Driver

_CREATED = re.compile(r"CREATE\s+(?:FULLTEXT\s+|RANGE\s+|TEXT\s+)?(CONSTRAINT|INDEX)\s+(\w+)\s+IF NOT EXISTS")


@dataclass(frozen=True, slots=True)
class SeenGraph:
    """Version, constraints and indexes of the database.

    Attributes:
        version: version of the graph's model; None if no consumer has prepared the graph.
        indexes: names of all indexes, and their state: ONLINE, POPULATING or FAILED.
    """

    version: int | None
    constraints: frozenset[str]
    indexes: Mapping[str, str]


def wanted() -> dict[str, str]:
    """Constraints and indexes that consumers create: name ⇒ CONSTRAINT or INDEX."""
    created = (_CREATED.search(statement("schema", name)) for name in names("schema"))
    return {found[2]: found[1] for found in created if found is not None}


def look(driver: Driver, database: str) -> SeenGraph:
    """Ask the database.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session:
        record = session.run(statement("read", "graph_version")).single()
        constraints = frozenset(each["name"] for each in session.run("SHOW CONSTRAINTS YIELD name"))
        indexes = {each["name"]: each["state"] for each in session.run("SHOW INDEXES YIELD name, state")}
    return SeenGraph(None if record is None else record["version"], constraints, indexes)


def judge(seen: SeenGraph, database: str) -> Iterator[DoctorFinding]:
    """Findings on version, constraints and indexes."""
    if seen.version is None:
        yield DoctorFinding(
            "graph version",
            FindingSeverity.WARN,
            database,
            "No consumer has prepared the graph yet.",
            "Start `headwater consume`.",
        )
        return
    if seen.version != GRAPH_VERSION:
        message, _, fix = version_mismatch(seen.version, verb="reads").partition(". ")
        yield DoctorFinding("graph version", FindingSeverity.FAIL, database, f"{message}.", fix)
    else:
        yield ok("graph version", database, f"Version {seen.version}, the version of this release.")
    for kind, existing in (("CONSTRAINT", seen.constraints), ("INDEX", frozenset(seen.indexes))):
        expected = [name for name, wanted_kind in wanted().items() if wanted_kind == kind]
        missing = sorted(set(expected) - existing)
        word = "constraints" if kind == "CONSTRAINT" else "indexes"
        if missing:
            yield DoctorFinding(
                word,
                FindingSeverity.FAIL,
                database,
                f"Missing: {', '.join(missing)}. "
                + ("Two consumers may write a node twice." if kind == "CONSTRAINT" else "Questions are slow."),
                "Start `headwater consume`: it creates them before it writes.",
            )
        else:
            yield ok(word, database, f"All {len(expected)} exist.")
    states = {name: state for name, state in sorted(seen.indexes.items()) if name in wanted()}
    failed = [name for name, state in states.items() if state == "FAILED"]
    populating = [name for name, state in states.items() if state == "POPULATING"]
    if failed:
        yield DoctorFinding(
            "indexes",
            FindingSeverity.FAIL,
            database,
            f"Failed: {', '.join(failed)}.",
            "Drop each (DROP INDEX …), then start `headwater consume`, which creates it again.",
        )
    if populating:
        yield DoctorFinding(
            "indexes",
            FindingSeverity.WARN,
            database,
            f"Still being filled: {', '.join(populating)}. Questions are slow until then.",
            "Wait; SHOW INDEXES shows the progress.",
        )
