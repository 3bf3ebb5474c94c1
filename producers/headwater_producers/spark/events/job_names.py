"""Job names of one application.

    application                          <app>
    batch write                          <app>.<output>
    streaming query, named               <app>.<query name>
    streaming query, not named           <app>.<output>

`<app>` is `job_name`, by default `spark.app.name`; `<output>` is the last part of the output's name: the folder, the
table without catalog and schema, the whole topic. Several outputs are joined by `+`, sorted. A query without known
outputs, as with foreachBatch, has its sink's name in their place. So a name is the same in every run with the same
output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from headwater_producers.spark.plan import PlanOutput
from headwater_schemas.events import DatasetRef
from headwater_schemas.redaction import redact

_MAX_CHARS: Final = 200
_FILE_SYSTEMS: Final = frozenset({"file", "s3", "gs", "hdfs", "abfss", "wasbs", "dbfs"})
_UNUSABLE: Final = re.compile(r"[^\w.+\-]+")


def application_name(configured: str | None, spark_app_name: str) -> str:
    """Return the name of the application's job, with only word characters, `.`, `+` and `-`."""
    return _clean(redact(configured or spark_app_name)) or "spark"


def batch_name(app: str, outputs: Iterable[PlanOutput], command: str | None = None) -> str:
    """Return the name of a batch write's job; `command` is used if the output is unknown."""
    return f"{app}.{_short_names(outputs) or _clean(redact(command or '')) or 'write'}"


def streaming_name(app: str, query_name: str | None, outputs: Iterable[PlanOutput], sink: str | None) -> str:
    """Return the name of a streaming query's job; without named outputs, by its sink's short name."""
    named = _clean(redact(query_name or ""))
    return f"{app}.{named or _short_names(outputs) or _clean(redact(sink or '')) or 'stream'}"


def short_name(dataset: DatasetRef) -> str:
    """Return the last part of a dataset's name: `/data/daily_report` or `db.daily_report` ⇒ `daily_report`."""
    name = redact(dataset.name).rstrip("/")
    if dataset.namespace.startswith("kafka"):
        return _clean(name)
    tail = name.rsplit("/", 1)[-1]
    # A file's name keeps its extension; a table's name loses catalog and schema.
    is_path = "/" in name or dataset.namespace.split(":", 1)[0] in _FILE_SYSTEMS
    return _clean(tail if is_path else tail.rsplit(".", 1)[-1])


def _short_names(outputs: Iterable[PlanOutput]) -> str:
    return "+".join(sorted({name for output in outputs if (name := short_name(output.dataset))}))[:_MAX_CHARS]


def _clean(text: str) -> str:
    return _UNUSABLE.sub("_", text.strip()).strip("_.")[:_MAX_CHARS]
