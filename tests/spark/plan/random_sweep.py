"""Random programs judged by their rows, as many as there is time for.

    PYTHONPATH=tests python -m spark.plan.random_sweep --count 20000 --seed 1000000
    PYTHONPATH=tests python -m spark.plan.random_sweep --count 200 --kind stream --minutes 10

Of 25 programs 20 are frames, 3 batch writes and 2 streams, each by a seed of its own. A missing edge is printed as soon
as it is found, with its program; at the end how many were judged. It exits with 1 where an edge is missing.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spark.plan.in_memory import apart
from spark.plan.random_oracle import KINDS, judged_programs, programs
from spark.plan.row_files import RowFiles
from support.running import QUICK_JVM

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIXTURE: Final = {"stream": 2, "write": 3, "frame": 20}
"""Programs of each kind out of 25."""
_ROUND: Final = 5
"""So many 25s are judged before the session's views, tables and plans are looked at anew."""


def main() -> None:
    """Judges them, and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="of programs (500)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program of each kind (0)")
    parser.add_argument("--kind", choices=sorted(KINDS), default=None, help="these alone; default: a mixture")
    parser.add_argument("--minutes", type=float, default=None, help="ends then, however many were judged")
    arguments = parser.parse_args()
    shares = MIXTURE if arguments.kind is None else {arguments.kind: sum(MIXTURE.values())}
    begun = time.monotonic()
    tally, missing = Counter[str](), 0
    # What can't be run is counted.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    spark = _session()
    with tempfile.TemporaryDirectory() as folder:
        files = RowFiles(apart(spark), Path(folder) / "rows")
        seeds = {kind: itertools.count(arguments.seed) for kind in shares}
        while tally["programs"] < arguments.count:
            if arguments.minutes is not None and time.monotonic() - begun > arguments.minutes * 60:
                break
            for kind, share in shares.items():
                some = list(itertools.islice(seeds[kind], share * _ROUND))
                missing += _judge(files, kind, some, tally)
            sys.stderr.write(f"{report(tally, time.monotonic() - begun)}\n")
    spark.stop()
    sys.stdout.write(f"{report(tally, time.monotonic() - begun)}\n")
    sys.exit(1 if missing else 0)


def _judge(files: RowFiles, kind: str, seeds: Sequence[int], tally: Counter[str]) -> int:
    begun = time.monotonic()
    verdicts = judged_programs(files, kind, seeds)
    tally[f"{kind} ms"] += int((time.monotonic() - begun) * 1000)
    for seed, verdict in verdicts.items():
        tally["programs"] += 1
        tally[kind] += 1
        tally["outputs"] += verdict.comparisons
        tally["missing"] += len(verdict.missing)
        if verdict.skipped:
            tally["not run"] += 1
            sys.stdout.write(f"{kind} {seed} not run: {verdict.skipped}\n")
        if verdict.missing:
            found, program = ", ".join(sorted(verdict.missing)), programs(kind, [seed])[seed]
            sys.stdout.write(f"{kind} {seed} missing: {found} in\n{program}\n")
    sys.stdout.flush()
    return sum(len(verdict.missing) for verdict in verdicts.values())


def report(tally: Counter[str], seconds: float) -> str:
    """The numbers, as a text."""
    kinds = ", ".join(f"{tally[k]:,} of kind {k} ({tally[f'{k} ms'] / tally[k]:.0f} ms)" for k in KINDS if tally[k])
    return (
        f"{tally['programs']:,} programs in {seconds / 60:.1f} minutes: {kinds}; {tally['not run']:,} not run; "
        f"{tally['outputs']:,} outputs compared after a change that their lineage doesn't know: "
        f"{tally['missing']:,} changed"
    )


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("random-programs")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.memory", "1g").config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    spark = builder.config("spark.driver.extraJavaOptions", f"-Xss4m {QUICK_JVM}").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


if __name__ == "__main__":
    main()
