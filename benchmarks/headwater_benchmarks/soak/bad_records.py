"""Records that can't be applied, and what a consumer must do with each: put it on the dead-letter topic."""

from __future__ import annotations

import random

from headwater_schemas.codec import SINGLE_OBJECT_MAGIC


def bad_record(dice: random.Random, good: bytes) -> bytes:
    """One of: nothing, no event at all, an unknown schema, an event cut short.

    Args:
        dice: chooses.
        good: an event as it is, for the last kind.
    """
    kinds = (
        b"",
        dice.randbytes(40).replace(b"\xc3\x01", b"xx"),
        SINGLE_OBJECT_MAGIC + dice.randbytes(8) + dice.randbytes(20),
        good[: len(good) // 2],
    )
    return dice.choice(kinds)
