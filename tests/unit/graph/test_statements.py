"""Cypher of the graph: titled, loaded by name, and each statement used."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import headwater_graph
from headwater_graph.facts.model import STORED_LABELS, Label
from headwater_graph.facts.owners import REGISTERS
from headwater_graph.facts.properties import TIMES
from headwater_graph.statements import names, statement

FOLDERS = ("schema", "write", "read", "whole")
FILES = [(folder, name) for folder in FOLDERS for name in names(folder)]
ROOT = Path(next(iter(headwater_graph.__path__)))


def test_each_is_one_titled_statement() -> None:
    assert FILES
    faults = []
    for folder, name in FILES:
        title, *body = statement(folder, name).splitlines()
        if not re.fullmatch(rf"// {name}: [A-Z].*[^.]", title):
            faults.append(f"{folder}/{name}:1: no title: {title}")
        for number, line in enumerate(body, start=2):
            if line.startswith("//") or ";" in line:
                faults.append(f"{folder}/{name}:{number}: a second comment or statement: {line}")
    assert not faults, "\n".join(faults)


def test_what_follows_relationships_from_a_key_names_its_index() -> None:
    """Their plans are kept, and of an index that isn't sampled yet Neo4j has chosen a scan for each row."""
    faults = []
    for name in names("write"):
        lines = statement("write", name).splitlines()
        for number, (line, after) in enumerate(pairwise([*lines, ""]), start=1):
            by_key = line.lstrip().startswith("MATCH") and line.count("{key: ") == 1 and "-[" in line
            if by_key and "USING INDEX SEEK" not in after:
                faults.append(f"write/{name}:{number}: {line.strip()}")
    assert not faults, "\n".join(faults)


def test_two_never_share_a_title() -> None:
    titles = [statement(folder, name).splitlines()[0].partition(": ")[2] for folder, name in FILES]
    assert sorted(titles) == sorted(set(titles))


def test_every_statement_is_used() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    made = {f"dump_{label.value.lower()}" for label in Label}
    made |= {f"{owner}_{type_}" for owner in ("job", "query") for type_ in ("reads", "writes")}
    made |= {f"{word}_{type_}" for word in ("declare", "undeclare") for type_ in ("reads", "writes", "feeds")}
    made |= {f"update_{kind}" for kind in ("jobs", "datasets", "versions", "schema_versions")}
    unused = [
        name
        for folder, name in FILES
        if folder != "schema" and not name.startswith("drop_") and f'"{name}"' not in code and name not in made
    ]
    assert unused == []


def test_every_label_is_wiped() -> None:
    wiped = set(re.findall(r"[:|](\w+)", statement("whole", "wipe")))
    assert wiped == STORED_LABELS | {"HeadwaterGraph", "HwProbe", "HwProgress"}


def test_every_label_has_the_prefix() -> None:
    """A label without it is matched in the data of others, and in none of ours."""
    top = ROOT.parent.parent
    folders = [top / name for name in ("graph", "analysis", "consumers", "cli", "ops/neo4j-browser")]
    texts = {path: path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.cypher")}
    assert len(texts) > 60
    code = {path: re.sub(r"//.*|'[^']*'", "", text) for path, text in texts.items()}
    labels = {(str(path), label) for path, text in code.items() for label in re.findall(r"[:|&!]([A-Z][a-z]\w*)", text)}
    ours = STORED_LABELS | {"HeadwaterGraph", "HwProbe", "HwProgress"}
    assert {(path, label) for path, label in labels if label not in ours} == set()


def test_times_are_never_read_by_the_second() -> None:
    """Neo4j's `epochSeconds` of a time before 1970 with milliseconds is the second after."""
    assert [str(path) for path in ROOT.rglob("*.cypher") if "epochSeconds" in path.read_text(encoding="utf-8")] == []


def test_whatever_a_batch_brings_is_one_parameter() -> None:
    """Neo4j makes a plan for each size of a parameter, so for each combination where there are several."""
    written = [name for folder, name in FILES if folder == "write" and name not in {"await_indexes", "graph_version"}]
    asked = {name: set(re.findall(r"\$(\w+)", statement("write", name))) for name in written}
    assert {name: found for name, found in asked.items() if found != {"batch"}} == {}


# A node that a statement returns whole, `n {.*, …}`, with its times as microseconds.
SEEN = {"first_seen", "last_seen"}
WHOLE = re.compile(r"(\w) \{\.\*,(.*?)\}", re.DOTALL)
RETURNED = {
    "jobs": Label.JOB,
    "datasets": Label.DATASET,
    "versions": Label.VERSION,
    "queries": Label.QUERY,
    "runs": Label.RUN,
    "plans": Label.PLAN,
    "whole_segments": None,
    "summaries": None,
}
"""Label of the node that a statement returns; None: a Segment or Summary, which has no registers of its own."""


def test_a_node_is_returned_with_all_of_its_times_as_microseconds(subtests: pytest.Subtests) -> None:
    """A time that is left out here is read a hundred times slower, by the driver's own type."""
    for name, label in RETURNED.items():
        with subtests.test(name=name):
            registers = {"first_time", "last_time"} if label is None else REGISTERS[label].keys() | SEEN
            found = WHOLE.search(statement("write", name))
            assert found is not None
            node, listed = found.groups()
            assert sorted(line.strip() for line in listed.split(",\n")) == sorted(
                f"{time}: {node}.{time}.epochMillis * 1000 + {node}.{time}.microsecond % 1000"
                for time in TIMES & registers
            )


def test_no_other_statement_returns_a_node_whole() -> None:
    found = {name for folder, name in FILES if folder == "write" and re.search(r"n \{\.\*", statement("write", name))}
    assert found == RETURNED.keys()


def test_a_name_of_no_statement() -> None:
    with pytest.raises(KeyError):
        statement("write", "nothing")
