"""Goldens of the cases: `golden/<family>.txt`, a section for each, refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from spark.plan.goldens import read_sections
from support.run_rules import rewrite, updating

GOLDEN = Path(__file__).parent / "golden"


def check(family: str, title: str, found: list[str]) -> None:
    path = GOLDEN / f"{family.lower().replace(' ', '-')}.txt"
    sections = read_sections(path.read_text()) if path.exists() else {}
    if updating():
        sections[title] = found
        rewrite(path, "\n".join(f"# {name}\n" + "".join(f"{line}\n" for line in sections[name]) for name in sections))
        return
    assert sections[title] == found
