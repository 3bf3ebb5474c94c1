from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.demo_process import DemoUnderTest, run

# As spark-submit does it: a script finds its neighbours because their folder is on the path.
sys.path.insert(0, str(Path(__file__).parents[3] / "spark_jobs" / "flights"))


@pytest.fixture
def demos() -> Iterator[list[DemoUnderTest]]:
    """Demos put in here are ended with the test, whatever came of it."""
    started: list[DemoUnderTest] = []
    yield started
    for demo in started:
        if demo.process.poll() is None:
            demo.process.kill()
        demo.process.communicate()
        run(demo.data, ["down"])
        assert demo.left(60) == []
