"""None of the bad records can be decoded."""

from __future__ import annotations

import random

import pytest

from headwater_benchmarks.soak.feed import bad_record
from headwater_benchmarks.workload import EPOCH, described_job
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError

pytestmark = pytest.mark.nightly


def test_none_can_be_decoded(subtests: pytest.Subtests) -> None:
    for seed in range(40):
        with subtests.test(seed=seed):
            value = bad_record(random.Random(seed), encode(described_job(seed, EPOCH)))
            with pytest.raises(DecodeError):
                Decoder().decode(value)
