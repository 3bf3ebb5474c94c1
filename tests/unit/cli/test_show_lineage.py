"""Trees, tables and diagrams of lineage, whatever its names."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.console import Console

from headwater.commands.lineage import summary, table, tree
from headwater.show.diagram import DiagramFormat, drawn, lineage_diagram
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.lineage import (
    Influence,
    Lineage,
    LineageDirection,
    LineageEdge,
    LineageItem,
    Transformation,
    Via,
)
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    import pytest

AWKWARD = [
    "back`quote",
    'quo"te',
    "semi;colon -- > arrow",
    "[bold]markup[/bold]",
    "<script>alert(1)</script>",
    "line\nend",
    "tab\tand \x1b[31mcolour",
    "日報 отчёт 🛫",
    "back\\slash",
    "x" * 10_240,
]
FIRST, LAST = datetime(2025, 1, 31, 12, tzinfo=UTC), datetime(2025, 1, 31, 13, 30, tzinfo=UTC)


def dataset(name: str) -> Asset:
    return Asset(AssetKind.DATASET, f"key of {name}", "kafka://b", name, title=name)


def column(name: str, path: str) -> Asset:
    return Asset(AssetKind.COLUMN, f"key of {name} {path}", "kafka://b", name, column=path, title=name)


def via(job: str, *kinds: TransformationKind, type_: TransformationType = TransformationType.DIRECT) -> Via:
    made = tuple(Transformation(type_, kind, expression="upper(`a`)", masking=True) for kind in kinds)
    return Via(Asset(AssetKind.JOB, f"key of {job}", "jobs", job), FIRST, LAST, True, False, made)


def item(asset: Asset, hops: int, parent: str, *vias: Via, influence: Influence | None = None) -> LineageItem:
    return LineageItem(asset, hops, influence, parent, influence if hops > 1 else None, vias, len(vias))


def answer(start: Asset, *items: LineageItem, through: tuple[LineageItem, ...] = ()) -> Lineage:
    direct = sum(each.influence is Influence.DIRECT for each in items) if start.column else None
    return Lineage(
        start=start,
        direction=LineageDirection.DOWNSTREAM,
        depth=None,
        as_of=None,
        since=None,
        items=items,
        through=through,
        total=len(items),
        direct=direct,
        indirect=None if direct is None else len(items) - direct,
        complete=True,
        truncated=False,
        max_hops=max((each.hops for each in items), default=0),
        next_cursor=None,
        edges=tuple(LineageEdge(each.parent, each.asset.key, each.via, each.via_total) for each in items),
    )


def printed(view: object, *, width: int | None = None) -> str:
    out = io.StringIO()
    terminal = width is not None
    Console(
        file=out, width=width or 100_000, soft_wrap=True, highlight=False, force_terminal=terminal, color_system=None
    ).print(view)
    return out.getvalue()


def test_any_name_stands_on_its_own_line(subtests: pytest.Subtests) -> None:
    for name in AWKWARD:
        with subtests.test(name=name):
            start = dataset("start")
            found = answer(
                start, item(dataset(name), 1, start.key, via(name)), item(dataset("b"), 1, start.key, via("j"))
            )
            lines = printed(tree(found)).splitlines()
            assert len(lines) == 3
            assert not any(not character.isprintable() for line in lines for character in line)
            assert all(len(line) < 500 for line in lines)
            assert any("kafka://b/b  by j (2025-01-31 12:00:00 … 13:30:00Z)" in line for line in lines)
            if len(name) < 100 and name.isprintable():
                assert name in "\n".join(lines)
                assert name in printed(table(found))


def test_any_name_can_be_drawn(subtests: pytest.Subtests) -> None:
    for name in AWKWARD:
        with subtests.test(name=name):
            start = dataset(name)
            found = answer(start, item(dataset("next"), 1, start.key, via(name)))
            flowchart = drawn(lineage_diagram(found), DiagramFormat.MERMAID).splitlines()
            assert len(flowchart) == 5
            assert re.fullmatch(r'  n0\["[^"`<>\[\];]*(#\d+;[^"`<>\[\];]*)*"\]', flowchart[1])
            assert re.fullmatch(r'  n0 -->\|"[^"`<>|]*"\| n1', flowchart[3])
            graph = drawn(lineage_diagram(found), DiagramFormat.DOT).splitlines()
            assert len(graph) == 7
            assert re.fullmatch(r'  n0 \[label="(?:[^"\\]|\\["\\])*", penwidth=3\];', graph[3])
            assert re.fullmatch(r'  n0 -> n1 \[label="(?:[^"\\]|\\["\\])*"\];', graph[5])


def test_direct_leads_and_indirect_is_a_count() -> None:
    start = column("a", "x")
    indirect = via("job", TransformationKind.FILTER_DEPENDENCY, type_=TransformationType.INDIRECT)
    whole = item(dataset("b"), 1, start.key, indirect, influence=Influence.INDIRECT)
    member = replace(
        item(column("b", "z"), 1, whole.asset.key, influence=Influence.INDIRECT), parent_influence=Influence.INDIRECT
    )
    found = answer(
        start,
        item(column("b", "y"), 1, start.key, via("job", TransformationKind.CAST), influence=Influence.DIRECT),
        whole,
        member,
    )
    assert [line.rstrip() for line in printed(tree(found)).splitlines()] == [
        "kafka://b/a#x",
        "├── DIRECT",
        "│   └── kafka://b/b#y  by job (2025-01-31 12:00:00 … 13:30:00Z)",
        "│       CAST upper(`a`), masked",
        "└── INDIRECT  2 more on this page only decide about rows or values: --influence indirect lists them",
    ]
    only_indirect = replace(found, items=(whole, member))
    assert [line.rstrip() for line in printed(tree(only_indirect)).splitlines()] == [
        "kafka://b/a#x",
        "└── INDIRECT",
        "    └── kafka://b/b (its rows)  by job (2025-01-31 12:00:00 … 13:30:00Z)",
        "        FILTER_DEPENDENCY upper(`a`), masked",
        "        └── every column: z",
    ]
    assert "-.->" in drawn(lineage_diagram(found), DiagramFormat.MERMAID)
    assert "style=dotted" in drawn(lineage_diagram(found), DiagramFormat.DOT)
    assert "1 DIRECT and 2 INDIRECT" in summary(found)


def test_what_is_passed_through_is_drawn_too() -> None:
    start, middle = dataset("a"), item(dataset("b"), 1, "key of a", via("j"))
    found = answer(start, item(dataset("c"), 2, middle.asset.key, via("k")), through=(middle,))
    assert [line.split("  by ")[0].lstrip("\xa0 └─") for line in printed(tree(found)).splitlines()] == [
        "kafka://b/a",
        "kafka://b/b",
        "kafka://b/c",
    ]
    assert "stroke-dasharray" in drawn(lineage_diagram(found), DiagramFormat.MERMAID)
    assert "style=dashed" in drawn(lineage_diagram(found), DiagramFormat.DOT)


def test_lineage_deeper_than_pythons_stack() -> None:
    start = dataset("0")
    chain = [item(dataset(str(n)), n, dataset(str(n - 1)).key, via("j")) for n in range(1, 1_000)]
    found = answer(start, *(replace(each, parent_influence=None) for each in chain))
    assert len(printed(tree(found)).splitlines()) == 1_000


def test_a_narrow_terminal_wraps_and_cuts_nothing() -> None:
    start = dataset("start")
    found = answer(start, item(dataset("n" * 150), 1, start.key, via("the job's name")))
    shown = printed(tree(found), width=60)
    assert all(len(line) <= 60 for line in shown.splitlines())
    assert shown.count("n") >= 150
    assert "name" in shown


def test_the_summary_says_what_is_left_out() -> None:
    start = column("a", "x")
    partial = replace(via("job"), incomplete="too large")
    found = replace(
        answer(start, item(column("b", "y"), 1, start.key, partial, influence=Influence.DIRECT)),
        complete=False,
        truncated=True,
        depth=1,
        total=7,
        next_cursor="abc",
    )
    text = summary(found)
    assert text.splitlines()[0].startswith("7 downstream known, ")
    assert text.splitlines()[0].endswith("Column lineage of job is incomplete (too large): there may be more.")
    for words in ("7 downstream", "1 on this page", "--depth all", "job is incomplete (too large)", "--cursor abc"):
        assert words in text


def test_nothing_listed_of_an_incomplete_lineage_is_no_bare_zero() -> None:
    note = "Column lineage of job isn't known: there may be more."
    found = replace(answer(column("a", "x")), complete=False, notes=(note,))
    assert summary(found) == f"UNKNOWN: 0 downstream known, 0 DIRECT and 0 INDIRECT. {note}"


def test_what_several_plans_of_a_job_do_alike_stands_once() -> None:
    start = column("a", "x")
    older, other = via("job", TransformationKind.COPY), via("other job", TransformationKind.COPY)
    newer = via("job", TransformationKind.COPY, TransformationKind.CAST)
    found = answer(start, item(column("b", "y"), 1, start.key, newer, older, other, influence=Influence.DIRECT))
    text = printed(tree(found))
    assert (text.count("COPY"), text.count("CAST")) == (2, 1)


def test_what_is_made_of_itself_is_reported() -> None:
    start, other = dataset("start"), dataset("other")
    one, two = via("upsert"), via("compact")
    loops = (LineageEdge(start.key, start.key, (one,), 1), LineageEdge(other.key, other.key, (two, one), 3))
    found = replace(answer(start, item(other, 1, start.key, via("j"))), loops=loops)
    root, leaf = printed(tree(found)).splitlines()
    assert root.endswith("start  ↺ derived from itself by upsert (2025-01-31 12:00:00 … 13:30:00Z)")
    assert leaf.endswith("↺ derived from itself by compact (2025-01-31 12:00:00 … 13:30:00Z) and 2 more")
    rows = [line.split() for line in printed(table(found)).splitlines() if "↺" in line]
    assert [(row[1], row[2]) for row in rows] == [
        ("kafka://b/start", "upsert"),
        ("kafka://b/other", "compact"),
        ("kafka://b/other", "upsert"),
    ]


def test_columns_made_of_themselves_are_reported_too() -> None:
    start = column("a", "x")
    loop = LineageEdge(start.key, start.key, (via("upsert", TransformationKind.COPY),), 1)
    found = replace(
        answer(start, item(column("b", "y"), 1, start.key, via("j"), influence=Influence.DIRECT)), loops=(loop,)
    )
    (row,) = [line for line in printed(table(found)).splitlines() if "↺" in line]
    assert "upsert" in row
    assert "COPY" in row
    assert "↺ derived from itself by upsert" in printed(tree(found)).splitlines()[0]


def diamond() -> Lineage:
    """a feeds b and c, which both feed d; d feeds a again, and c feeds b, too."""
    a, b, c, d = (dataset(name) for name in "abcd")
    load = via("load")
    found = answer(a, item(b, 1, a.key, load), item(c, 1, a.key, load), item(d, 2, b.key, load))
    more = tuple(LineageEdge(*ends, (via("join"),), 1) for ends in ((c.key, d.key), (d.key, a.key), (c.key, b.key)))
    return replace(found, edges=(*found.edges, *more))


def test_a_node_that_comes_again_is_seen_above() -> None:
    lines = [re.sub(r" \([^)]*\)", "", line).rstrip() for line in printed(tree(diamond())).splitlines()]
    assert lines == [
        "kafka://b/a",
        "├── kafka://b/b  by load",
        "│   └── kafka://b/d  by load",
        "│       └── kafka://b/a  by join  see above",
        "└── kafka://b/c  by load",
        "    ├── kafka://b/b  by join  see above",
        "    └── kafka://b/d  by join  see above",
    ]


def test_what_is_direct_leads_to_the_indirect_by_name_alone() -> None:
    """A column that is on the way to what is INDIRECT; and one that each of two columns comes from."""
    start, total, count, delay, day = (column("t", name) for name in ("mean", "total", "count", "delay", "day"))
    indirect = via("job", TransformationKind.FILTER_DEPENDENCY, type_=TransformationType.INDIRECT)
    found = answer(
        start,
        item(total, 1, start.key, via("job", TransformationKind.AGGREGATE), influence=Influence.DIRECT),
        item(count, 1, start.key, via("job", TransformationKind.AGGREGATE), influence=Influence.DIRECT),
        item(delay, 2, count.key, via("job", TransformationKind.CAST), influence=Influence.DIRECT),
        replace(item(day, 2, count.key, indirect, influence=Influence.INDIRECT), parent_influence=Influence.DIRECT),
    )
    both = replace(
        via("job", TransformationKind.AGGREGATE),
        transformations=(*via("job", TransformationKind.DERIVE).transformations, *indirect.transformations),
    )
    edges = (*found.edges, LineageEdge(total.key, delay.key, (both,), 1))
    whole = replace(found, edges=edges)
    direct, _, folded = printed(tree(whole)).partition("INDIRECT")
    assert "#day" not in folded
    rest = printed(tree(replace(whole, items=found.items[3:], through=found.items[:3])))
    assert [direct.count(name) for name in ("#total", "#count", "#delay")] == [1, 1, 2]
    assert direct.count("see above") == 1
    assert "DERIVE" in direct
    assert "FILTER_DEPENDENCY" not in direct
    assert "t#count  DIRECT\n" in re.sub(r" +\n", "\n", rest)
    assert "AGGREGATE" not in rest
    assert rest.count("#day") == 1


def test_what_is_only_possible_is_marked() -> None:
    made = replace(via("etl"), observed=False, possible=True)
    found = answer(dataset("start"), item(dataset("a"), 1, "key of start", made))
    for view in (tree, table):
        out = io.StringIO()
        Console(file=out, width=200).print(view(found))
        assert "(possible" in out.getvalue()
    diagram = drawn(
        lineage_diagram(replace(found, edges=(LineageEdge("key of start", "key of a", (made,), 1),))),
        DiagramFormat.MERMAID,
    )
    assert "-.->" in diagram
