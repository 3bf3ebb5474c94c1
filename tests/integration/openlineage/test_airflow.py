"""A DAG run in Airflow's own local executor, posting to `headwater serve`.

    UPDATE_GOLDENS=1 uv run pytest -n0 -m study tests/integration/openlineage/test_airflow.py

records anew what scheduler and tasks post, and the graph.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.stack import ports
from support.api_tokens import TOKEN
from support.client_environments import programs_of
from support.openlineage_recordings import check_recording, intake
from support.other_spark import NotToBeHadError
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

# Three programs of Airflow start for it: minutes on two cores.
pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.study, pytest.mark.timeout(900)]

FILES = Path(__file__).parent / "airflow"
DATE = "2026-11-21T00:00:00Z"
SECONDS = 400.0


def test_a_dag_run_is_in_the_graph(
    world: RealWorld, settings: dict[str, str], tmp_path: Path, neo4j_driver: Driver
) -> None:
    try:
        programs = programs_of(FILES / "requirements.txt")
    except NotToBeHadError as error:
        pytest.skip(f"Airflow can't be installed: {error}")
    (tmp_path / "dags").mkdir()
    shutil.copy(FILES / "shop.py", tmp_path / "dags")
    with contextlib.closing(sqlite3.connect(tmp_path / "shop.db")) as database:
        database.execute("CREATE TABLE orders (customer TEXT, amount INT)")
    port = ports.choose(ports.ANY).http
    with intake(settings) as server:
        transport = {"type": "http", "url": server.url(), "auth": {"type": "api_key", "apiKey": TOKEN}}
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "PYTHONWARNINGS": "ignore",
            "AIRFLOW_HOME": str(tmp_path),
            "AIRFLOW_CONN_SHOP": json.dumps({"conn_type": "sqlite", "host": str(tmp_path / "shop.db")}),
            "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
            "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of the test, as long as it has to be: 64 bytes and a few",
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
            "AIRFLOW__CORE__EXECUTOR": "LocalExecutor",
            "AIRFLOW__CORE__PARALLELISM": "1",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "false",
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "false",
            "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
            "AIRFLOW__OPENLINEAGE__NAMESPACE": "shop",
        }
        airflow = str(programs / "airflow")
        for arguments in (["db", "migrate"], ["dags", "reserialize"], ["dags", "trigger", "shop", "-l", DATE]):
            ran = subprocess.run(
                [airflow, *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=patience(240),
                check=False,
            )
            assert ran.returncode == 0, ran.stdout + ran.stderr
        api = ["api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
        with _running(programs, environment, tmp_path, *api):
            # A task that can't reach it fails.
            url = f"http://127.0.0.1:{port}/api/v2/version"
            eventually(lambda: _answers(url), SECONDS, every=0.5, expecting="the API server answers")
            with _running(programs, environment, tmp_path, "scheduler"):
                assert _ended(tmp_path) == {"land": "success", "totals": "success", "report": "failed"}
                # The run of the DAG is reported by a process of the scheduler's, after it has ended.
                eventually(
                    lambda: _dag_run_posted(tmp_path), SECONDS, every=0.5, expecting="the DAG's failure is reported"
                )
    user = '"triggering_user_name":"{}"'
    replaced = {
        str(programs.parent): "/opt/airflow",
        str(tmp_path): "/data/airflow",
        f"127.0.0.1:{port}": "airflow",
        user.format(getpass.getuser()): user.format("ann"),
    }
    check_recording("airflow", settings, neo4j_driver, replaced)


@contextlib.contextmanager
def _running(programs: Path, environment: dict[str, str], folder: Path, *arguments: str) -> Iterator[None]:
    """A program of Airflow, as long as the block runs; then its log goes to stdout, which pytest shows of a failure."""
    with (folder / f"{arguments[0]}.log").open("wb") as log:
        process = subprocess.Popen(
            [programs / "airflow", *arguments], env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(patience(60))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            sys.stdout.write(_log(folder, arguments[0]))


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=patience(10)) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _ended(folder: Path) -> dict[str, str]:
    """The states of the tasks of the only run of the DAG, once it has ended."""

    def rows(query: str) -> list[tuple[str, str]]:
        with contextlib.closing(sqlite3.connect(f"file:{folder / 'airflow.db'}?mode=ro", uri=True)) as database:
            return list(database.execute(query))

    eventually(
        lambda: rows("SELECT state, dag_id FROM dag_run")[0][0] in {"success", "failed"},
        SECONDS,
        every=0.5,
        expecting="the run of the DAG has ended",
    )
    return dict(rows("SELECT task_id, state FROM task_instance"))


def _log(folder: Path, program: str = "scheduler") -> str:
    return (folder / f"{program}.log").read_text(errors="replace")


def _dag_run_posted(folder: Path) -> bool:
    """True once the scheduler has reported the DAG's failure; a task's comes first, and is in the log, too."""
    return _log(folder).count("OpenLineage `FAIL` event") >= len(("the task", "the DAG run"))
