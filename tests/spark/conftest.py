"""One Spark session for every test under tests/spark: local[1], small, with the Kafka connector on its classpath.

It lives for half an hour. Spark 4.0 keeps each session that a query ran in for as long as the application lives, and
each start of a streaming query makes one: 2 MB, some hundreds of times. What Python refers to is kept, too, until
Python's collector comes by, which in a process of ten thousand tests it hardly ever does by itself.
"""

from __future__ import annotations

import gc
import itertools
import os
import sys
import warnings
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater.stack import ensure_jars, java_runtime
from headwater.stack.spark import installed_release
from support.running import QUICK_JVM
from support.spark_versions import is_locked, where_spark_agrees
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # PySpark leaves the sockets it gets results through (collect, toPandas, a failed call) to the garbage collector,
    # which may come by during any later test.
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
            if not is_locked():
                # Of PySpark 3.5 itself.
                for warning in ("The distutils package is", "is_datetime64tz_dtype is", "distutils Version classes"):
                    item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning} deprecated:DeprecationWarning"))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """A test of what another version of Spark doesn't have is skipped there, with Spark's reason."""
    with where_spark_agrees():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    """So is what needs a fixture that can't be made there, and each other test that needs it."""
    with where_spark_agrees():
        return (yield)


_TESTS = itertools.count(1)
_COLLECT_EVERY = 50


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None, object, object]:
    """Now and then Python's collector lets go of what the JVM keeps for references in cycles: plans, mostly."""
    result = yield
    if next(_TESTS) % _COLLECT_EVERY == 0:
        with warnings.catch_warnings():
            # Sockets of PySpark, as above.
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    return result


@pytest.fixture(autouse=True)
def _long_writes_are_not_announced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that takes more than a second, as on a slow machine, would be reported as running, too."""
    if "announced_writes" not in request.fixturenames:
        monkeypatch.setattr("headwater_producers.spark.driver.running_writes.RunningWrites._look", lambda _self: None)


@pytest.fixture
def announced_writes() -> None:
    """Writes that have run for a second are reported as running, as outside the tests."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    os.environ.update(java_runtime().environment())
    # Workers need what the driver has: the first python3 of the PATH may be another.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    home = tmp_path_factory.mktemp("spark")
    # The Kafka connector; Delta, Iceberg and Avro, which do nothing in a session that doesn't name them.
    jars = ",".join(str(jar) for name in installed_release().modules for jar in ensure_jars(name))
    # derby.log and metastore_db would otherwise be made where the tests were started.
    java = f"-Dderby.system.home={home} -Xss4m {QUICK_JVM}"
    builder = (
        SparkSession.builder.master("local[1]")
        .appName("headwater-tests")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.extraJavaOptions", java)
        .config("spark.jars", jars)
        .config("spark.local.dir", str(home / "local"))
        .config("spark.sql.warehouse.dir", str(home / "warehouse"))
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # What Spark's status store keeps, by default the last 1,000 of each, also without a UI.
        .config("spark.sql.ui.retainedExecutions", "100")
        .config("spark.ui.retainedJobs", "200")
        .config("spark.ui.retainedStages", "200")
    )
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    gateway = session.sparkContext._gateway
    session.stop()
    # The JVM outlives stop(), until its parent ends or closes its standard input; tests leave nothing running.
    # Only then the callback server: closing a connection that a thread still reads from would wait for ever.
    if gateway is not None:
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=patience(60))
        gateway.shutdown()
