"""`dbt-ol build` of a small project, posting to `headwater serve`: models, tests, a snapshot and an exposure.

    UPDATE_GOLDENS=1 uv run pytest -n0 tests/integration/openlineage/test_dbt.py

records anew what it posts, and the graph.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.client_environments import programs_of
from support.openlineage_recordings import TOKEN, check_recording, intake
from support.other_spark import NotToBeHadError

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.timeout(400)]

PROJECT = Path(__file__).parent / "dbt"
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
        ran = subprocess.run(
            ["dbt-ol", "build"],
            cwd=folder,
            env=environment,
            executable=programs / "dbt-ol",
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Emitted 18 OpenLineage events" in ran.stderr + ran.stdout
    check_recording("dbt", settings, neo4j_driver, {str(folder): "/data/shop"})
