"""Reconciling: micro-batches that were committed and perhaps never told, rebuilt from their query's checkpoint.

    log       what offsets/, commits/ and metadata say
    rebuild   one committed micro-batch as an interval's entry, with the event id it had when it was observed
    origins   which dataset each source is, where no running query can tell
    events    entries as IntervalEvents, marked RECONCILED

Nothing here knows py4j: files are read through `TextFiles`.
"""

from headwater_producers.spark.reconcile.events import Whose, interval_events
from headwater_producers.spark.reconcile.log import CheckpointError, LoggedBatch, QueryLog
from headwater_producers.spark.reconcile.origins import UnknownOriginError, origins
from headwater_producers.spark.reconcile.rebuild import Rebuilder

__all__ = [
    "CheckpointError",
    "LoggedBatch",
    "QueryLog",
    "Rebuilder",
    "UnknownOriginError",
    "Whose",
    "interval_events",
    "origins",
]
