"""Ranges as text: what is printed can be typed, and other notations are answered with this one."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from headwater_schemas.ranges import (
    MOST_OFFSET,
    Range,
    RangeError,
    batches_text,
    parse_range,
    partition_text,
    range_text,
)

ROOT = Path(__file__).parents[3]


def test_what_is_printed_can_be_typed(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(seed=seed):
            rng = random.Random(seed)
            start, partition = rng.randrange(10 ** rng.randrange(1, 18)), rng.randrange(100)
            for end in (start + 1, start + 1 + rng.randrange(1_000), None):
                assert parse_range(range_text(start, end)) == Range(start, end)
                of_partition = parse_range(partition_text(partition, start, end), of_partition=True)
                assert of_partition == Range(start, end, partition)
            assert parse_range(range_text(start, MOST_OFFSET)) == Range(start, None)


def test_the_notation() -> None:
    assert range_text(609, 994) == "609..994"
    assert range_text(609, 610) == "609"
    assert range_text(609, None) == "609.."
    assert partition_text(0, 609, 994) == "0:609..994"
    assert batches_text(12, 12) == "batch 12"
    assert batches_text(12, 14) == "batches 12..15"


def test_other_notations_are_answered_with_this_one(subtests: pytest.Subtests) -> None:
    cases = [
        ("609–993", "609..994"),
        ("609-993", "609..994"),
        ("609 to 993", "609..994"),
        ("[609,993]", "609..994"),
        ("[609,994)", "609..994"),
        ("100:200", "100..200"),
        ("484 … 800", "484..800"),
        ("484...800", "484..800"),
        ("soon", "609..994"),
        ("5..5", "609..994"),
        ("9..5", "609..994"),
        ("", "609..994"),
    ]
    for text, write in cases:
        with subtests.test(text=text), pytest.raises(RangeError, match=re.escape(f"write {write} for ")):
            parse_range(text)


def test_what_is_no_offset(subtests: pytest.Subtests) -> None:
    for text in ["9223372036854775808", "0..9999999999999999999", "²", "١"]:
        with subtests.test(text=text), pytest.raises(RangeError):
            parse_range(text)


def test_no_other_notation_is_printed_in_the_documents() -> None:
    """Half-open and inclusive looked alike while there were several."""
    others = r"\b\d+: \d+(?:–| … )\d+", r"\bbatches \d+ to \d+", r"\bfrom \d+ (?:to|until) before \d+", r":\[\d+,\d+\)"
    other = re.compile("|".join(others))
    pages = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("ops/**/*.md"), ROOT / "README.md"]
    found = {f"{page.name}: {match[0]}" for page in pages for match in other.finditer(page.read_text(encoding="utf-8"))}
    assert not found
