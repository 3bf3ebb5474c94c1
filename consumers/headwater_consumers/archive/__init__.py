"""The events topic as the job `spark_jobs/lineage/archive.py` keeps it: Parquet, partitioned by day.

- `archive`: what is in it, and its records;
- `source`: the same as a source of the materializer;
- `micro_batches`: those of a query, one by one.
"""

from __future__ import annotations

from headwater_consumers.archive.archive import Archive, ArchiveError, Kept
from headwater_consumers.archive.micro_batches import archived_micro_batches
from headwater_consumers.archive.source import ArchiveSource

__all__ = ["Archive", "ArchiveError", "ArchiveSource", "Kept", "archived_micro_batches"]
