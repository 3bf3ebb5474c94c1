"""`bench checks` on a tiny estate: a part of it is declared once, and each rule is timed and finds what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.console import console
from headwater_benchmarks.checks.run import Options, run
from headwater_benchmarks.checks.show import view
from headwater_benchmarks.estate.sizes import Sizes
from headwater_consumers.analysis.checks.rules import RULES
from support.running import QUICK_JVM

pytestmark = pytest.mark.nightly

SIZES = Sizes(datasets=1_000, columns=5_000, intervals=1_000, seed=3)


@pytest.mark.timeout(300)
def test_each_rule_is_timed_on_a_declared_estate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", QUICK_JVM)  # how fast it is counts nothing here
    options = Options(SIZES, 2, 30.0, 512, 128, tmp_path)
    document = run(options)
    json.dumps(document)
    rules = {each["rule"]: each for each in document["measurements"]}
    assert list(rules) == [rule.name for rule in RULES]
    for each in rules.values():
        assert each["too_long"] == 0
        assert each["first_seconds"] > 0
        assert 0 < each["seconds"]["minimum"] <= each["seconds"]["median"] <= each["seconds"]["maximum"]
        assert len(each["samples"]) == 2
    # One consumer in 20 has no owner; every fifth declared dataset has a PII column, and others are made from it.
    assert rules["consumers-without-owner"]["found"] == 1
    for broken in ("sensitive-downstream", "certified-datasets", "drift-of-datasets", "orphan-datasets"):
        assert rules[broken]["found"] > 0, broken
    declaring: dict[str, Any] = document["environment"]["declaring"]
    assert declaring["declarations"] > 100
    assert declaring["write_seconds"] > 0
    [goal] = document["goals"]
    assert goal["met"]
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    shown = captured.get()
    assert all(rule.name in shown for rule in RULES)

    # A kept store is declared already.
    again = run(options)
    assert again["environment"]["declaring"] is None
    assert {each["rule"]: each["found"] for each in again["measurements"]} == {
        name: each["found"] for name, each in rules.items()
    }
