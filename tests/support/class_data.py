"""Spark's classes in an archive, from which every Spark of the tests takes them: Java's application class-data sharing.

A Spark that starts and does one small thing loads 15,000 classes, and parses and verifies each: 13 s of processor time.
Mapped from an archive it takes 7.5 s. Making the archive takes 35 s, once for each Java and each PySpark: it is kept in
pytest's cache. Java leaves an archive aside that isn't there, or was made of other jars, and starts as ever.

As a script, this is the Spark that the archive is made of.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from headwater.stack import java_runtime
from support.running import QUICK_JVM
from support.waiting import patience

_SECONDS: Final = 300.0


def spark_variables(folder: Path) -> dict[str, str]:
    """Environment of whatever starts Spark: with the archive, which is made if nobody has made it.

    Another process that is just making it isn't waited for.

    Args:
        folder: where archives are kept.
    """
    archive = folder / f"spark-{_digest()}.jsa"
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            if not archive.exists():
                _make(archive)
    return {
        "SPARK_SUBMIT_OPTS": f"{QUICK_JVM} -XX:SharedArchiveFile={archive}",
        "SPARK_LAUNCHER_OPTS": QUICK_JVM,  # of the JVM that finds out how to call Spark's
    }


def _digest() -> str:
    """Digest of everything that the archive depends on: this Java, and the paths of these jars."""
    import pyspark

    parts = (java_runtime().home / "lib" / "modules", Path(pyspark.__file__).parent / "jars")
    text = "\n".join(f"{path.resolve()} {path.stat().st_mtime_ns}" for path in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _make(archive: Path) -> None:
    for old in archive.parent.glob("spark-*"):
        old.unlink()
    draft = archive.with_suffix(".draft")
    with tempfile.TemporaryDirectory(prefix="headwater-classes-") as folder:
        subprocess.run(
            [sys.executable, "-m", "support.class_data", folder],
            env={
                **os.environ,
                **java_runtime().environment(),
                "SPARK_SUBMIT_OPTS": f"{QUICK_JVM} -XX:ArchiveClassesAtExit={draft}",
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYTHONPATH": str(Path(__file__).parents[1]),
            },
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=patience(_SECONDS),
            check=False,
        )
    # Without one, Spark starts more slowly and does the same.
    if draft.exists():
        draft.rename(archive)


def _typical(folder: Path) -> None:
    """Run typical work of tests: write and read Parquet, aggregate, and run a query to its end."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    spark.range(10).selectExpr("id % 3 AS k", "id").groupBy("k").count().write.parquet(f"{folder}/in")
    spark.sql(f"CREATE TABLE t USING parquet AS SELECT * FROM parquet.`{folder}/in`")
    spark.sql("SELECT a.k, sum(b.count) OVER (ORDER BY b.k) FROM t a JOIN t b ON a.k = b.k").collect()
    stream = spark.readStream.schema("k BIGINT").parquet(f"{folder}/in").writeStream.format("parquet")
    stream = stream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    stream.start(f"{folder}/out").awaitTermination()
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    # The JVM writes the archive as it ends, which it does when its standard input is closed.
    gateway.proc.stdin.close()
    gateway.proc.wait(patience(_SECONDS))


if __name__ == "__main__":
    _typical(Path(sys.argv[1]))
