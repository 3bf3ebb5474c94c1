"""`spark-submit` of an unmodified script to a cluster, where all there is of Headwater is a packed folder.

A driver in cluster mode starts in a folder where `--archives` was unpacked. So does this one, and its Python is the
one that the tests' environment was made from, which has neither Headwater nor what it needs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pyspark
import pytest
from packaging.requirements import Requirement

from headwater.commands.run import bootstrap_file
from headwater_schemas.events import RunEventType
from support.running import SECONDS, environment, lineage, runs, small
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack]

ROOT = Path(__file__).parents[3]

JOB = """
import json, sys
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

@F.udf("string")
def where(number):
    import headwater_producers, os
    return json.dumps([headwater_producers.__file__, os.getcwd()])

frame = spark.range(2).select(where("id").alias("where"))
frame.write.mode("overwrite").json(sys.argv[1])
"""


def needed(name: str, seen: set[str]) -> Iterator[metadata.Distribution]:
    """A distribution and all that it needs without extras."""
    if name in seen:
        return
    seen.add(name)
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return
    yield found
    for requirement in map(Requirement, found.requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield from needed(requirement.name, seen)


def pack(folder: Path) -> Path:
    """Pack the result of `pip install --target packages headwater` as a tar file."""
    packages = folder / "packed"
    for found in needed("headwater", set()):
        for file in found.files or ():
            source = Path(str(found.locate_file(file)))
            if source.is_file() and ".." not in file.parts and "bin" not in file.parts[:1]:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, packages / file)
    for package in ("schemas/headwater_schemas", "producers/headwater_producers"):
        shutil.copytree(ROOT / package, packages / Path(package).name, ignore=shutil.ignore_patterns("__pycache__"))
    archive = folder / "packages.tar"
    with tarfile.open(archive, "w") as tar:
        # Without an entry for the folder itself, which Hadoop's unpacking refuses.
        for each in sorted(packages.iterdir()):
            tar.add(each, each.name)
    return archive


@pytest.mark.timeout(SECONDS)
def test_a_packed_environment_on_a_cluster(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    archive = pack(tmp_path)
    container = tmp_path / "container"
    container.mkdir()
    with tarfile.open(archive) as tar:
        tar.extractall(container / "packages", filter="data")
    shutil.copyfile(bootstrap_file(), container / "headwater_run.py")
    (container / "job.py").write_text(JOB)

    python = getattr(sys, "_base_executable", sys.executable)
    spark_home = Path(pyspark.__file__).parent
    variables = environment(stack, topic_prefix)
    for name in [name for name in variables if name.startswith(("HEADWATER_", "PYSPARK_", "VIRTUAL_ENV"))]:
        del variables[name]
    variables |= {
        "SPARK_HOME": str(spark_home),
        "PYSPARK_PYTHON": python,
        "PYTHONPATH": "packages",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    properties = {
        "spark.headwater.jobName": "packed",
        "spark.headwater.kafkaBootstrapServers": stack.bootstrap_servers,
        "spark.headwater.topicPrefix": topic_prefix,
        "spark.executorEnv.PYTHONPATH": "packages",
        "spark.executor.memory": "512m",
    }
    submitted = [part for name, value in properties.items() for part in ("--conf", f"{name}={value}")]
    out = tmp_path / "out"
    done = subprocess.run(
        [
            str(spark_home / "bin" / "spark-submit"),
            *small(),
            *("--master", "local-cluster[1,1,512]", "--archives", f"{archive}#packages"),
            *submitted,
            *("headwater_run.py", "job.py", str(out)),
        ],
        cwd=container,
        env=variables,
        capture_output=True,
        text=True,
        timeout=patience(SECONDS),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6_000:]

    # An executor's Python, in a folder of its own, has the archive too.
    [line, *_] = [line for part in out.glob("part-*") for line in part.read_text().splitlines()]
    imported, here = json.loads(json.loads(line)["where"])
    assert Path(here, "packages") in Path(here, imported).parents
    assert not Path(here).is_relative_to(container)

    events = lineage(stack, f"{topic_prefix}.events")
    assert [run.type for run in runs(events, "packed")] == [RunEventType.START, RunEventType.COMPLETE]
    [_, end] = runs(events, "packed.out")
    assert end.type is RunEventType.COMPLETE
    assert end.outputs[0].dataset.name == os.fspath(out)
