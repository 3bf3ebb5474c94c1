"""Outbox: events on local disk until Kafka has acknowledged them.

    with Outbox(folder, publisher, limits) as outbox:
        outbox.put(record)                  memory; never waits for the disk or Kafka
        outbox.await_durable(5)             on disk, synced: survives the process
        outbox.await_relayed(15)            acknowledged by Kafka, and gone from the disk

Each outbox writes its own file in the folder, and keeps the file locked while the process lives. The next outbox relays
the events of dead outboxes.
"""

from headwater_producers.outbox.backlog import OutboxLimits, WhenFull
from headwater_producers.outbox.errors import (
    OutboxClosedError,
    OutboxError,
    OutboxFullError,
    OutboxUnusableError,
)
from headwater_producers.outbox.outbox import Outbox, OutboxFigures

__all__ = [
    "Outbox",
    "OutboxClosedError",
    "OutboxError",
    "OutboxFigures",
    "OutboxFullError",
    "OutboxLimits",
    "OutboxUnusableError",
    "WhenFull",
]
