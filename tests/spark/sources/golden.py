"""Goldens of the cases: `golden/<family>.txt`, a section for each, refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from spark.plan import goldens

GOLDEN = Path(__file__).parent / "golden"


def check(family: str, title: str, found: list[str]) -> None:
    goldens.check(family.lower().replace(" ", "-"), title, found, folder=GOLDEN)
