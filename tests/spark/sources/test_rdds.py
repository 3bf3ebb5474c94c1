"""Events of each case of the family RDDs, beside its golden.

In an application of its own: a write of rows that the program hands over may be made of whatever the application read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.sources.cases import Case
from spark.sources.families import RDDS
from spark.sources.golden import check
from spark.sources.watching import Watched, emitted

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rdds")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in RDDS.cases])
def test_what_is_emitted(watched: Watched, folder: Path, case: Case) -> None:
    check(RDDS.name, case.title, emitted(watched, folder, RDDS, case))
