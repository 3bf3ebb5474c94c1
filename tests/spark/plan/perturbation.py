"""Column lineage against the truth: change one input column, and see which outputs change.

Where an output changes and its lineage names neither the column nor the dataset's rows, an edge is missing: the one
mistake that nobody finds by reading what is there. Where a DIRECT edge never shows, it may be claimed too much (or the
rows are too few to show it), which is for a person to judge.

    PYTHONPATH=tests python -m spark.plan.perturbation [SEED …] > tests/spark/plan/perturbation.txt

Runs every case of cases/*.sql, in memory, as often as the tables that it reads have columns: minutes for each seed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path as File
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from headwater_producers.spark.explain import LineageExplanation, explain_lineage
from spark.plan.conftest import TABLES
from spark.plan.goldens import read_sections
from spark.plan.perturbed_rows import LEAVES, Path, Row, made, perturbed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    Tables = dict[str, list[Row]]

SEEDS: Final = (1,)
CASES: Final = {
    f"{path.stem}: {title}": "\n".join(statement)
    for path in sorted((File(__file__).parent / "cases").glob("*.sql"))
    for title, statement in read_sections(path.read_text(), "-- ").items()
}


@dataclass(slots=True)
class Verdict:
    """What became of one case.

    Attributes:
        comparisons: how many outputs were compared.
        missing: `output <- table.column` that the rows show and the lineage doesn't have.
        unseen: `output <- table.column`, DIRECT, that no draw has shown.
        skipped: why it wasn't tried.
    """

    comparisons: int = 0
    missing: set[str] = field(default_factory=set)
    unseen: set[str] = field(default_factory=set)
    skipped: str | None = None


def judged(
    spark: SparkSession,
    statement: str,
    seeds: Sequence[int] = SEEDS,
    explain: Callable[[DataFrame], LineageExplanation] = explain_lineage,
) -> Verdict:
    """One case, with the rows of each seed. Its temporary views shadow the tables: the session should be its own."""
    *setup, query = [part for part in _in_memory(statement).split(";") if part.strip()]
    verdict, seen, claimed = Verdict(), set[str](), set[str]()
    read = [table for table in LEAVES if table in statement]
    for seed in seeds:
        random = Random(seed)
        rows = {table: made(table, random) for table in read}
        try:
            frame = _frame(spark, rows, setup, query)
            told, before, again = explain(frame), _outputs(frame), _outputs(_frame(spark, {}, setup, query))
        except Exception as error:  # noqa: BLE001 - whatever it is, the case can't be run on these rows
            verdict.skipped = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
            return verdict
        steady = {name for name in before if before[name] == again[name]}
        claimed |= {f"{output} <- {t}.{'.'.join(p)}" for output in steady for t, p in _direct(told, output)}
        for table in read:
            for path in LEAVES[table]:
                changed = perturbed(rows[table], table, path, random)
                after = _outputs(_frame(spark, {table: changed}, setup, query))
                for output in steady:
                    verdict.comparisons += 1
                    if before[output] == after.get(output):
                        continue
                    seen |= {c for c in claimed if _says(c, output, table, path)}
                    if not _known(told, output, table, path):
                        verdict.missing.add(f"{output} <- {table}.{'.'.join(path)}")
            _frame(spark, {table: rows[table]}, setup, query)
    verdict.unseen = claimed - seen
    return verdict


def apart(spark: SparkSession) -> SparkSession:
    """A session for `judged`."""
    session = spark.newSession()
    settings = {
        # A text that is no number is null, two keys alike are one, and neither is the end of the case.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        # Thousands of queries over a few rows: compiling each would be nearly all of their time.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def _in_memory(statement: str) -> str:
    # A persistent view can't be made of temporary ones.
    return statement.replace("REPLACE VIEW", "REPLACE TEMPORARY VIEW").replace("GLOBAL TEMPORARY", "TEMPORARY")


def _frame(spark: SparkSession, rows: Tables, setup: Sequence[str], query: str) -> DataFrame:
    for table, content in rows.items():
        # By way of Arrow they are in the plan itself, and most queries need no job. It has maps as lists of pairs.
        fields: Any = StructType.fromDDL(TABLES[table])
        schema = to_arrow_schema(fields)
        columns = {
            name: [list(row[name].items()) if name == "marks" else row[name] for row in content]
            for name in schema.names
        }
        spark.createDataFrame(pa.table(columns, schema)).createOrReplaceTempView(table)
    for statement in setup:
        spark.sql(statement)
    return spark.sql(query.replace("global_temp.", ""))


def _outputs(frame: DataFrame) -> dict[str, list[str]]:
    """The values of each column, and of each field of a struct, in no order: which row they are of isn't told."""
    columns = frame.columns
    found: dict[str, list[str]] = {column: [] for column in columns}
    for row in frame.collect():
        for path, value in _fields((), row.asDict(recursive=True)):
            found.setdefault(".".join(path), []).append(repr(value))
    return {
        path: sorted(values) for path, values in found.items() if columns.count(path.split(".", maxsplit=1)[0]) == 1
    }


def _fields(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    for name, inner in value.items():
        yield (*path, name), inner
        if isinstance(inner, dict) and all(isinstance(key, str) and key.isidentifier() for key in inner):
            yield from _fields((*path, name), inner)


def _direct(told: LineageExplanation, output: str) -> Iterator[tuple[str, Path]]:
    for found in told.outputs:
        if found.path == output:
            for source in found.sources:
                if source.type == "DIRECT" and source.path and source.name:
                    yield source.name.rpartition("-")[0], tuple(source.path.split("."))


def _known(told: LineageExplanation, output: str, table: str, path: Path) -> bool:
    """Whether the lineage has the column, whole or in part, or the rows of its table."""
    own = [s for found in told.outputs if found.path == output for s in found.sources]
    if not own:
        # A key of a map: its values are what a path can name.
        return True
    for source in [*own, *told.influences]:
        if source.name and source.name.rpartition("-")[0] == table:
            named = tuple(source.path.split(".")) if source.path else ()
            if all(a == b for a, b in zip(named, path, strict=False)):
                return True
    return False


def _says(claim: str, output: str, table: str, path: Path) -> bool:
    target, _, source = claim.partition(" <- ")
    name, *steps = source.split(".")
    return (target, name) == (output, table) and all(a == b for a, b in zip(steps, path, strict=False))


def main() -> None:
    """Judges every case."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    session = apart(spark)
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    verdicts = {}
    for number, (title, statement) in enumerate(CASES.items(), start=1):
        sys.stderr.write(f"{number}/{len(CASES)} {title}\n")
        verdicts[title] = judged(session, statement, seeds)
    spark.stop()
    sys.stdout.write("\n".join([*report(verdicts), ""]))


def report(verdicts: dict[str, Verdict]) -> list[str]:
    """The verdicts as lines."""
    run = {title: verdict for title, verdict in verdicts.items() if verdict.skipped is None}
    compared, missing = sum(v.comparisons for v in run.values()), sum(len(v.missing) for v in run.values())
    return [
        f"{len(run)} cases run, {compared} outputs compared, {missing} edges missing",
        "",
        "Missing: an output changes with a column that its lineage doesn't have",
        *(f"  {title}: {each}" for title, v in run.items() for each in sorted(v.missing)),
        "",
        "Claimed and not seen: a DIRECT edge whose column has changed nothing in these rows",
        *(f"  {title}: {each}" for title, v in run.items() for each in sorted(v.unseen)),
        "",
        "Not run on these rows",
        *(f"  {title}: {v.skipped}" for title, v in verdicts.items() if v.skipped),
    ]


if __name__ == "__main__":
    main()
