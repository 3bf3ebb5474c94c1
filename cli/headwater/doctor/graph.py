"""Graph check: version, constraints and indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.doctor.finding import DoctorFinding, SubjectCheck
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
    version, indexes = SubjectCheck("graph version", database), SubjectCheck("indexes", database)
    if seen.version is None:
        yield version.risk("No consumer has prepared the graph yet.", "Start `headwater consume`.")
        return
    if seen.version != GRAPH_VERSION:
        message, _, fix = version_mismatch(seen.version, verb="reads").partition(". ")
        yield version.fail(f"{message}.", fix)
    else:
        yield version.ok(f"Version {seen.version}, the version of this release.")
    for kind, existing in (("CONSTRAINT", seen.constraints), ("INDEX", frozenset(seen.indexes))):
        expected = [name for name, wanted_kind in wanted().items() if wanted_kind == kind]
        missing = sorted(set(expected) - existing)
        check = SubjectCheck("constraints", database) if kind == "CONSTRAINT" else indexes
        if missing:
            yield check.fail(
                f"Missing: {', '.join(missing)}. "
                + ("Two consumers may write a node twice." if kind == "CONSTRAINT" else "Questions are slow."),
                "Start `headwater consume`: it creates them before it writes.",
            )
        else:
            yield check.ok(f"All {len(expected)} exist.")
    states = {name: state for name, state in sorted(seen.indexes.items()) if name in wanted()}
    failed = [name for name, state in states.items() if state == "FAILED"]
    populating = [name for name, state in states.items() if state == "POPULATING"]
    if failed:
        yield indexes.fail(
            f"Failed: {', '.join(failed)}.",
            "Drop each (DROP INDEX …), then start `headwater consume`, which creates it again.",
        )
    if populating:
        yield indexes.risk(
            f"Still being filled: {', '.join(populating)}. Questions are slow until then.",
            "Wait; SHOW INDEXES shows the progress.",
        )
