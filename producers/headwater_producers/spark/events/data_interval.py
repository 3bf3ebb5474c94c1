"""Data interval: the period for which an orchestrator runs the application; and the backfill of this run, if any.

    setting job_nominal_start, job_nominal_end       wins; in Airflow `{{ data_interval_start }}` and `…_end`
    AIRFLOW_CTX_LOGICAL_DATE, …_EXECUTION_DATE       Airflow sets only the start, not the end of the interval
    AIRFLOW_CTX_DAG_RUN_ID=backfill__…               a backfill of AIRFLOW_CTX_DAG_ID
    DAGSTER_PIPES_CONTEXT                            `partition_time_window` of Dagster Pipes

OpenLineage's properties and variables name the parent run (module `parent`), but no period. Malformed values are left
out, with a warning. Sources: Airflow's `context_to_airflow_vars`; the protocol of Dagster Pipes, whose variables are
base64 of zlib of JSON.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

logger = logging.getLogger(__name__)

_AIRFLOW_STARTS: Final = ("AIRFLOW_CTX_LOGICAL_DATE", "AIRFLOW_CTX_EXECUTION_DATE")
_AIRFLOW_RUN: Final = "AIRFLOW_CTX_DAG_RUN_ID"
_AIRFLOW_DAG: Final = "AIRFLOW_CTX_DAG_ID"
_BACKFILL: Final = "backfill__"
_DAGSTER: Final = "DAGSTER_PIPES_CONTEXT"
_MAX_CONTEXT_BYTES: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class DataInterval:
    """Data interval of the application.

    Attributes:
        start, end: half-open, UTC; each None if unknown.
    """

    start: datetime | None = None
    end: datetime | None = None
    campaign: str | None = None


ALWAYS: Final = DataInterval()
"""Interval without known bounds."""


def data_interval(environment: Mapping[str, str]) -> DataInterval:
    """Read the data interval that an orchestrator has set in the driver's environment."""
    if environment.get(_DAGSTER):
        return _of_dagster(environment[_DAGSTER])
    name = next((name for name in _AIRFLOW_STARTS if environment.get(name)), None)
    start = _time(environment[name], name) if name is not None else None
    is_backfill = environment.get(_AIRFLOW_RUN, "").startswith(_BACKFILL)
    dag = environment.get(_AIRFLOW_DAG)
    return DataInterval(start, campaign=f"backfill of {dag}" if is_backfill and dag else None)


def _of_dagster(text: str) -> DataInterval:
    try:
        context = _unpacked(text)
        data = context.get("data")
        if data is None and isinstance(path := context.get("path"), str):
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        window = (data or {}).get("partition_time_window") or {}
        start, end = window.get("start"), window.get("end")
    except (ValueError, AttributeError, OSError, zlib.error):
        logger.warning("%s is ignored: it has not the format of Dagster Pipes", _DAGSTER)
        return DataInterval()
    return DataInterval(
        _time(start, _DAGSTER) if start is not None else None, _time(end, _DAGSTER) if end is not None else None
    )


def _unpacked(text: str) -> Any:
    try:
        packed = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error
    inflate = zlib.decompressobj()
    plain = inflate.decompress(packed, _MAX_CONTEXT_BYTES)
    if inflate.unconsumed_tail:
        raise ValueError("too long")
    return json.loads(plain)


def _time(text: object, origin: str) -> datetime | None:
    """Parse a time to UTC; a time without an offset is in UTC, as in orchestrators."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        logger.warning("the data interval of %s is ignored: %r is no time", origin, str(text)[:100])
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
