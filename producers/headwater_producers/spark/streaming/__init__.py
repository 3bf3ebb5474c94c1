"""Streaming queries: runs and intervals from progress and checkpoint. Nothing here knows py4j.

`flow` decides when a micro-batch is emitted, `interval` makes its entry, `interval_events` sends it. Committed
micro-batches that may not have been emitted are rebuilt from their query's checkpoint: `backfill` decides which and
when, `rebuild` makes their entries and events, marked RECONCILED, with the event ids of observed intervals.
"""
