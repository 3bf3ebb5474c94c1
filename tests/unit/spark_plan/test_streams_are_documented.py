"""docs/sources-and-sinks.md has every case of tests/spark/streaming, from its golden; refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from spark.plan.goldens import check_table, read_sections
from spark.streaming.sinks import SINKS
from spark.streaming.sources import SOURCES
from spark.streaming.world import Case

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "spark" / "streaming" / "golden"
PAGE = ROOT / "docs" / "sources-and-sinks.md"


def listed() -> str:
    return "".join(
        [
            _table("Sources", "source", SOURCES, " read "),
            _table("Sinks", "sink", SINKS, " wrote "),
            "\n",
        ]
    )


def _table(title: str, heading: str, cases: tuple[Case, ...], verb: str) -> str:
    sections = read_sections((GOLDEN / f"{title.lower()}.txt").read_text())
    assert set(sections) == {case.title for case in cases}, "no golden of a case that was taken away"
    text = f"\n### {title}\n\n| {heading} | reported of each micro-batch |\n|---|---|\n"
    for case in cases:
        # The other end is the same in all of them: `noop`, or files that are dropped into a folder.
        reported = [line for line in sections[case.title] if verb in line] or ["nothing"]
        text += f"| {case.title} | {'<br>'.join(f'`{line}`' for line in reported)} |\n"
    return text


def test_the_page_lists_all_streams() -> None:
    check_table(PAGE, "streams", listed())
