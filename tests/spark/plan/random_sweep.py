"""Random programs judged by their rows, as many as there is time for.

    PYTHONPATH=tests python -m spark.plan.random_sweep --count 20000 --seed 1000000 --record sweep.json
    PYTHONPATH=tests python -m spark.plan.random_sweep --count 200 --kind stream --minutes 10

Of 25 programs 21 are frames, 3 batch writes and one is a stream, each by a seed of its own. A missing edge is printed
as soon as it is found, with its program; at the end how many were judged. It exits with 1 where an edge is missing.

With `--record` what was judged is kept in a file, and another call goes on where the one before ended.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spark.plan.in_memory import apart
from spark.plan.random_oracle import KINDS, judged_programs, programs
from spark.plan.row_files import RowFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MIXTURE: Final = {"stream": 1, "write": 3, "frame": 21}
"""Programs of each kind out of 25."""
_ROUND: Final = 5
"""So many 25s are judged before the session's views, tables and plans are looked at anew, and the record is written."""


@dataclass(slots=True)
class Judged:
    """The programs of one kind that were judged.

    Attributes:
        first: the seed of the first.
        programs: how many, one seed after the other.
        outputs: compared after a change that their lineage doesn't know.
        seconds: that it took.
        missing: edges, by the program's seed.
        not_run: why a program couldn't be run, by its seed.
    """

    first: int
    programs: int = 0
    outputs: int = 0
    seconds: float = 0.0
    missing: dict[str, list[str]] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)

    def judge(self, files: RowFiles, kind: str, count: int) -> None:
        """Judges the next programs, and prints what is missing."""
        begun = time.monotonic()
        next_seed = self.first + self.programs
        for seed, verdict in judged_programs(files, kind, range(next_seed, next_seed + count)).items():
            self.programs += 1
            self.outputs += verdict.comparisons
            if verdict.skipped:
                self.not_run[str(seed)] = verdict.skipped
                sys.stdout.write(f"{kind} {seed} not run: {verdict.skipped}\n")
            if verdict.missing:
                self.missing[str(seed)] = sorted(verdict.missing)
                found, program = ", ".join(sorted(verdict.missing)), programs(kind, [seed])[seed]
                sys.stdout.write(f"{kind} {seed} missing: {found} in\n{program}\n")
        self.seconds += time.monotonic() - begun
        sys.stdout.flush()


def main() -> None:
    """Judges them, and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="of programs, the record's included (500)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program of each kind (0)")
    parser.add_argument("--kind", choices=sorted(KINDS), default=None, help="these alone; default: a mixture")
    parser.add_argument("--minutes", type=float, default=None, help="ends then, however many were judged")
    parser.add_argument("--record", type=Path, default=None, help="file to go on from, and to write")
    arguments = parser.parse_args()
    shares = MIXTURE if arguments.kind is None else {arguments.kind: sum(MIXTURE.values())}
    begun = time.monotonic()
    study = recorded(arguments.record) if arguments.record else {}
    # What can't be run is counted.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    spark = _session()
    with tempfile.TemporaryDirectory() as folder:
        files = RowFiles(apart(spark), Path(folder) / "rows")
        while sum(judged.programs for judged in study.values()) < arguments.count:
            if arguments.minutes is not None and time.monotonic() - begun > arguments.minutes * 60:
                break
            for kind, share in shares.items():
                study.setdefault(kind, Judged(arguments.seed)).judge(files, kind, share * _ROUND)
            if arguments.record:
                record(study, arguments.record)
            sys.stderr.write(f"{report(study)}\n")
    spark.stop()
    sys.stdout.write(f"{report(study)}\n")
    sys.exit(1 if any(judged.missing for judged in study.values()) else 0)


def recorded(file: Path) -> dict[str, Judged]:
    """Judged queries so far, by kind; empty where there is no record."""
    if not file.exists():
        return {}
    return {kind: Judged(**judged) for kind, judged in json.loads(file.read_text()).items()}


def record(study: dict[str, Judged], file: Path) -> None:
    """Replaces the record."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps({kind: asdict(judged) for kind, judged in study.items()}, indent=1))
    draft.replace(file)


def report(study: dict[str, Judged]) -> str:
    """The numbers, as a text."""
    kinds = ", ".join(
        f"{judged.programs:,} of kind {kind} ({_each_ms(judged):.0f} ms)" for kind, judged in study.items()
    )
    total = sum(judged.programs for judged in study.values())
    minutes = sum(judged.seconds for judged in study.values()) / 60
    not_run = sum(len(judged.not_run) for judged in study.values())
    outputs = sum(judged.outputs for judged in study.values())
    missing = sum(len(edges) for judged in study.values() for edges in judged.missing.values())
    return (
        f"{total:,} programs in {minutes:.1f} minutes: {kinds}; {not_run:,} not run; "
        f"{outputs:,} outputs compared after a change that their lineage doesn't know: {missing:,} changed"
    )


def _each_ms(judged: Judged) -> float:
    return judged.seconds / judged.programs * 1000


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("random-programs")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    # The line of the program that a column comes from, for error messages.
    builder = builder.config("spark.python.sql.dataFrameDebugging.enabled", "false")
    builder = builder.config("spark.driver.memory", "1g").config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    # What sorts or groups takes a page of memory, empty, however few its rows are.
    builder = builder.config("spark.buffer.pageSize", "256k")
    # It lives for long enough that optimizing the code pays.
    spark = builder.config("spark.driver.extraJavaOptions", "-Xss4m -Xms1g -XX:+UseSerialGC").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


if __name__ == "__main__":
    main()
