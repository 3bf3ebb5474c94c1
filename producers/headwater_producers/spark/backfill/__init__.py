"""Backfill: micro-batches that were committed and perhaps never emitted, rebuilt from their query's checkpoint.

    backfill  while an application is captured: which micro-batches, and when
    rebuild   one committed micro-batch as an interval's entry, with the event id it had when it was observed; entries
              as IntervalEvents, marked RECONCILED
    origins   which dataset each source is, where no running query shows it: for `headwater reconcile`

The checkpoint itself is read by `streaming.checkpoint`. Nothing here knows py4j: files are read through `TextFiles`.
"""
