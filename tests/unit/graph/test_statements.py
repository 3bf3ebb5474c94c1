"""Cypher files: titled, one statement each, loaded by name, and each one used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import headwater_consumers
from headwater_consumers.facts.model import Label
from headwater_consumers.graph.statements import names, statement

FOLDERS = ("schema", "write", "read", "whole")
FILES = [(folder, name) for folder in FOLDERS for name in names(folder)]
ROOT = Path(next(iter(headwater_consumers.__path__)))


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_one_titled_statement(folder: str, name: str) -> None:
    title, *body = statement(folder, name).splitlines()
    assert re.fullmatch(r"// [A-Z].*[^.]", title)
    assert not any(line.startswith("//") for line in body)
    assert ";" not in "".join(body)


def test_two_files_never_share_a_title() -> None:
    titles = [statement(folder, name).splitlines()[0] for folder, name in FILES]
    assert sorted(titles) == sorted(set(titles))


def test_every_statement_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    made = {f"dump_{label.value.lower()}" for label in Label}
    made |= {f"{owner}_{type_}" for owner in ("job", "query") for type_ in ("reads", "writes")}
    made |= {f"{word}_{type_}" for word in ("declare", "undeclare") for type_ in ("reads", "writes", "feeds")}
    made |= {f"update_{kind}" for kind in ("jobs", "datasets", "versions")}
    unused = [name for folder, name in FILES if folder != "schema" and f'"{name}"' not in code and name not in made]
    assert unused == []


def test_times_are_never_read_by_the_second() -> None:
    """Neo4j's `epochSeconds` of a time before 1970 with milliseconds is the second after."""
    assert [str(path) for path in ROOT.rglob("*.cypher") if "epochSeconds" in path.read_text(encoding="utf-8")] == []


def test_whatever_a_batch_brings_is_one_parameter() -> None:
    """Neo4j makes a plan for each size of a parameter, so for each combination where there are several."""
    written = [name for folder, name in FILES if folder == "write" and name not in {"await_indexes", "graph_version"}]
    asked = {name: set(re.findall(r"\$(\w+)", statement("write", name))) for name in written}
    assert {name: found for name, found in asked.items() if found != {"batch"}} == {}


def test_a_name_that_is_no_file() -> None:
    with pytest.raises(FileNotFoundError):
        statement("write", "nothing")
