"""Column lineage against the truth: change one input column, and see which outputs change.

Where an output changes and its lineage doesn't name the column, an edge is missing: the one mistake that nobody finds
by reading what is there. The same where half of a table's rows are left out, other values come out, and nothing of the
table is named. Where a DIRECT edge never shows, it may be claimed too much (or the rows are too few to show it), which
is for a person to judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from headwater_producers.spark.explain import LineageExplanation, explain_lineage
from spark.plan.in_memory import Outputs, Tables, frame_of, in_memory, outputs_of
from spark.plan.perturbed_rows import LEAVES, ROWS, Path, made, perturbed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Change = tuple[str, Path]


@dataclass(slots=True)
class Verdict:
    """Outcome of one case.

    Attributes:
        comparisons: how many outputs were compared after a change of a column that they don't know.
        claims: how many DIRECT edges were looked for.
        missing: `output <- table.column` that the rows show and the lineage doesn't have.
        unseen: `output <- table.column`, DIRECT, that no draw has shown.
        skipped: why it wasn't tried.
    """

    comparisons: int = 0
    claims: int = 0
    missing: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    skipped: str | None = None


def judged(
    spark: SparkSession,
    statement: str,
    seeds: Sequence[int] = (1,),
    explain: Callable[[DataFrame], LineageExplanation] = explain_lineage,
    *,
    claims: bool = False,
) -> Verdict:
    """One case, with the rows of each seed. Its temporary views shadow the tables: the session should be its own.

    Columns that an output doesn't know are changed all at once, and one by one only where that shows.

    Args:
        spark: see `apart`.
        statement: the case's statements; the last is the query.
        seeds: of the rows.
        explain: what explains the lineage.
        claims: whether each column is changed by itself as well, to see what of the DIRECT edges shows.
    """
    *setup, query = [part for part in in_memory(statement).split(";") if part.strip()]
    verdict, seen, claimed = Verdict(), set[str](), set[str]()
    if "TABLESAMPLE" in statement:
        verdict.skipped = "its rows are chosen by chance"
        return verdict
    read = [table for table in LEAVES if re.search(rf"\b{table}\b", statement)]
    changes = changes_of(read)
    for seed in seeds:
        random = Random(seed)
        rows = {table: made(table, random) for table in read}

        def after(some: Iterable[Change], rows: Tables = rows, random: Random = random) -> Outputs:
            changed = dict(rows)
            for table, path in some:
                changed[table] = perturbed(changed[table], table, path, random)
            return outputs_of(frame_of(spark, changed, setup, query))

        try:
            emitted, before, again = explain(frame_of(spark, rows, setup, query)), after(()), after(())
            steady = {name for name in before if before[name] == again[name]}
            unknown = unknown_changes(emitted, steady, changes)
            verdict.comparisons += sum(len(outputs) * len(some) for some, outputs in unknown.items())
            verdict.missing |= set(missing_edges(unknown, before, after))
            claimed |= {f"{output} <- {_text(source)}" for output in steady for source in _direct(emitted, output)}
            for change in changes if claims else ():
                new = after([change])
                changed = [output for output in steady if before[output] != new.get(output)]
                seen |= {claim for claim in claimed if any(_says(claim, output, *change) for output in changed)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the case can't be run on these rows
            verdict.skipped = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
            return verdict
    if claims:
        verdict.claims, verdict.unseen = len(claimed), claimed - seen
    return verdict


def changes_of(tables: Iterable[str]) -> list[Change]:
    """All that can be changed in these tables: half of the rows left out, each leaf drawn anew."""
    return [(table, path) for table in tables for path in (ROWS, *LEAVES[table])]


def unknown_changes(
    emitted: LineageExplanation, outputs: Iterable[str], changes: Sequence[Change]
) -> dict[tuple[Change, ...], list[str]]:
    """Changes that an output's lineage doesn't have, with all outputs that don't have the same ones."""
    found: dict[tuple[Change, ...], list[str]] = {}
    for output in sorted(outputs):
        unknown = [change for change in changes if not _known(emitted, output, *change)]
        # Values are compared in another way where rows are left out.
        for some in ([c for c in unknown if c[1] == ROWS], [c for c in unknown if c[1] != ROWS]):
            if some:
                found.setdefault(tuple(some), []).append(output)
    return found


def missing_edges(
    unknown: dict[tuple[Change, ...], list[str]], before: Outputs, after: Callable[[Iterable[Change]], Outputs]
) -> Iterator[str]:
    """`output <- table.column`, where a change that an output doesn't know changes it.

    Args:
        unknown: see `unknown_changes`.
        before: the outputs of the rows as they are.
        after: the outputs of the rows, so changed.
    """
    for some, outputs in unknown.items():
        if any(_differ(before, after(some), outputs, some)):
            found: list[str] = []
            for change in some:
                found += [
                    f"{output} <- {_text(change)}" for output in _differ(before, after([change]), outputs, [change])
                ]
            # Some show only together.
            yield from found or [f"{', '.join(outputs)} <- {' with '.join(_text(change) for change in some)}"]


def _differ(before: Outputs, after: Outputs, outputs: Iterable[str], changes: Sequence[Change]) -> Iterator[str]:
    for output in outputs:
        old, new = before[output], after.get(output, [])
        # With fewer rows, how often a value is there says nothing; nor with fewer elements of an array.
        once = changes[0][1] == ROWS or "[]" in output or "{}" in output
        if set(old) != set(new) if once else old != new:
            yield output


def _table(name: str) -> str:
    """Table whose rows a dataset has: of a view in memory, whose name ends with a digest, or of a folder of files."""
    return name.rpartition("/")[2] if "/" in name else name.rpartition("-")[0]


def _text(change: Change) -> str:
    table, path = change
    return ".".join((table, *path))


def _is_length(table: str, path: Path) -> bool:
    return len(path) == 1 and (*path, "[]") in {each[:2] for each in LEAVES[table]}


def _direct(emitted: LineageExplanation, output: str) -> Iterator[tuple[str, Path]]:
    for found in emitted.outputs:
        if found.path == output:
            for source in found.sources:
                table = _table(source.name or "")
                # A view has no rows to change.
                if source.type == "DIRECT" and source.path and table in LEAVES:
                    yield table, tuple(source.path.split("."))


def _known(emitted: LineageExplanation, output: str, table: str, path: Path) -> bool:
    """True when the lineage has the column, whole or in part; for rows, when it has anything of their table.

    How many elements an array has is no element's lineage, nor how many rows there are a constant's, or a row number's.
    """
    if "[]" in output and _is_length(table, path):
        return True
    own = [source for found in emitted.outputs if found.path == output for source in found.sources]
    if path == ROWS and all(source.kind == "CONSTANT" for source in own):
        return True
    named = [s for s in (*own, *emitted.influences) if s.name and _table(s.name) == table]
    paths = [tuple(source.path.split(".")) if source.path else ROWS for source in named]
    return any((steps or not path) and _overlap(steps, path) for steps in paths)


def _overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    return all(a == b for a, b in zip(one, other, strict=False))


def _says(claim: str, output: str, table: str, path: Path) -> bool:
    target, _, source = claim.partition(" <- ")
    name, *steps = source.split(".")
    return (target, name) == (output, table) and _overlap(steps, path)
