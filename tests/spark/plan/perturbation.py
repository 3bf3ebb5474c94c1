"""The sweeps of the perturbation oracle, over the cases or over random queries.

    PYTHONPATH=tests python -m spark.plan.perturbation > tests/spark/plan/perturbation.txt
    PYTHONPATH=tests python -m spark.plan.perturbation 0 300 > tests/spark/plan/random_queries.txt

The first runs every case of cases/*.sql, in memory, as often as the tables that it reads have columns; the other the
random queries of these seeds. Minutes for a hundred queries. Random programs are `random_sweep`'s.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from spark.plan.goldens import read_sections
from spark.plan.in_memory import apart
from spark.plan.oracle import Verdict, judged
from spark.plan.random_queries import random_query

CASES: Final = {
    f"{path.stem}: {title}": "\n".join(statement)
    for path in sorted((Path(__file__).parent / "cases").glob("*.sql"))
    for title, statement in read_sections(path.read_text(), "-- ").items()
}
SEEDS: Final = (1,)
"""Seeds of the rows."""
CLAIMS_OF_EVERY: Final = 10
"""Random queries for each one whose edges are looked for one by one, which takes ten times as long."""
CLAIMS_SEEDS: Final = (1, 2, 3)
"""Seeds of that query's rows: a random query's values meet by chance more seldom."""


def main() -> None:
    """Judges every case, or the random queries from a seed up to another."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    session = apart(spark)
    bounds = [int(bound) for bound in sys.argv[1:]]
    kind = "random queries" if bounds else "cases"
    queries = {f"query {seed}": random_query(seed) for seed in range(*bounds)} if bounds else CASES
    verdicts = {}
    for number, (title, statement) in enumerate(queries.items(), start=1):
        claims = not bounds or number % CLAIMS_OF_EVERY == 1
        verdicts[title] = judged(session, statement, CLAIMS_SEEDS if bounds and claims else SEEDS, claims=claims)
        sys.stderr.write(f"{number}/{len(queries)} {title}: {len(verdicts[title].missing)} missing\n")
    spark.stop()
    sys.stdout.write("\n".join([*report(kind, queries, verdicts), ""]))


def report(kind: str, queries: dict[str, str], verdicts: dict[str, Verdict]) -> list[str]:
    """The verdicts as lines."""
    run = {title: verdict for title, verdict in verdicts.items() if verdict.skipped is None}
    compared, missing = sum(v.comparisons for v in run.values()), sum(len(v.missing) for v in run.values())
    claims, unseen = sum(v.claims for v in run.values()), sum(len(v.unseen) for v in run.values())
    return [
        f"{len(run)} {kind} run",
        f"{compared} outputs compared after a change that their lineage doesn't know: {missing} changed",
        f"{claims} DIRECT edges: of {unseen} the column's change has changed nothing in these rows",
        "",
        "Missing: an output changes with a column that its lineage doesn't have",
        *(f"  {title}: {each} in {queries[title]}" for title, v in run.items() for each in sorted(v.missing)),
        "",
        "Claimed and not seen",
        *(f"  {title}: {each}" for title, v in run.items() for each in sorted(v.unseen)),
        "",
        "Not run on these rows",
        *(f"  {title}: {v.skipped}" for title, v in verdicts.items() if v.skipped),
    ]


if __name__ == "__main__":
    main()
