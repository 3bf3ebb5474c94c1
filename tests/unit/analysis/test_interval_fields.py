"""The statements that show micro-batches return each stored field that the answers have, and no others."""

from __future__ import annotations

import dataclasses
import re

import pytest

from headwater_consumers import cypher
from headwater_consumers.analysis.runs import IntervalItem
from headwater_consumers.analysis.timeline import TimelineInterval
from headwater_consumers.facts.model import Label
from headwater_consumers.facts.owners import REGISTERS

IDENTITY = {"key", "query", "query_id", "batch_id"}
RUNS = ("first_bad_interval", "intervals", "last_good_interval", "last_interval")
SHOWN = {**{f"runs/{name}": IntervalItem for name in RUNS}, "timeline/intervals": TimelineInterval}


@pytest.mark.parametrize("name", SHOWN)
def test_a_statement_returns_what_the_answer_shows(name: str) -> None:
    fields = {field.name for field in dataclasses.fields(SHOWN[name])}
    stored = fields & (IDENTITY | REGISTERS[Label.INTERVAL].keys())
    if "quality" in fields:
        stored |= {property_ for property_, register in REGISTERS[Label.INTERVAL].items() if register == "quality"}
    found = re.search(r"i \{([^}]*)\} AS interval", cypher.load("headwater_consumers.analysis", name))
    assert found is not None
    returned = {each.strip().removeprefix(".") for each in found[1].split(",")}
    assert returned | IDENTITY == stored | IDENTITY
