"""All families of statements that docs/sources-and-sinks.md lists."""

from __future__ import annotations

from spark.sources.cases import FAMILIES as SOURCES_AND_SINKS
from spark.sources.hive_cases import HIVE
from spark.sources.maintenance_cases import MAINTENANCE
from spark.sources.partition_cases import PARTITIONS

LAKE = (*SOURCES_AND_SINKS, PARTITIONS, MAINTENANCE)
"""Those of the session `lake`."""

FAMILIES = (*LAKE, HIVE)
