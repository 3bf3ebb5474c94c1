"""What is told of each statement in `cases.py`, beside its golden, which docs/sources-and-sinks.md is made of.

The cases of a family build on one another, in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark.sources.cases import FAMILIES, Case
from spark.sources.golden import check
from spark.sources.watching import Watched, column_lines, run_lines

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.mark.parametrize(
    ("family", "case"), [pytest.param(f.name, c, id=f"{f.name}: {c.title}") for f in FAMILIES for c in f.cases]
)
def test_what_is_told(watched: Watched, folder: Path, family: str, case: Case) -> None:
    of = next(each for each in FAMILIES if each.name == family)
    if family not in watched.prepared:
        of.setup(watched.spark, folder)
        watched.news()
        watched.prepared.add(family)
    case.run(watched.spark, folder)
    news = watched.news()
    columns = column_lines(news) if of.columns or case.title.startswith(("MERGE", "UPDATE", "DELETE")) else []
    check(family, case.title, [*run_lines(news), *columns])
