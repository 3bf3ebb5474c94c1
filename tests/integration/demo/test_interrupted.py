"""A demo that is ended in the middle leaves nothing running, however it was ended."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from support.demo_process import DemoUnderTest
from support.waiting import patience

pytestmark = pytest.mark.nightly


@pytest.mark.stack
@pytest.mark.spark
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("number", "status", "arguments"),
    [(signal.SIGINT, 130, ["--keep"]), (signal.SIGTERM, 143, []), (signal.SIGKILL, -9, ["--keep"])],
)
def test_nothing_is_left_running(
    number: signal.Signals, status: int, arguments: list[str], tmp_path: Path, demos: list[DemoUnderTest]
) -> None:
    demo = DemoUnderTest.start(tmp_path, "--days", "1", *arguments)
    demos.append(demo)

    def spark_is_up() -> bool:
        return any("SparkSubmit" in " ".join(line) for _, line in demo.command_lines())

    demo.until(spark_is_up, "a Spark driver", seconds=200)
    demo.process.send_signal(number)
    demo.process.communicate(timeout=patience(90))
    assert demo.process.returncode == status
    assert demo.left(60) == []
