"""Too large: what is said of an event that Kafka refuses for its size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater_producers.publisher.ledger import Outgoing


def described(outgoing: Outgoing) -> str:
    """Which event it is, by what only its record says, and which settings would let it through."""
    kind = dict(outgoing.headers).get("headwater.kind", b"lineage").decode(errors="replace")
    subject = "dataset" if kind == "DATASET" else "job"
    return (
        f"the {kind} event of {subject} {_name(outgoing.key)}, of {len(outgoing.value)} bytes, is more than Kafka "
        "takes: raise topic_max_message_bytes, and the events topic's max.message.bytes"
    )


def _name(key: bytes) -> str:
    """The last part of a record's key: tenant, namespace, name."""
    try:
        return str(json.loads(key)[-1])
    except (ValueError, LookupError, TypeError):
        return key.decode(errors="replace")
