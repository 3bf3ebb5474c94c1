"""Names of the run facets that Headwater's producers write and its consumers read. What is in them is JSON."""

from __future__ import annotations

from typing import Final

EVENT_TIME_FACET: Final = "headwater_eventTime"
"""At a streaming run's START: the watermarks of its plan, and how far behind one a record may be kept in the state."""

SINK_FACET: Final = "headwater_sink"
"""At a streaming run's START: the sink's `name`, and `callback`: code writes, as in foreachBatch."""

WRITE_FACET: Final = "headwater_write"
"""At START of a batch write that was announced while it ran: what it is to write, and how its commit is recognized:
`application` (Spark's id), `run` (of the application), `marked` (whether commits name that run), `command`, `outputs`
(`namespace`, `name`, `format`, `names`)."""
