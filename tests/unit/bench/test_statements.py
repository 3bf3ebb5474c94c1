"""The hand-written statements: titled, one each, each one used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headwater_benchmarks.query as package
from headwater_benchmarks.query import cases
from headwater_consumers.cypher import load

FOLDER = Path(next(iter(package.__path__)), "cypher")
NAMES = sorted(path.stem for path in FOLDER.glob("*.cypher"))


@pytest.mark.parametrize("name", NAMES)
def test_one_titled_statement(name: str) -> None:
    title, *body = load("headwater_benchmarks.query", name).splitlines()
    assert re.fullmatch(r"// [A-Z].*[^.]", title)
    assert ";" not in "".join(body)


def test_every_statement_is_used() -> None:
    code = Path(cases.__file__).read_text(encoding="utf-8")
    assert [name for name in NAMES if f'"{name}"' not in code] == []
