"""Lineage as lines of text, and golden files of titled sections.

    # left join
    name <- people.name COPY
    * <- people.city JOIN_DEPENDENCY: (city = city)

`*` is every output. `nothing` is no input. A golden is refreshed by UPDATE_GOLDENS=1.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from headwater.stack.spark import installed_release
from headwater_producers.spark.explain import LineageExplanation, LineageSource
from headwater_schemas.events import ColumnLineage
from support.run_rules import rewrite, updating
from support.spark_versions import is_locked

GOLDEN = Path(__file__).parent / "golden"


def lines(explanation: LineageExplanation) -> list[str]:
    found = [f"{output.path} <- {_source(s)}" for output in explanation.outputs for s in output.sources]
    found += [f"{output.path} <- " for output in explanation.outputs if not output.sources]
    found += [f"* <- {_source(s)}" for s in explanation.influences]
    if not explanation.complete:
        found.append(f"! {explanation.incomplete_reason}")
    return found


def edge_lines(lineage: ColumnLineage) -> list[str]:
    names = [_short(dataset.name) for dataset in lineage.datasets]
    texts = {expression.id: expression.text for expression in lineage.expressions}
    found = []
    for edge in lineage.edges:
        where = "nothing" if edge.input is None else ".".join(filter(None, [names[edge.input], edge.input_field]))
        masked = " masked" if edge.masking else ""
        expression = f": {texts[edge.expression]}" if edge.expression else ""
        found.append(f"{names[edge.output]}.{edge.output_field or '*'} <- {where} {edge.kind}{masked}{expression}")
    # Edges are sorted by dataset, and those of a test lie in folders that are new each time.
    found.sort()
    if not lineage.complete:
        found.append(f"! {lineage.incomplete_reason}")
    return found


def _source(source: LineageSource) -> str:
    where = ".".join(part for part in (_short(source.name or ""), source.path) if part) or "nothing"
    masked = " masked" if source.masking else ""
    expression = f": {source.expression}" if source.expression else ""
    return f"{where} {source.kind}{masked}{expression}"


def _short(name: str) -> str:
    # Tables are named by where they lie, in a folder of the test run's own.
    return name.rstrip("/").rsplit("/", 1)[-1]


def check(golden: str, title: str, found: list[str], *, folder: Path = GOLDEN) -> None:
    """Compares with the section `title` of a golden file, or writes it.

    Goldens are of the locked Spark. What another reports otherwise is in the folder `spark-<release>`, alone.
    """
    path = folder / f"{golden}.txt"
    sections = read_sections(path.read_text()) if path.exists() else {}
    others = folder / f"spark-{installed_release().name}" / path.name
    different = read_sections(others.read_text()) if others.exists() and not is_locked() else {}
    if updating() and is_locked():
        _write(path, sections | {title: found})
    elif updating():
        if found != sections.get(title):
            _write(others, different | {title: found})
        elif different.pop(title, None) is not None:
            _write(others, different)
            if not different:
                others.unlink()
    else:
        expected = sections | different
        assert title in expected, (
            f"{path.name} has no section {title!r}: run with UPDATE_GOLDENS=1 and read what it adds"
        )
        assert found == expected[title], difference(expected[title], found)


def difference(expected: list[str], found: list[str]) -> str:
    return "\n".join(difflib.unified_diff(expected, found, "golden", "found", lineterm=""))


def _write(path: Path, sections: dict[str, list[str]]) -> None:
    rewrite(path, "\n".join(f"# {name}\n" + "".join(f"{line}\n" for line in body) for name, body in sections.items()))


def check_table(page: Path, name: str, table: str) -> None:
    """Compares with what a page of the documentation has between `<!-- name: begin -->` and its end, or writes it."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    text = page.read_text()
    head, _, rest = text.partition(begin)
    there, _, tail = rest.partition(end)
    if updating():
        rewrite(page, f"{head}{begin}{table}{end}{tail}")
    else:
        assert there == table, "run UPDATE_GOLDENS=1 pytest tests/unit/spark_plan"


def read_sections(text: str, mark: str = "# ") -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    title = None
    for line in text.splitlines():
        if line.startswith(mark):
            title = line.removeprefix(mark).strip()
            assert title not in sections, f"two sections {title!r}"
            sections[title] = []
        elif title is not None and line.strip():
            sections[title].append(line)
    return sections
