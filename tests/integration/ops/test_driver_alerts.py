"""Alerts on Spark drivers: each fires for what a real driver meets, and ends once that is mended."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from headwater.stack.process import GuardedProcess
from support.commanded_driver import driving
from support.prometheus_server import free_port, prometheus
from support.running import environment
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(900)]


@contextlib.contextmanager
def pushgateway(folder: Path) -> Iterator[int]:
    """A Pushgateway that is gone at the end of the block; its port."""
    program = shutil.which("prometheus-pushgateway") or shutil.which("pushgateway")
    if program is None:
        pytest.skip("the Pushgateway is not installed: apt install prometheus-pushgateway")
    port = free_port()
    process = GuardedProcess(
        "Pushgateway", [program, f"--web.listen-address=127.0.0.1:{port}"], output=folder / "pushgateway.log"
    )
    try:
        process.wait_until(lambda: answers(port), timeout_seconds=patience(30), cancelled=lambda: False)
        yield port
    finally:
        process.stop()


def answers(port: int) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/-/ready", trust_env=False).status_code == 200
    return False


def test_what_drivers_meet(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    port = free_port()
    with (
        pushgateway(tmp_path) as gateway,
        prometheus(tmp_path, {"headwater-drivers": [port], "headwater-pushed": [gateway]}) as watching,
    ):
        given = environment(stack, topic_prefix) | {
            "HEADWATER_METRICS_PORT": str(port),
            "HEADWATER_METRICS_PUSHGATEWAY": f"127.0.0.1:{gateway}",
            "HEADWATER_OUTBOX_PATH": str(tmp_path / "outbox"),
        }
        lost = watching.watch("HeadwaterJobLostEvents")
        narrow = {"HEADWATER_OUTBOX_MAX_BYTES": str(1_024 * 1_024), "HEADWATER_CAPTURE_QUEUE_SIZE": "1"}
        with driving(given | narrow, tmp_path / "narrow") as driver:
            busy = watching.watch("HeadwaterCallbacksDropped")
            driver.do("write_at_once", 8)
            busy.fire(lambda: driver.do("write_at_once", 8))

            growing = watching.watch("HeadwaterOutboxGrowing")
            full = watching.watch("HeadwaterOutboxDrops", "HeadwaterEventsRefused")
            with stack.paused("kafka"):
                growing.fire(lambda: driver.do("write", 1))
                full.fire(lambda: driver.do("write_wide", 1))
            growing.clear()
            full.clear()
            busy.clear()

            unread = watching.watch("HeadwaterCaptureErrors")
            driver.do("write_unreadable", 1)
            unread.fire()

            recovered = watching.watch("HeadwaterReconciledShare")
            driver.do("stream", 1)
            driver.do("stream_unseen", 15)
            driver.do("stream", 1)
            recovered.fire()

            gaps = watching.watch("HeadwaterGaps")
            driver.do("keep", 2)
            driver.do("stream_unseen", 6)
            driver.do("stream", 1)
            gaps.fire()
            unread.clear()
            gaps.clear()
            recovered.clear()
            driver.end()
        assert lost.fire()["HeadwaterJobLostEvents"]["application"] == "commanded"
        with driving(given, tmp_path / "wide") as driver:
            driver.do("write", 1)
            driver.end()
        lost.clear()
