from __future__ import annotations

import pytest

from headwater.demo.broken import BrokenRecord, broken_records
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError


@pytest.mark.parametrize("record", broken_records(), ids=lambda record: record.title)
def test_each_record_is_broken_in_the_way_it_says(record: BrokenRecord) -> None:
    with pytest.raises(DecodeError) as error:
        Decoder().decode(record.value)
    assert error.value.reason.value == record.reason
    assert record.reason in set(DeadLetterReason)
