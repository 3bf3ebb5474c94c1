"""Backfill: rebuilds committed micro-batches that may not have been emitted, from their query's checkpoint.

    backfill  decides which micro-batches to rebuild, and when, while an application is captured
    rebuild   makes an interval's entry of a committed micro-batch, and IntervalEvents of entries, marked RECONCILED;
              their event ids are those of observed intervals
    origins   finds the dataset of each source without a running query, for `headwater reconcile`

The checkpoint itself is read by `streaming.checkpoint`. Nothing here knows py4j: files are read through `TextFiles`.
"""
