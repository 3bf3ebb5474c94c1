"""A part of tests/spark on the oldest and the newest Spark that capture works on. All of it: docs/spark-versions.md."""

from __future__ import annotations

import pytest

from support.other_spark import NotToBeHadError, run_tests

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

VERSIONS = ("3.5.7", "4.3.0")
PART = (
    "tests/spark/plan/test_sql_cases.py",
    "tests/spark/capture/test_foreach_batch_runs.py",
    "tests/spark/capture/test_streaming_runs.py",
    "tests/spark/capture/test_triggers.py",
)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_part_of_the_suite_passes(version: str) -> None:
    try:
        ended = run_tests(version, "-q", "-p", "no:cacheprovider", *PART, seconds=600)
    except NotToBeHadError as error:
        pytest.skip(f"PySpark {version} can't be installed: {error}")
    assert ended.returncode == 0, ended.stdout[-6000:]
    # Most of it is there; a suite that only skips proves nothing.
    assert int(ended.stdout.rsplit(" passed", 1)[0].rsplit(maxsplit=1)[-1]) > 200
