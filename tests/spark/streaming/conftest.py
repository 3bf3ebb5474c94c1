"""The session with Delta and Iceberg, shared with tests/spark/sources."""

from __future__ import annotations

from spark.sources.conftest import lake

__all__ = ["lake"]
