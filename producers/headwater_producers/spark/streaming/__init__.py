"""Streaming queries: runs and intervals from progress and checkpoint. No module of this package uses py4j.

`flow` decides when a micro-batch is emitted, `interval` builds its entry, `interval_events` sends it. Committed
micro-batches that may not have been emitted are rebuilt from their query's checkpoint. `backfill` chooses them and the
time; `rebuild` builds their entries and events, marked RECONCILED, with the event ids of observed intervals.
"""
