"""The impact of a change as people see it, whatever things are called."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from headwater.commands.impact import view
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.impact import Impact, ImpactChange, SchemaChange, Severity
from support.analysis.impacts import impact_of

if TYPE_CHECKING:
    import pytest

CHANGE = ImpactChange("d", "c", schema=SchemaChange.REMOVED)
PLAIN = ("d", "c", "j")
AWKWARD = ["[bold]x[/bold]", "[/]", "[link=file:///etc]x", "`" * 5, "x" * 10_000, "日報\n\x1b[31m"]
SHOWN = """\
c of d is removed: BREAKING
1 column and 2 datasets, 1 hop away, by 2 jobs (3 BREAKING; 1 DIRECT, 2 INDIRECT).

job                     hops  effect on the job  owner
j             BREAKING  1     It fails.          j
… and 1 more

n/d#c
└── n/d  j
    └── BREAKING   c  DIRECT 1  by j
        ├── raised from DEGRADED to BREAKING: criticality j
        ├── d#c ─ j ▸ d#c
        ├── j makes it: c.
        ├── Act.
        └── decided by rule 1 (DEGRADED), raise 1; criticality j; read by dashboard 'j' (deadline j)"""


def named(name: str, column: str, job: str) -> Impact:
    return impact_of(Asset(AssetKind.COLUMN, "k", "n", name, column), Asset(AssetKind.JOB, "j", "n", job), CHANGE)


def printed(impact: Impact, *, why: bool = True) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=200, soft_wrap=True, highlight=False).print(view(impact, why=why))
    return out.getvalue().splitlines()


def test_all_is_there() -> None:
    text = "\n".join(line.rstrip() for line in printed(named(*PLAIN)))
    assert text == SHOWN


@given(st.text(), st.text(), st.text())
def test_names_are_never_markup_nor_break_lines(name: str, column: str, job: str) -> None:
    assert len(printed(named(name, column, job))) >= len(printed(named(*PLAIN))) - 1
    assert not any("\x1b" in line or "\x00" in line for line in printed(named(name, column, job)))


def test_awkward_names(subtests: pytest.Subtests) -> None:
    cases = ["[bold]x[/bold]", "[/]", "[link=file:///etc]x", "`" * 5, "x" * 10_000, "日報\n\x1b[31m"]
    for name in cases:
        with subtests.test(name=name):
            lines = printed(named(name, name, name))
            assert max(map(len, lines)) < 2_000
            if len(name) < 100 and name.isprintable():
                assert any(name in line for line in lines)


def test_every_severity_has_a_colour(subtests: pytest.Subtests) -> None:
    for severity in Severity:
        with subtests.test(severity=severity):
            assert severity in printed(replace(named(*PLAIN), severity=severity), why=False)[0]
