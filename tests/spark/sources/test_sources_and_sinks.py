"""Events of each statement in `cases.py`, beside its golden, which docs/sources-and-sinks.md is made of.

The cases of a family build on one another, in their order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.sources.cases import Case, Family
from spark.sources.families import LAKE
from spark.sources.golden import check
from spark.sources.watching import Watched, emitted

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


def in_gate(family: Family) -> bool:
    return family.name != "Maintenance"


@pytest.mark.parametrize(
    ("family", "case"),
    [
        pytest.param(f, c, id=f"{f.name}: {c.title}", marks=() if in_gate(f) else pytest.mark.nightly)
        for f in LAKE
        for c in f.cases
    ],
)
def test_what_is_emitted(watched: Watched, folder: Path, family: Family, case: Case) -> None:
    check(family.name, case.title, emitted(watched, folder, family, case))
