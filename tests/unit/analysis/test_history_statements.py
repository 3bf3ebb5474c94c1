"""Statements of runs, differences and search: titled, one each, only reading, and each one used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headwater_consumers
from headwater_consumers.analysis.reader import statement
from headwater_consumers.cypher import names

ROOT = Path(next(iter(headwater_consumers.__path__))) / "analysis"
FILES = [
    f"{folder}/{name}"
    for folder in ("runs", "diff", "search")
    for name in names("headwater_consumers.analysis", folder)
]
WRITES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|LOAD)\b")


@pytest.mark.parametrize("name", FILES)
def test_one_titled_statement_that_reads(name: str) -> None:
    title, *body = statement(name).splitlines()
    assert re.fullmatch(r"// [A-Z].*[^.]", title)
    assert not any(line.startswith("//") for line in body)
    assert ";" not in "".join(body)
    assert not WRITES.search("\n".join(body))


def test_two_files_never_share_a_title() -> None:
    titles = [statement(name).splitlines()[0] for name in FILES]
    assert sorted(titles) == sorted(set(titles))


def test_every_statement_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    of = ("job", "dataset")
    made = {f"runs/{word}_{kind}" for word in ("of", "next_of", "count_of", "queries_of") for kind in of}
    made.add("runs/count_all_of_job")
    assert [name for name in FILES if f'"{name}"' not in code and name not in made] == []
