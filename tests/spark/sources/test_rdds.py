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
from support.gate import named_in_gate

pytestmark = pytest.mark.spark

IN_GATE = {
    "localCheckpoint()",
    "createDataFrame(frame.rdd.map(…))",
    "createDataFrame(frame.collect()), createDataFrame(frame.toPandas())",
    "createDataFrame(sc.textFile(…))",
    "foreachPartition()",
    "rdd.saveAsTextFile()",
    "foreachPartition() that fails",
}
"""Each way from frames to RDDs and back, once. The nightly run has the others."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rdds")


@pytest.mark.parametrize("case", named_in_gate(IN_GATE, RDDS.cases, lambda case: case.title))
def test_what_is_emitted(watched: Watched, folder: Path, case: Case) -> None:
    check(RDDS.name, case.title, emitted(watched, folder, RDDS, case))
