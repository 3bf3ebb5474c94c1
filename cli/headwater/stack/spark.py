"""Table of the jars of connectors and table formats, by Spark's minor version.

A jar for one Spark version doesn't run on another, and Scala's version is in its name. `locks/spark-<release>/` lists
the jars that each module needs besides PySpark's, with exact versions and checksums. A format without an entry has
published nothing for that Spark version.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from headwater.console import console
from headwater.errors import ConfigurationError
from headwater.invocation import install_command

SparkJars: TypeAlias = Literal["spark", "delta", "iceberg", "avro"]
"""Sets of jars that a job may need besides PySpark; `spark` is the Kafka connector."""

SPARK_JARS: Final[tuple[SparkJars, ...]] = get_args(SparkJars)


@dataclass(frozen=True, slots=True)
class Release:
    """One minor version of Spark.

    Attributes:
        name: `major.minor`.
        pyspark: Version of PySpark for which the locks were made.
        modules: `organisation:artifact:version` of each published set of jars.
    """

    name: str
    pyspark: str
    modules: dict[SparkJars, str]


RELEASES: Final = (
    Release(
        "3.5",
        "3.5.7",
        {
            "spark": "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.7",
            "delta": "io.delta:delta-spark_2.12:3.3.2",
            "iceberg": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1",
            "avro": "org.apache.spark:spark-avro_2.12:3.5.7",
        },
    ),
    Release(
        "4.0",
        "4.0.0",
        {
            "spark": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
            "delta": "io.delta:delta-spark_2.13:4.0.0",
            "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1",
            "avro": "org.apache.spark:spark-avro_2.13:4.0.0",
        },
    ),
    Release(
        "4.1",
        "4.1.1",
        {
            "spark": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1",
            "delta": "io.delta:delta-spark_2.13:4.1.0",
            "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
            "avro": "org.apache.spark:spark-avro_2.13:4.1.1",
        },
    ),
    Release(
        "4.2",
        "4.2.0",
        {
            "spark": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            "delta": "io.delta:delta-spark_4.2_2.13:4.4.0",
            "avro": "org.apache.spark:spark-avro_2.13:4.2.0",
        },
    ),
    # Spark's modules for 4.3 weren't published yet; the modules for 4.2 run on Spark 4.3. Delta 4.4 for Spark 4.2
    # doesn't.
    Release(
        "4.3",
        "4.3.0",
        {
            "spark": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
            "avro": "org.apache.spark:spark-avro_2.13:4.2.0",
        },
    ),
)


def installed_pyspark() -> str:
    """Return the version of the PySpark that this Python would import, without importing it.

    Raises:
        ConfigurationError: PySpark isn't installed.
    """
    spec = importlib.util.find_spec("pyspark")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder, "version.py")
        if file.is_file() and (found := re.search(r'__version__[^"\']*["\']([^"\']+)', file.read_text("utf-8"))):
            return found[1]
    raise ConfigurationError("PySpark is missing.", fix=f"Install it: {install_command('spark')}")


def release_of(pyspark: str) -> Release:
    """Return the release whose jars fit a version of PySpark.

    For a version that isn't in the table, this is the nearest earlier release, or the oldest one, with a warning.
    """
    wanted = _number(pyspark)
    known = [release for release in RELEASES if _number(release.name) <= wanted]
    release = known[-1] if known else RELEASES[0]
    if _number(release.name) != wanted:
        tried = ", ".join(each.name for each in RELEASES)
        console.warning(
            f"No jars are known for PySpark {pyspark}, only for {tried}: the jars of {release.name} are used."
        )
    return release


def installed_release() -> Release:
    """The release of the installed PySpark."""
    return release_of(installed_pyspark())


def lock_file(name: SparkJars, release: Release) -> str:
    """Path of a lock, below the folder of locks.

    Raises:
        ConfigurationError: Nothing is published for this Spark.
    """
    if name not in release.modules:
        having = ", ".join(each.name for each in RELEASES if name in each.modules)
        raise ConfigurationError(
            f"There are no jars of {name} for Spark {release.name}.", fix=f"Use a PySpark of {having} for it."
        )
    return f"spark-{release.name}/{name}.lock"


def _number(version: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)
