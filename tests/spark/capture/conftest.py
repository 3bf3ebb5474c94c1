"""`captured`: the shared session, captured for one test, with a sink that records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from support.capture import FLUSH_SECONDS, Captured, RecordingSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def captured(spark: SparkSession) -> Iterator[Captured]:
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        yield Captured(spark, sink, capture)
