"""The Spark that the tests run on, where that isn't the locked one: `support.other_spark`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.stack.spark import SparkJars, installed_pyspark, installed_release

_LOCK = Path(__file__).parents[2] / "uv.lock"
# Of what Spark itself refuses: a statement or a function that this version doesn't have.
_REFUSED = re.compile(
    r"PARSE_SYNTAX_ERROR|UNRESOLVED_ROUTINE|UNSUPPORTED_FEATURE|UNSUPPORTED_SUBQUERY|AMBIGUOUS_ALIAS_IN_NESTED_CTE|"
    r"Cannot find catalog plugin class|CANNOT_LOAD_CATALOG.PLUGIN_CLASS_NOT_FOUND|"  # no jars of Iceberg for it
    r"DATA_SOURCE_NOT_FOUND\] Failed to find the data source: delta|"  # no jars of Delta for it
    r"The table or view `(?:own_delta|delta)`|"  # for the same reason
    r"does not support truncate in batch mode|"  # Delta 3.3 on the last Spark 3.5
    r"doesn't match to the schema for existing state"  # Spark 3.5 starts no join again whose columns became nullable
)


def locked_pyspark() -> str:
    """The version that `uv sync` installs, and that all goldens are of."""
    found = re.search(r'name = "pyspark"\nversion = "([^"]+)"', _LOCK.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def is_locked() -> bool:
    return installed_pyspark() == locked_pyspark()


def needs_jars(name: SparkJars) -> None:
    """Skips the test where nothing is to be had for the installed Spark."""
    if name not in installed_release().modules:
        pytest.skip(f"there are no jars of {name} for PySpark {installed_pyspark()}")


@contextlib.contextmanager
def where_spark_can() -> Iterator[None]:
    """Skip the test, with Spark's reason, where the installed Spark is older than the code within needs.

    On the locked Spark nothing is skipped. No code of ours may run within.
    """
    try:
        yield
    except Exception as error:
        if is_locked() or not _is_refused(error):
            raise
        pytest.skip(f"PySpark {installed_pyspark()} has no such thing: {str(error).strip().splitlines()[0]}")


@contextlib.contextmanager
def where_spark_agrees() -> Iterator[None]:
    """Skip the test where Spark itself refuses the code within by an error of its own, whoever calls it."""
    try:
        yield
    except Exception as error:
        if is_locked() or not _REFUSED.search(str(error)):
            raise
        pytest.skip(f"PySpark {installed_pyspark()} refuses it: {str(error).strip().splitlines()[0]}")


def _is_refused(error: Exception) -> bool:
    if isinstance(error, ImportError | AttributeError | TypeError):
        # A module, a method or an argument that this PySpark doesn't have; a Column takes any name for a field's. And
        # PySpark 3.5 uses what NumPy 2 has removed.
        known = "pyspark|has no attribute|unexpected keyword|is not callable|removed in the NumPy 2"
        return re.search(known, str(error)) is not None
    return _REFUSED.search(str(error)) is not None
