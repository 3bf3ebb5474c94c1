from __future__ import annotations

import pytest

from headwater.demo.broken import broken_records
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError


def test_each_record_is_broken_in_the_way_it_says(subtests: pytest.Subtests) -> None:
    for record in broken_records():
        with subtests.test(record.title):
            with pytest.raises(DecodeError) as error:
                Decoder().decode(record.value)
            assert error.value.reason.value == record.reason
            assert record.reason in set(DeadLetterReason)
