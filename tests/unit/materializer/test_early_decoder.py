"""Early decoding: the outcomes of the first records stay right whatever becomes of these."""

from __future__ import annotations

import time

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.materializer.batch import BatchPreparation, EarlyDecoder, prepare
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import SchemasUnavailableError
from headwater_schemas.events import LineageEvent
from support.materializer.events import GARBAGE, good
from support.materializer.graph import fold_ids

LEFT, RIGHT = Partition("t", 0), Partition("t", 1)


def how(decoder: object = None) -> BatchPreparation:
    return BatchPreparation(
        decoder or Decoder(),  # type: ignore[arg-type]
        lambda _: None,
        fold_ids,
        lambda *_: None,
        time.monotonic,
    )


def records(count: int) -> list[FetchedRecord]:
    """Every third is none, and every other is in the right partition."""
    values = [GARBAGE if number % 3 == 2 else good(number) for number in range(count)]
    return [FetchedRecord(RIGHT if number % 2 else LEFT, number, value) for number, value in enumerate(values)]


def test_a_batch_is_the_same_however_much_was_known_ahead() -> None:
    fetched = records(120)
    plain = prepare(fetched, {}, EarlyDecoder(how()), how())
    for looks in (1, 2, 5):
        early = EarlyDecoder(how())
        for _ in range(looks):
            early.decode_more(fetched)
        assert len(early.outcomes) == min(looks * 50, 120)
        assert prepare(fetched, {}, early, how()) == plain


def test_a_smaller_batch_leaves_the_rest_known() -> None:
    fetched = records(60)
    early = EarlyDecoder(how())
    early.decode_more(fetched)
    made = prepare(fetched[:20], {}, early, how())
    early.taken(20)
    assert made == prepare(fetched[:20], {}, EarlyDecoder(how()), how())
    assert [one.record.offset for one in early.outcomes] == list(range(20, 50))


def test_partitions_that_go_take_theirs_along() -> None:
    fetched = records(60)
    early = EarlyDecoder(how())
    early.decode_more(fetched)
    early.forget({RIGHT})
    left = [record for record in fetched if record.partition == LEFT]
    assert [one.record for one in early.outcomes] == left[:25]
    assert prepare(left, {}, early, how()) == prepare(left, {}, EarlyDecoder(how()), how())


def test_trouble_with_schemas_is_left_to_whoever_makes_the_batch() -> None:
    class Away:
        asked = 0

        def decode(self, value: bytes | None) -> LineageEvent:
            self.asked += 1
            raise SchemasUnavailableError("away")

    away = Away()
    early = EarlyDecoder(how(away))
    for _ in range(3):
        early.decode_more(records(9))
    assert (away.asked, early.outcomes) == (1, [])
