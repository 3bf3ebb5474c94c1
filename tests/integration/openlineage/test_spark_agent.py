"""OpenLineage's own agent in a Spark job, posting to `headwater serve`, beside Headwater's own capture of the same job.

    uv run pytest -n0 -m study tests/integration/openlineage/test_spark_agent.py

runs it on Spark 3 as well, which an environment of its own has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.stack import ensure_jars
from support.api_tokens import TOKEN
from support.materializer.process import run_until_caught_up
from support.openlineage_graphs import words
from support.openlineage_recordings import intake
from support.openlineage_spec import graph_of
from support.other_spark import NotToBeHadError, python_of
from support.running import lineage
from support.spark_submit import submit

if TYPE_CHECKING:
    from neo4j import Driver

    from headwater_schemas.events import LineageEvent
    from support.materializer.worlds import RealWorld
    from support.stack import StackUnderTest

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(400)]

SCRIPT = """
import sys
from pyspark.sql import SparkSession, functions as f
from headwater_producers.spark import attach

folder = sys.argv[1]
spark = SparkSession.builder.appName("shop").getOrCreate()
attach(spark, job_name="shop")
orders = spark.read.option("header", True).csv(f"{folder}/orders.csv")
totals = orders.groupBy("customer").agg(f.sum("amount").alias("total"))
totals.write.mode("overwrite").parquet(f"{folder}/totals")
spark.stop()
"""


@pytest.mark.parametrize(
    ("version", "jars"),
    [
        pytest.param(None, "openlineage", id="the Spark of the tests"),
        pytest.param("3.5.7", "openlineage-spark3", id="3.5.7", marks=pytest.mark.study),
    ],
)
def test_a_job_with_the_agent_and_with_capture(
    version: str | None,
    jars: Any,
    world: RealWorld,
    stack: StackUnderTest,
    topic_prefix: str,
    settings: dict[str, str],
    tmp_path: Path,
    neo4j_driver: Driver,
) -> None:
    try:
        python = None if version is None else python_of(version)
    except NotToBeHadError as error:
        pytest.skip(f"PySpark {version} can't be installed: {error}")
    (tmp_path / "orders.csv").write_text("customer,amount\na,1\nb,2\n")
    (tmp_path / "job.py").write_text(SCRIPT)
    own = f"{topic_prefix}.own"
    with intake(settings) as server:
        agent = {
            "spark.driver.extraClassPath": ":".join(map(str, ensure_jars(jars))),
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.transport.type": "http",
            "spark.openlineage.transport.url": server.url(),
            "spark.openlineage.transport.auth.type": "api_key",
            "spark.openlineage.transport.auth.apiKey": TOKEN,
            "spark.openlineage.namespace": "spark",
        }
        defaults = tmp_path / "conf"
        defaults.mkdir()
        lines = [f"{name} {value}" for name, value in agent.items()]
        (defaults / "spark-defaults.conf").write_text("\n".join(lines) + "\n")
        environment = {
            "SPARK_CONF_DIR": str(defaults),
            "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
            "HEADWATER_TOPIC_PREFIX": own,
        }
        submit(tmp_path / "job.py", str(tmp_path), environment=environment, python=python)
    totals = run_until_caught_up(settings)
    assert totals["applied"] > 0
    assert totals["dead_lettered"] == 0
    _is_in_the_graph(neo4j_driver, tmp_path)
    by_agent, by_capture = (_of_data(lineage(stack, f"{prefix}.events"), tmp_path) for prefix in (topic_prefix, own))
    # Jobs differ: the agent has one for each command, below that of the application; capture has one with a run for it.
    assert by_agent == by_capture
    assert "/data/shop/orders.csv -FEEDS-> /data/shop/totals" in by_capture


_OF_DATA = ("-FEEDS->", "-DERIVES->", "-INFLUENCES->", "-KNOWN_AS->")


def _of_data(events: list[LineageEvent], folder: Path) -> set[str]:
    """Datasets and columns in the graph of events, and what they are made from."""
    lines = words(graph_of(events)).replace(str(folder), "/data/shop").splitlines()
    return {line for line in lines if line.startswith("dataset ") or any(each in line for each in _OF_DATA)}


def _is_in_the_graph(driver: Driver, folder: Path) -> None:
    edges = driver.execute_query("MATCH (a:HwDataset)-[:FEEDS]->(b:HwDataset) RETURN a.name AS a, b.name AS b").records
    assert [(str(folder / "orders.csv"), str(folder / "totals"))] == [(edge["a"], edge["b"]) for edge in edges]
    columns = driver.execute_query(
        "MATCH (a:HwColumn)-[:DERIVES]->(b:HwColumn) RETURN a.name AS a, b.name AS b ORDER BY a"
    ).records
    assert [(edge["a"], edge["b"]) for edge in columns] == [("amount", "total"), ("customer", "customer")]
    states = driver.execute_query("MATCH (r:HwRun) RETURN DISTINCT r.state AS state").records
    assert "COMPLETE" in {record["state"] for record in states}
