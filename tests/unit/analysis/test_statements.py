"""Cypher of questions: titled, one statement each, no two alike, each one used, and reading alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import headwater_analysis
from headwater_analysis.checks import RULES
from headwater_analysis.reader import Transaction, statement
from headwater_analysis.runs.from_rows import run_items
from headwater_graph.statement_files import names

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

TOP = Path(__file__).parents[3]
CODE = ("analysis", "review", "server", "consumers")
PACKAGE = "headwater_analysis"
ROOT = Path(next(iter(headwater_analysis.__path__)))
FILES = sorted(path.stem for path in (ROOT / "cypher").iterdir())
TEXTS = {f"{file}/{name}": statement(f"{file}/{name}") for file in FILES for name in names(PACKAGE, file)}
MADE = {f"resolve/{label}_keys" for label in ("dataset", "job")}
MADE |= {f"lineage/{what}_{way}" for what in ("datasets", "beyond") for way in ("upstream", "downstream")}
RUNS = ("", "count_", "next_", "queries_")
MADE |= {"runs/count_all_of_job"} | {f"runs/{what}of_{of}" for what in RUNS for of in ("dataset", "job")}
MADE |= {f"timeline/{what}_of_{of}" for what in ("queries", "runs") for of in ("dataset", "job")}
MADE |= {f"resolve/{label}_prefix" for label in ("dataset", "job")}
MADE |= {f"known/{what}{of}" for what in ("", "count_") for of in ("consumers", "datasets", "jobs")}
MADE |= {rule.statement for rule in RULES}
WRITES = re.compile(r"(?<![.\w])(CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|LOAD|DROP)\b", re.IGNORECASE)


def test_each_is_one_titled_statement_that_reads() -> None:
    assert TEXTS
    faults = []
    for name, text in TEXTS.items():
        title, *body = text.splitlines()
        if not re.fullmatch(rf"// {name.partition('/')[2]}: [A-Z].*[^.]", title):
            faults.append(f"{name}:1: no title: {title}")
        for number, line in enumerate(body, start=2):
            code = line.partition("//")[0]
            if line.startswith("//") or ";" in code:
                faults.append(f"{name}:{number}: a second comment or statement: {line}")
            if WRITES.search(code):
                faults.append(f"{name}:{number}: writes: {line}")
    assert not faults, "\n".join(faults)


def test_what_is_asked_is_one_parameter() -> None:
    """Neo4j makes a plan for each size of a parameter, so for each combination where there are several."""
    asked = {name: set(re.findall(r"\$(\w+)", text)) for name, text in TEXTS.items()}
    assert {name: found for name, found in asked.items() if not found <= {"given"}} == {}


def test_no_two_share_a_title() -> None:
    titles = [text.splitlines()[0].partition(": ")[2] for text in TEXTS.values()]
    assert sorted(titles) == sorted(set(titles))


class Noting(dict[str, Any]):
    """A row of nothing that notes what is read of it."""

    def __init__(self) -> None:
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return None


def test_each_that_returns_runs_has_all_that_is_read_of_one() -> None:
    row = Noting()
    run_items(Transaction("tenant", cast("ManagedTransaction", None)), [row])
    returned = {
        name: set(re.findall(r"\.?(\w+)(?=[,:}]|$)", part))
        for name, text in TEXTS.items()
        if not name.startswith("timeline/") and name != "runs/versions"  # read by their own
        for part in re.findall(r"\br \{(\.key, \.run_id,[^}]*)", text)
    }
    assert len(returned) == 9
    assert {name: row.read - found for name, found in returned.items() if row.read - found} == {}


def test_none_is_ordered_by_what_a_map_of_the_same_name_lacks() -> None:
    """In `RETURN q {.name} ORDER BY q.key`, `q` is the map, and its key null."""
    found = []
    for name, text in TEXTS.items():
        for ordering in re.finditer(r"ORDER BY([^\n}]*)", text):
            clause = re.split(r"\b(?:RETURN|WITH)\b", text[: ordering.start()])[-1]
            for variable, inside in re.findall(r"(\w+) \{([^{}]*)\}(?!\s+AS)", clause):
                has = set(re.findall(r"\.(\w+|\*)|(\w+):", inside))
                wanted = set(re.findall(rf"\b{variable}\.(\w+)", ordering[1]))
                if not {"*"} & {each for pair in has for each in pair}:
                    found += [f"{name}: {variable}.{each}" for each in wanted - {each for pair in has for each in pair}]
    assert found == []


def test_each_is_used_and_no_other() -> None:
    code = "".join(path.read_text(encoding="utf-8") for name in CODE for path in (TOP / name).rglob("*.py"))
    assert [name for name in TEXTS if f'"{name}"' not in code and name not in MADE] == []
    folders = "|".join({name.partition("/")[0] for name in TEXTS})
    named = set(re.findall(rf'"((?:{folders})/[a-z_]+)"', code))
    assert named - TEXTS.keys() == set()
