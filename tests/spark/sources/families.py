"""All families of statements that docs/sources-and-sinks.md lists."""

from __future__ import annotations

from spark.sources.cases import FAMILIES as SOURCES_AND_SINKS
from spark.sources.hive_cases import HIVE
from spark.sources.maintenance_cases import MAINTENANCE
from spark.sources.partition_cases import PARTITIONS

[RDDS] = [family for family in SOURCES_AND_SINKS if family.name == "RDDs"]
"""In an application of its own."""

LAKE = (*(family for family in SOURCES_AND_SINKS if family is not RDDS), PARTITIONS, MAINTENANCE)
"""Those of the session `lake`, in one application."""

FAMILIES = (*SOURCES_AND_SINKS, PARTITIONS, MAINTENANCE, HIVE)
