"""Traces and impacts drawn, whatever things are called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.show.diagram import DiagramFormat, drawn, impact_diagram, trace_diagram
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.impact import ImpactChange, SchemaChange
from headwater_analysis.trace import Hop, OffsetSpan, Part, PartKind, Step, StepKind, Trace, TraceDirection
from headwater_schemas.events import Certainty
from support.analysis.impacts import impact_of

if TYPE_CHECKING:
    import pytest

AWKWARD = ["back`quote", 'quo"te', "a;b --> c", "[x]", "<script>", "line\nend", "日報 🛫", "back\\slash", "x" * 10_240]
JOB = Asset(AssetKind.JOB, "j", "jobs", "the job")


def topic(name: str) -> Asset:
    return Asset(AssetKind.DATASET, f"key of {name}", "kafka://b", name, title=name)


def part(dataset: Asset, start: int, certainty: Certainty = Certainty.EXACT) -> Part:
    span = OffsetSpan(0, start, start + 10)
    return Part(dataset=dataset, kind=PartKind.OFFSETS, certainty=certainty, offsets=(span,))


def trace_of(source: Asset, target: Asset, direction: TraceDirection = TraceDirection.FORWARD) -> Trace:
    step = Step(kind=StepKind.MICRO_BATCHES, job=JOB, runs=(), first_batch=3, last_batch=3)
    inputs, outputs = (part(source, 0),), (part(target, 50, Certainty.UPPER_BOUND),)
    hop = Hop(
        number=1,
        depth=1,
        after=(),
        step=step,
        inputs=inputs,
        outputs=outputs,
        certainty=Certainty.EXACT,
        overall=Certainty.EXACT,
        why="",
    )
    start = inputs if direction is TraceDirection.FORWARD else outputs
    return Trace(direction=direction, start=start, hops=(hop,), ends=(), notes=(), total=1, max_hops=1, truncated=False)


def test_a_trace_has_steps_between_datasets_and_parts_on_the_arrows() -> None:
    assert drawn(trace_diagram(trace_of(topic("a"), topic("b"))), DiagramFormat.MERMAID).splitlines() == [
        "flowchart LR",
        '  n0["a"]',
        '  n1["b"]',
        '  n2(["1. the job batch 3"])',
        '  n0 -->|"0:0..10"| n2',
        '  n2 -.->|"0:50..60 UPPER#95;BOUND"| n1'.replace("#95;", "_"),
        "  style n0 stroke-width:3px",
    ]


def test_a_trace_back_is_drawn_the_way_that_data_flows() -> None:
    lines = drawn(
        trace_diagram(trace_of(topic("a"), topic("b"), TraceDirection.BACKWARD)), DiagramFormat.DOT
    ).splitlines()
    assert '  n0 [label="b", penwidth=3];' in lines
    assert '  n2 [label="1. the job batch 3", style=rounded];' in lines
    assert '  n1 -> n2 [label="0:0..10"];' in lines
    assert '  n2 -> n0 [label="0:50..60 UPPER_BOUND", style=dotted];' in lines


def test_an_impact_is_coloured_by_how_bad_it_is() -> None:
    column = Asset(AssetKind.COLUMN, "k", "n", "d", "c")
    impact = impact_of(column, JOB, ImpactChange("d", "c", schema=SchemaChange.REMOVED))
    flowchart = drawn(impact_diagram(impact), DiagramFormat.MERMAID)
    assert flowchart.startswith("flowchart LR\n")
    assert "BREAKING" in flowchart
    assert "fill:#f8b4b4" in flowchart
    assert 'fillcolor="#f8b4b4"' in drawn(impact_diagram(impact), DiagramFormat.DOT)


def test_any_name_is_drawn_on_one_line(subtests: pytest.Subtests) -> None:
    for name in AWKWARD:
        with subtests.test(name=name):
            trace = trace_diagram(trace_of(topic(name), topic("b")))
            column = Asset(AssetKind.COLUMN, "k", "n", name, name)
            impact = impact_diagram(impact_of(column, JOB, ImpactChange(name, name, schema=SchemaChange.REMOVED)))
            for diagram in (trace, impact):
                flowchart = drawn(diagram, DiagramFormat.MERMAID).splitlines()
                assert len(flowchart) == 1 + len(diagram.nodes) + len(diagram.edges) + sum(
                    bool(node.start or node.passed or node.color) for node in diagram.nodes.values()
                )
                assert re.fullmatch(r'  n0\["[^"`<>\[\];]*(#\d+;[^"`<>\[\];]*)*"\]', flowchart[1])
                graph = drawn(diagram, DiagramFormat.DOT).splitlines()
                assert len(graph) == 4 + len(diagram.nodes) + len(diagram.edges)
                assert all(len(line) < 600 for line in [*flowchart, *graph])
