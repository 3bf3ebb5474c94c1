"""`dbt-ol build` of a small project, posting to `headwater serve`: models, tests, a snapshot and an exposure.

    UPDATE_GOLDENS=1 uv run pytest -n0 tests/integration/openlineage/test_dbt.py

records anew what it posts, the graph, and what dbt writes of the project, manifest and catalog.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import quality
from support.api_tokens import TOKEN
from support.client_environments import programs_of
from support.dbt_artifacts import RECORDED, declared, recorded
from support.openlineage_recordings import check_recording, intake
from support.other_spark import NotToBeHadError
from support.run_rules import rewrite, updating
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(400)]

PROJECT = Path(__file__).parent / "dbt"
DOCUMENTS = ("run_results", "manifest")
SOURCE = """
import duckdb
with duckdb.connect("shop.duckdb") as connection:
    connection.execute("CREATE SCHEMA warehouse")
    connection.execute("CREATE TABLE warehouse.prices AS SELECT 'a' AS sku, 1 AS price")
"""


def test_a_project_is_in_the_graph(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, neo4j_driver: Driver
) -> None:
    try:
        programs = programs_of(PROJECT / "requirements.txt")
    except NotToBeHadError as error:
        pytest.skip(f"dbt can't be installed: {error}")
    folder = tmp_path / "shop"
    shutil.copytree(PROJECT, folder)
    subprocess.run([programs / "python", "-c", SOURCE], cwd=folder, check=True)
    with intake(settings) as server:
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "SHOP_FOLDER": str(folder),
            "OPENLINEAGE_URL": server.url(),
            "OPENLINEAGE_API_KEY": TOKEN,
            "OPENLINEAGE_NAMESPACE": "shop",
        }
        ran = run(["dbt-ol", "build"], programs, folder, environment)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        # `docs generate` writes the same files anew.
        results, manifest = (json.loads((folder / "target" / f"{name}.json").read_bytes()) for name in DOCUMENTS)
        documented = run(["dbt", "docs", "generate"], programs, folder, environment)
    assert documented.returncode == 0, documented.stdout + documented.stderr
    assert "Emitted 18 OpenLineage events" in ran.stderr + ran.stdout
    of_orders = quality.dbt(results, manifest, model="orders")
    assert {(each.column, each.rule, each.passed) for each in of_orders} == {
        ("order_id", "UNIQUENESS", True),
        ("order_id", "COMPLETENESS", True),
        ("customer_id", "REFERENTIAL", True),
    }
    of_customers = quality.dbt(results, manifest, model="customers")
    assert {(each.column, each.rule, each.severity) for each in of_customers} >= {
        ("total", "COMPLETENESS", "warn"),
        ("total", "VALIDITY", "warn"),
    }
    check_recording("dbt", settings, neo4j_driver, {str(folder): "/data/shop"})
    manifest, catalog = (
        recorded((folder / "target" / f"{name}.json").read_text(encoding="utf-8"), str(folder))
        for name in ("manifest", "catalog")
    )
    if updating():
        rewrite(RECORDED / "manifest.json", manifest)
        rewrite(RECORDED / "catalog.json", catalog)
    assert declared(manifest, catalog) == (RECORDED / "declared.json").read_text(encoding="utf-8")


def run(
    command: list[str], programs: Path, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        executable=programs / command[0],
        capture_output=True,
        text=True,
        timeout=patience(240),
        check=False,
    )
