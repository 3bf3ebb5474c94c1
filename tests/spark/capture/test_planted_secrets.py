"""Secrets planted in a Spark job, in each shape: none is found in its events, logs or status."""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from support.capture import FLUSH_SECONDS, RecordingSink
from support.planted import MARKER, Shape, leaks, shapes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.nightly, pytest.mark.timeout(900)]

SHARE = 9
"""A job of its own for each ninth shape; the others share theirs, as columns of one write."""


def plant(spark: SparkSession, shape: Shape, folder: Path) -> None:
    """A shape wherever a program has texts: what Spark refuses is planted all the same."""
    text = shape.text
    literal = text.replace("\\", "\\\\").replace("'", "\\'")
    named = text.replace("`", "``")
    out, refused = str(folder / "out"), contextlib.suppress(Exception)
    with refused:
        spark.conf.set("spark.sql.my.planted", text)
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{out}' USING json SELECT '{literal}' AS `{named}`, id FROM range(2)")
    with refused:
        spark.sql(f"CREATE TEMPORARY VIEW `{named}` USING json OPTIONS (path '{out}', 'my.password' '{literal}')")
        spark.table(f"`{named}`").write.option("my.password", text).mode("overwrite").json(str(folder / "copy"))
    with refused:
        spark.range(1).withColumn("day", F.lit(text)).write.partitionBy("day").mode("overwrite").json(
            str(folder / "days")
        )
    with refused:
        spark.range(1).write.mode("overwrite").json(f"{folder}/{text}")
    with refused:
        spark.range(1).select(F.raise_error(F.lit(text)).cast("int")).write.mode("overwrite").json(
            str(folder / "never")
        )
    spark.catalog.dropTempView(text)


def captured(spark: SparkSession, planted: list[Shape], folder: Path, **settings: Any) -> list[str]:
    sink = RecordingSink()
    with attach(spark, sink=sink, capture_sql=True, capture_drain_timeout_seconds=FLUSH_SECONDS, **settings) as capture:
        columns = [F.lit(shape.text).alias(f"{number} {shape.text}") for number, shape in enumerate(planted)]
        spark.range(2).select("id", *columns).write.mode("overwrite").json(str(folder / "all"))
        for shape in planted[::SHARE]:
            plant(spark, shape, folder)
        capture.flush(FLUSH_SECONDS)
        status = repr(capture.status())
    assert sink.events
    return leaks(planted, places={"events": msgspec.json.encode(sink.events), "status": status})


def test_a_job_reports_none(spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    every = shapes()
    found: list[str] = []
    for number in range(0, len(every), 3 * SHARE):
        some = every[number : number + 3 * SHARE]
        settings = {"job_name": some[0].text, "job_campaign": some[1].text, "job_owner": some[2].text}
        tags = f"password={MARKER},{'ghp_0123456789abcdefghijABCDEFGHIJ012345'}"
        found += captured(spark, some, tmp_path / str(number), job_tags=tags, **settings)
    logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("headwater"))
    found += leaks(every, places={"logs": logged})
    assert not found, "\n".join(found)
