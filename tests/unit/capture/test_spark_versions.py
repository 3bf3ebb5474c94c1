"""A Spark that capture was never tried on: one warning, and no more."""

from __future__ import annotations

import pytest

from headwater_producers.spark.jvm import versions


def test_a_version_that_was_tried_is_none_to_warn_of(
    subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    for version in ("3.5.7", "4.0.0", "4.1.0-SNAPSHOT", "4.2.3", "4.3.0"):
        with subtests.test(version):
            caplog.clear()
            versions.warn_of_unknown(version)
            assert not caplog.records


@pytest.mark.parametrize("version", ["4.7.0", "5.0.0-preview"])
def test_an_unknown_one_is_warned_of_once_a_process(version: str, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        versions.warn_of_unknown(version)
    (record,) = caplog.records
    assert record.getMessage().startswith("lineage capture was tried on Spark 3.5, 4.0, 4.1, 4.2, 4.3, not on ")
