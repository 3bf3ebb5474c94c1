"""Repair plans for people: a plan that isn't complete says so in its line, and commands can be pasted."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from headwater.incident.planning import plan_summary, plan_view
from headwater_analysis.incidents.planning.planned import IncidentPlan, QueryReplay, RepairStep, RepairStepKind
from support.incidents import offsets

COMMAND = f"headwater incident repair INC-1 --dataset {'long' * 100} --reason 'Written again.'"


def step(number: int = 1, **more: Any) -> RepairStep:
    return RepairStep(number=number, kind=RepairStepKind.RERUN, after=(), title="Run load again: 1 run", **more)


def a_plan(*steps: RepairStep, **more: Any) -> IncidentPlan:
    given: dict[str, Any] = {
        "incident": "INC-1",
        "title": "Negative delays",
        "clean_again": 0,
        "nothing_left": False,
        "complete": True,
        "unknown": (),
        "not_known": (),
        "spreading": (),
        "notes": (),
    }
    return IncidentPlan(steps=steps, **{**given, **more})


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (a_plan(step()), "Plan of 1 step."),
        (a_plan(step(1), step(2), clean_again=3), "Plan of 2 steps, 3 steps of the reach clean again."),
        (
            a_plan(step(), complete=False, unknown=("1 part of the scope", "the extent in 1 dataset")),
            "Plan of 1 step; not known: 1 part of the scope, the extent in 1 dataset.",
        ),
        (a_plan(nothing_left=True), "Nothing is left to repair."),
        (a_plan(nothing_left=True, clean_again=1), "Nothing is left to repair, 1 step of the reach clean again."),
        (
            a_plan(complete=False, unknown=("1 part of the scope",)),
            "No known bad data is left to repair; not known: 1 part of the scope.",
        ),
        (a_plan(spreading=("enrich may.",)), "No known bad data is left to repair; 1 query may still spread."),
        (
            a_plan(step(), spreading=("a may.", "b may.")),
            "Plan of 1 step; 2 queries may still spread.",
        ),
    ],
)
def test_the_last_line(found: IncidentPlan, words: str) -> None:
    assert plan_summary(found) == words


def test_a_step() -> None:
    replay = QueryReplay(
        query_id="q", query_name="enrich", checkpoint=None, restart_after=2, newest_batch=9, batches=(), earlier=None
    )
    found = a_plan(
        step(
            1,
            outputs=(offsets("mid"),),
            query=replay,
            notes=("A note.",),
            commands=(COMMAND,),
            sql=("RESTORE TABLE x TO VERSION AS OF 1",),
        ),
        not_known=("n/x: the extent isn't known.",),
        spreading=("enrich may write.",),
    )
    console = Console(width=80, soft_wrap=True)
    with console.capture() as capture:
        console.print(plan_view(found))
    lines = [line.strip() for line in capture.get().splitlines()]
    assert "1. RERUN  Run load again: 1 run" in lines
    assert f"$ {COMMAND}" in lines, "in one line, whatever the width"
    for line in ("bad: n/mid  0:120..130", "checkpoint: not known", "A note."):
        assert line in lines
    assert lines[-5:] == ["May still spread", "enrich may write.", "", "Not known", "n/x: the extent isn't known."]
