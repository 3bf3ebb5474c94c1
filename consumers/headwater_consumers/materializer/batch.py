"""A batch: what is written together, with the offsets that it lets the consumer commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_consumers.materializer.dead_letter import DeadLetter
from headwater_consumers.materializer.decode import Decoder, Reject, decode_one
from headwater_consumers.materializer.errors import FoldFailedError
from headwater_consumers.materializer.graph import Fold, Folded, checked_fold
from headwater_consumers.materializer.metrics import Step
from headwater_consumers.materializer.records import Decoded, Partition, Record, next_offsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.materializer.ahead import Ahead


@dataclass(frozen=True, slots=True)
class Batch:
    """Decoded and folded, ready to be written.

    Attributes:
        records: all of them, so that the batch can be made again without those of a revoked partition.
        events: of the records that are good.
        folded: the events, folded; None where folding them together raised, or there are none.
        letters: of the records that are not.
        reached: end offsets of partitions that were met behind the records.
        offsets: to commit once events are written and letters acknowledged.
    """

    records: tuple[Record, ...]
    events: tuple[Decoded, ...]
    folded: Folded | None
    letters: tuple[DeadLetter, ...]
    reached: Mapping[Partition, int]
    offsets: Mapping[Partition, int]


@dataclass(frozen=True, slots=True)
class Preparation:
    """What making a batch takes.

    Attributes:
        decoder: of records' values.
        reject: finds what of an event the graph can't hold.
        fold: joins events.
        timed: called with the seconds that decoding and folding took.
        clock: monotonic seconds.
    """

    decoder: Decoder
    reject: Reject
    fold: Fold
    timed: Callable[[Step, float], None]
    clock: Callable[[], float]


def prepare(records: Sequence[Record], reached: Mapping[Partition, int], ahead: Ahead, how: Preparation) -> Batch:
    """Decode and fold, on the thread that fetched, while the batch before is being written.

    Args:
        records: as fetched.
        reached: end offsets of partitions reported behind them (see `records.next_offsets`).
        ahead: what is known of the first of them.
        how: the codec and the fold.

    Raises:
        SchemasUnavailableError: call again with the same records.
        FatalError: schemas can't be looked up as things are configured.
    """
    started = how.clock()
    outcomes, seconds = ahead.take(len(records))
    outcomes += [decode_one(record, how.decoder, how.reject) for record in records[len(outcomes) :]]
    events = tuple(one for one in outcomes if isinstance(one, Decoded))
    letters = tuple(one for one in outcomes if isinstance(one, DeadLetter))
    decoded_at = how.clock()
    how.timed(Step.DECODE, seconds + decoded_at - started)
    folded: Folded | None = None
    if events:
        try:
            folded = checked_fold(how.fold, [item.event for item in events])
        except FoldFailedError:
            folded = None  # the checkpoint folds again, in halves, and finds the one to blame
        how.timed(Step.FOLD, how.clock() - decoded_at)
    return Batch(tuple(records), events, folded, letters, reached, next_offsets(records, reached))
