"""The page of a reader's first pipeline, step by step in an empty folder: its scripts, and its commands in a shell.

Not run are `up` and `down`, in whose place is the tests' stack, and `serve`, which goes on until somebody stops it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.stack.info import CLUSTER_NAME
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.stack]

PAGE = Path(__file__).parents[3] / "docs" / "first-pipeline.md"
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOT_RUN = re.compile(r"^headwater (?:up|down|serve)$", re.MULTILINE)


@pytest.mark.timeout(1_200)
def test_the_page(stack: StackUnderTest, clean_database: Driver, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    programs = Path(sys.executable).parent
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")} | {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HEADWATER_DATA_DIR": str(tmp_path / "data"),
        "HEADWATER_NEO4J_URI": stack.neo4j_uri,
        "HEADWATER_NEO4J_USER": stack.neo4j_user,
        "HEADWATER_NEO4J_PASSWORD": stack.neo4j_password,
        "HEADWATER_TOPIC_PREFIX": "first",
        "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
    }
    # As `headwater up` leaves it in its data folder, and commands take it from there.
    of_stack = {
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
        "HEADWATER_KAFKA_CLUSTER_NAME": CLUSTER_NAME,
    }

    def shell(script: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=work,
            env=environment | of_stack,
            capture_output=True,
            text=True,
            timeout=patience(400),
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    for kind, block in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            (work / block.partition("\n")[0].removeprefix("# ")).write_text(block)
        elif script := _NOT_RUN.sub("", block).strip():
            shell(script.replace("127.0.0.1:9092", stack.bootstrap_servers))
    found = json.loads(shell("headwater upstream totals.parquet --depth all --json"))
    assert {(each["asset"]["namespace"], each["asset"]["name"].rpartition("/")[2]) for each in found["items"]} == {
        (f"kafka://{CLUSTER_NAME}", "orders"),
        ("file", "orders.parquet"),
    }
    intervals = json.loads(shell("headwater runs intervals totals.by_customer --json"))
    assert intervals["total"] >= 1
    direct = shell("headwater upstream totals.parquet --column total --depth all --influence direct")
    assert "orders.parquet#amount" in direct
