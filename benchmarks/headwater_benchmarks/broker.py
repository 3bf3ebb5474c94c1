"""A Kafka broker of a benchmark's own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from headwater.stack import ensure_jars, ports
from headwater.stack.kafka import KafkaBroker


@contextlib.contextmanager
def broker_up(folder: Path, *java_options: str) -> Iterator[str]:
    """A broker that is up inside the block; its bootstrap servers.

    Args:
        folder: its own; taken away with it.
        java_options: of its JVM.

    Raises:
        HeadwaterError: it doesn't come up.
    """
    broker = KafkaBroker(folder, ports.choose(ports.ANY), ensure_jars("kafka"), java_options=java_options, delete=True)
    broker.start()
    try:
        broker.wait(lambda: False)
        yield broker.bootstrap_servers
    finally:
        broker.process.stop()
