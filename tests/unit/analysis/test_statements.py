"""Cypher of questions: titled, one statement each, no two alike, each one used, and reading alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headwater_consumers.analysis

ROOT = Path(next(iter(headwater_consumers.analysis.__path__)))
FILES = sorted((ROOT / "cypher").rglob("*.cypher"))
NAMES = [str(path.relative_to(ROOT / "cypher").with_suffix("")) for path in FILES]
MADE = {f"resolve/{label}_keys" for label in ("dataset", "job")}
MADE |= {f"lineage/datasets_{way}" for way in ("upstream", "downstream")}
RUNS = ("", "count_", "count_all_", "next_", "queries_")
MADE |= {f"runs/{what}of_{of}" for what in RUNS for of in ("dataset", "job")}
MADE |= {f"timeline/{what}_of_{of}" for what in ("queries", "runs") for of in ("dataset", "job")}
WRITES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|LOAD|DROP)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_one_titled_statement_that_reads(path: Path) -> None:
    title, *body = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"// [A-Z].*[^.]", title)
    text = "\n".join(line.partition("//")[0] for line in body)
    assert ";" not in text
    assert not WRITES.search(text)


def test_no_two_share_a_title() -> None:
    titles = [path.read_text(encoding="utf-8").splitlines()[0] for path in FILES]
    assert sorted(titles) == sorted(set(titles))


def test_each_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.parent.rglob("*.py"))
    assert [name for name in NAMES if f'"{name}"' not in code and name not in MADE] == []
