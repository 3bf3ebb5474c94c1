"""A consumer group whose graph is deleted or changed in place has no consumers meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater.errors import InputError
from headwater_consumers.kafka.group import members


def require_stopped(client: Mapping[str, Any], group: str) -> None:
    """Raise InputError where the group has consumers.

    Args:
        client: configuration of librdkafka.
        group: the consumer group that writes the graph.
    """
    if running := members(client, group):
        raise InputError(f"Group {group} has consumers: {', '.join(running)}.", fix="Stop them first.")
