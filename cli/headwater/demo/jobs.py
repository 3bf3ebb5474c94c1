"""Schedule of the demo: scripts of `spark_jobs/flights`, their order and their flags."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import headwater
from headwater.demo.folder import DemoFolder
from headwater.errors import ConfigurationError

MONTH_DAYS = 31
YEAR_DAYS = 365

# A year has 336,776 flights.
FLIGHTS_PER_DAY = 923
# Micro-batches of each query. Enough for interesting chains; each micro-batch costs about half a second of a core.
MICRO_BATCHES = 24
SLICES = 8


@dataclass(frozen=True, slots=True)
class DemoJob:
    """One script of the demo.

    Attributes:
        name: Name of the script and of its streaming query.
        after: Jobs that write the inputs of this job. A batch job begins when these jobs are done. A streaming query
            begins at once, follows its topic, and is asked to finish when these jobs are done.
    """

    name: str
    title: str
    after: tuple[str, ...] = ()
    streaming: bool = False
    arguments: tuple[str, ...] = ()


def flights_jobs(folder: DemoFolder, days: int) -> tuple[DemoJob, ...]:
    """Jobs of the pipeline over the first `days` days of 2013, in the order of the data flow."""

    def query(name: str, title: str, after: str) -> DemoJob:
        flags = ("--follow-until", str(folder.marker(name)), "--max-offsets", str(records_per_batch(days)))
        return DemoJob(name, title, (after,), streaming=True, arguments=flags)

    return (
        DemoJob("load", "CSV → flights.departed", arguments=("--days", str(days), "--slices", str(SLICES))),
        query("enrich", "flights.departed → flights.enriched", "load"),
        query("delays", "flights.enriched → hourly delays (Parquet)", "enrich"),
        query("routes", "flights.enriched → route counts (Parquet, topic)", "enrich"),
        DemoJob("daily_report", "delays + weather → daily report (Parquet)", ("delays",)),
    )


def records_per_batch(days: int) -> int:
    """Maximum number of records in a micro-batch, so that `days` days make about `MICRO_BATCHES` micro-batches."""
    return math.ceil(days * FLIGHTS_PER_DAY / MICRO_BATCHES)


def scripts_folder() -> Path:
    """Find the folder of the scripts: inside the installed package, or at the root of a checkout.

    Raises:
        ConfigurationError: The folder is in neither location.
    """
    package = Path(headwater.__file__).parent
    for folder in (package / "spark_jobs" / "flights", package.parents[1] / "spark_jobs" / "flights"):
        if (folder / "load.py").is_file():
            return folder
    raise ConfigurationError("The demo's Spark scripts are missing.", fix="Install headwater[demo] again.")
