"""Cypher of questions: titled, one statement each, no two alike, each one used, and reading alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import headwater_consumers.analysis
from headwater_consumers.analysis.checks import RULES
from headwater_consumers.analysis.runs.rows import run_item

ROOT = Path(next(iter(headwater_consumers.analysis.__path__)))
FILES = sorted((ROOT / "cypher").rglob("*.cypher"))
NAMES = [str(path.relative_to(ROOT / "cypher").with_suffix("")) for path in FILES]
MADE = {f"resolve/{label}_keys" for label in ("dataset", "job")}
MADE |= {f"lineage/{what}_{way}" for what in ("datasets", "beyond") for way in ("upstream", "downstream")}
RUNS = ("", "count_", "count_all_", "next_", "queries_")
MADE |= {f"runs/{what}of_{of}" for what in RUNS for of in ("dataset", "job")}
MADE |= {f"timeline/{what}_of_{of}" for what in ("queries", "runs") for of in ("dataset", "job")}
MADE |= {f"resolve/{label}_prefix" for label in ("dataset", "job")}
MADE |= {f"known/{what}{of}" for what in ("", "count_") for of in ("consumers", "datasets", "jobs")}
MADE |= {rule.statement for rule in RULES}
WRITES = re.compile(r"(?<![.\w])(CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|LOAD|DROP)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_one_titled_statement_that_reads(path: Path) -> None:
    title, *body = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"// [A-Z].*[^.]", title)
    text = "\n".join(line.partition("//")[0] for line in body)
    assert ";" not in text
    assert not WRITES.search(text)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_what_is_asked_is_one_parameter(path: Path) -> None:
    """Neo4j makes a plan for each size of a parameter, so for each combination where there are several."""
    assert set(re.findall(r"\$(\w+)", path.read_text(encoding="utf-8"))) <= {"given"}


def test_no_two_share_a_title() -> None:
    titles = [path.read_text(encoding="utf-8").splitlines()[0] for path in FILES]
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
    run_item("tenant", row)
    returned = {
        name: set(re.findall(r"\.?(\w+)(?=[,:}]|$)", part))
        for name, path in zip(NAMES, FILES, strict=True)
        if not name.startswith("timeline/") and name != "runs/versions"  # read by their own
        for part in re.findall(r"\br \{(\.key, \.run_id,[^}]*)", path.read_text(encoding="utf-8"))
    }
    assert len(returned) == 8
    assert {name: row.read - found for name, found in returned.items() if row.read - found} == {}


def test_each_is_used_and_no_other() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.parent.rglob("*.py"))
    assert [name for name in NAMES if f'"{name}"' not in code and name not in MADE] == []
    folders = "|".join({path.parent.name for path in FILES})
    named = set(re.findall(rf'"((?:{folders})/[a-z_]+)"', code))

    assert named - set(NAMES) == set()
