"""The Browser's kit: what is given out is made of the questions, and names only what the graph has."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from neo4j_browser import grass
from neo4j_browser_kit import INTRODUCTION, KIT, build, load_favorites

from headwater_graph.facts.model import STORED_LABELS

pytestmark = pytest.mark.nightly

FAVORITES = load_favorites()
GRAPH = (KIT.parents[1] / "docs" / "graph.md").read_text(encoding="utf-8")
TYPES = set(re.findall(r"-\[:([A-Z_|]+)\]->", GRAPH))


def test_there_are_questions_of_every_area() -> None:
    assert len(FAVORITES) >= 15
    assert sorted({one.folder for one in FAVORITES}) == sorted(INTRODUCTION)


def test_a_question_is_titled_and_one_statement() -> None:
    for one in FAVORITES:
        first = one.cypher.splitlines()[0]
        assert re.fullmatch(r"// [A-Z].*[^.]", first), one.path
        assert ";" not in one.cypher, one.path
        assert not re.search(r"\b(CREATE|MERGE|SET|DELETE|REMOVE)\b", one.cypher), one.path
    titles = [one.title for one in FAVORITES]
    assert sorted(titles) == sorted(set(titles))


def test_what_is_given_out_is_made_of_the_questions(tmp_path: Path) -> None:
    build(into=tmp_path)
    for name in ("favorites.zip", "guide.html"):
        assert (KIT / name).read_bytes() == (tmp_path / name).read_bytes(), "run scripts/neo4j_browser_kit.py build"


def test_the_archive_has_each_question_in_its_folder() -> None:
    with zipfile.ZipFile(KIT / "favorites.zip") as archive:
        assert archive.read("Headwater 1 lineage/01-all-lineage.cypher").startswith(b"// All lineage")
        assert len(archive.namelist()) == len(FAVORITES)


def test_the_style_knows_every_label_and_relationship() -> None:
    style = grass()
    assert {key.partition(".")[2] for key in style if key.startswith("node.")} == STORED_LABELS
    known = {name for found in TYPES for name in found.split("|")}
    assert {key.partition(".")[2] for key in style if key.startswith("relationship.")} == known
    assert style["node.HwDataset"]["caption"] == "{title}"
