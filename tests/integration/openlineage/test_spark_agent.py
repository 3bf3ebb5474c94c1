"""OpenLineage's own agent in a Spark job, posting to `headwater serve`: the job's lineage is in the graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.stack import ensure_jars
from headwater_benchmarks.intake.serving import serving
from support.materializer.process import run_until_caught_up
from support.spark_submit import submit

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(400)]

TOKEN = "a-token-of-spark"
SCRIPT = """
import sys
from pyspark.sql import SparkSession, functions as f

folder = sys.argv[1]
spark = SparkSession.builder.appName("shop").getOrCreate()
orders = spark.read.option("header", True).csv(f"{folder}/orders.csv")
totals = orders.groupBy("customer").agg(f.sum("amount").alias("total"))
totals.write.mode("overwrite").parquet(f"{folder}/totals")
spark.stop()
"""


def test_a_job_with_the_agent_is_in_the_graph(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, neo4j_driver: Driver
) -> None:
    (tmp_path / "orders.csv").write_text("customer,amount\na,1\nb,2\n")
    (tmp_path / "job.py").write_text(SCRIPT)
    door = {**settings, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    with serving({**door, "HEADWATER_SERVE_INTAKE_TOKEN": TOKEN}) as server:
        agent = {
            "spark.driver.extraClassPath": ":".join(map(str, ensure_jars("openlineage"))),
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
        submit(tmp_path / "job.py", str(tmp_path), environment={"SPARK_CONF_DIR": str(defaults)})
    totals = run_until_caught_up(settings)
    assert totals["applied"] > 0
    assert totals["dead_lettered"] == 0
    edges = neo4j_driver.execute_query(
        "MATCH (a:Dataset)-[:FEEDS]->(b:Dataset) RETURN a.name AS a, b.name AS b"
    ).records
    assert [(str(tmp_path / "orders.csv"), str(tmp_path / "totals"))] == [(edge["a"], edge["b"]) for edge in edges]
    columns = neo4j_driver.execute_query(
        "MATCH (a:Column)-[:DERIVES]->(b:Column) RETURN a.name AS a, b.name AS b ORDER BY a"
    ).records
    assert [(edge["a"], edge["b"]) for edge in columns] == [("amount", "total"), ("customer", "customer")]
    states = neo4j_driver.execute_query("MATCH (r:Run) RETURN DISTINCT r.state AS state").records
    assert "COMPLETE" in {record["state"] for record in states}
