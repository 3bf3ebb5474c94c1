"""The hand-written statements: titled, one each, each one used."""

from __future__ import annotations

import inspect
import re

import pytest

from headwater_benchmarks.ingest import hand_written
from headwater_benchmarks.query import cases, decoded
from headwater_graph.statement_files import load, names
from headwater_graph.write import transaction

pytestmark = pytest.mark.nightly

NAMES = names("headwater_benchmarks.query", "hand_written")


def test_one_titled_statement(subtests: pytest.Subtests) -> None:
    for name in NAMES:
        with subtests.test(name):
            title, *body = load("headwater_benchmarks.query", f"hand_written/{name}").splitlines()
            assert re.fullmatch(rf"// {name}: [A-Z].*[^.]", title)
            assert ";" not in "".join(body)


def test_every_statement_is_used() -> None:
    code = "".join(map(inspect.getsource, (cases, decoded)))
    assert [name for name in NAMES if f'"{name}"' not in code] == []


def test_the_sink_keeps_its_plans_as_headwater_does() -> None:
    assert hand_written.KEEP_PLAN == transaction._KEEP_PLAN
