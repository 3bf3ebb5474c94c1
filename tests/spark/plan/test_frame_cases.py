"""Each DataFrame of *frames.py has the lineage that golden/frames.txt says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.explain import explain_lineage
from spark.plan import api_frames, python_frames  # noqa: F401 - they add their cases
from spark.plan.frames import CASES
from spark.plan.goldens import check, lines
from support.spark_versions import where_spark_can

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("title", CASES)
def test_lineage(tables: SparkSession, title: str) -> None:
    with where_spark_can():
        frame = CASES[title](tables)
    found = lines(explain_lineage(frame))
    assert not any(line.endswith("<- ") for line in found), "a column of nothing: not even a constant"
    check("frames", title, found)
