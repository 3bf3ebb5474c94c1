"""Errors of explain_lineage for arguments that it can't explain."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_producers.spark import explain_lineage


def of_module(module: str) -> Any:
    """An instance of a class `DataFrame` of that module."""
    return type("DataFrame", (), {"__module__": module})()


def test_a_frame_of_spark_connect_is_told_why() -> None:
    with pytest.raises(
        TypeError, match=r"not pyspark.sql.connect.dataframe.DataFrame: a Spark Connect client has no plan"
    ):
        explain_lineage(of_module("pyspark.sql.connect.dataframe"))


def test_a_frame_of_pandas_on_spark_is_told_the_way() -> None:
    with pytest.raises(TypeError, match=r"give it what to_spark\(\) returns"):
        explain_lineage(of_module("pyspark.pandas.frame"))


def test_anything_else_is_no_frame() -> None:
    with pytest.raises(TypeError, match=r"a classic Spark session, not builtins.str$"):
        explain_lineage("people")  # type: ignore[arg-type]
