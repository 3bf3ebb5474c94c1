"""The wall clock, as the default of parameters that take one."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Current time, aware, in UTC."""
    return datetime.now(UTC)
