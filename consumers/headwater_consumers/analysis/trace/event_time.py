"""What the starts of a streaming query told of its event time: how far behind its watermark a record may be kept."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater_schemas.facets import EVENT_TIME_FACET

if TYPE_CHECKING:
    from headwater_consumers.analysis.reader import Transaction
    from headwater_consumers.analysis.trace.batches import Query


def told_horizon(tx: Transaction, query: Query) -> timedelta | None:
    """The horizon of a query's state as all its starts told it, the longest of them; None unless each one did."""
    found = [_horizon(row["told"]) for row in tx.rows("trace/event_time", query=query.key, facet=EVENT_TIME_FACET)]
    known = [horizon for horizon in found if horizon is not None]
    return max(known) if known and len(known) == len(found) else None


def _horizon(text: str | None) -> timedelta | None:
    try:
        millis = json.loads(text or "{}").get("stateHorizonMs")
        return timedelta(milliseconds=millis) if millis is not None else None
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None
