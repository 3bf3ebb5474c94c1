"""Commands and statements of a repair plan, quoted for a shell or for Spark SQL."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

from headwater_analysis.assets import Asset
from headwater_analysis.settings import DEFAULT_TENANT
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_analysis.trace.uses import partitions_of
from headwater_schemas.ranges import partition_text

MOST_PARTITIONS: Final = 100
"""Maximum number of partitions that a command names."""
MOST_FILES: Final = 100
"""Maximum number of files that a command names; with more files, it names partitions, or the whole dataset."""
FILE: Final = "--file"
"""Option with paths. Paths are texts of jobs (`texts`), which not every asker may see."""
PARTITION: Final = "--partition"
_AGAIN: Final = "Written again."
_DONE: Final = "Repaired by its plan."
_SCHEMES: Final = ("file", "s3", "s3a", "gs", "abfss", "wasbs", "hdfs", "dbfs")


class PlanCommands:
    """Commands of one incident's plan.

    Args:
        incident: id of the incident.
        tenant: tenant of the lineage; commands name it unless it is the default tenant.
    """

    def __init__(self, incident: str, tenant: str) -> None:
        self._incident = incident
        self._tenant = () if tenant == DEFAULT_TENANT else ("--tenant", tenant)

    def show_run(self, run_id: str) -> str:
        """Command that shows a run."""
        return self._line("runs", "show", run_id)

    def gate(self, dataset: Asset) -> str:
        """Command that shows whether open incidents hold a dataset."""
        return self._line("gate", dataset.spelling)

    def refresh(self) -> str:
        """Command that records the reach that is left."""
        return self._line("incident", "refresh", self._incident)

    def resolve(self) -> str:
        """Command that resolves the incident."""
        return self._line("incident", "resolve", self._incident, "repaired", "--reason", _DONE)

    def campaign_note(self) -> str:
        """Sentence on how to start a rerun as a run of the campaign with the incident's id."""
        return (
            f"Start it with HEADWATER_JOB_CAMPAIGN={shlex.quote(self._incident)}, and "
            f"`{self._line('campaign', self._incident)}` shows what it restated."
        )

    def repair_consumer(self, consumer: str) -> str:
        """Command that declares a consumer repaired."""
        return self._line("incident", "repair", self._incident, "--consumer", consumer, "--reason", _DONE)

    def repair(self, part: Part) -> list[str]:
        """Commands that declare a part repaired, with the options of `narrowing`; several if it has many partitions."""
        option, values = narrowing(part)
        several = [values[at : at + MOST_PARTITIONS] for at in range(0, len(values), MOST_PARTITIONS)]
        return [
            self._line(
                *("incident", "repair", self._incident, "--dataset", part.dataset.spelling),
                *(word for value in each for word in (option, value)),
                *("--reason", _AGAIN),
            )
            for each in (several if option == PARTITION else [values])
        ]

    def _line(self, *words: str) -> str:
        return shlex.join(("headwater", *words, *self._tenant))


def narrowing(part: Part) -> tuple[str, list[str]]:
    """Option that narrows a dataset to a part, and the values of the option.

    If the records, files or version of the part aren't known, the option is empty: the command names the whole dataset.
    """
    if part.kind is PartKind.OFFSETS:
        return "--offsets", [partition_text(span.partition, span.start, span.end) for span in part.offsets]
    if part.kind is PartKind.SNAPSHOT and part.version is not None:
        return "--version", [part.version]
    if part.kind is PartKind.FILES and len(part.files) == part.file_count and 0 < len(part.files) <= MOST_FILES:
        return FILE, list(part.files)
    within = sorted(partitions_of(part)) if part.kind is PartKind.FILES else []
    if within and all(within):
        return PARTITION, within
    return "", []


def clear_task(dag: str, task: str, logical_date: str) -> str:
    """Airflow's command that clears a task of one logical date, so that the scheduler runs the task again."""
    dates = ("-s", logical_date, "-e", logical_date)
    return shlex.join(("airflow", "tasks", "clear", dag, "-t", f"^{re.escape(task)}$", *dates))


def restore(dataset: Asset, format_: str, version: str) -> str | None:
    """Statement of Spark SQL that restores a table to a version; None: the table's name in SQL isn't known.

    Iceberg's statement has to be run in the catalog of the table: the graph doesn't have the catalog's name in Spark.

    Args:
        dataset: the table.
        format_: `delta` or `iceberg`.
        version: version of Delta, or id of Iceberg's snapshot: digits.
    """
    if not version.isdecimal():
        return None
    # Glue's names, such as table/db/t, aren't names in SQL.
    table = dataset.table if dataset.table and "/" not in dataset.table else None
    if format_ == "delta":
        name = _path(dataset) if table is None else _identifier(table.split("."))
        return None if name is None else f"RESTORE TABLE {name} TO VERSION AS OF {version}"
    if format_ == "iceberg" and table is not None:
        return f"CALL system.rollback_to_snapshot({_literal(table)}, {version})"
    return None


def _path(dataset: Asset) -> str | None:
    if dataset.namespace.partition(":")[0] not in _SCHEMES:
        return None
    return f"delta.{_identifier([dataset.spelling])}"


def _identifier(words: Sequence[str]) -> str:
    return ".".join(f"`{word.replace('`', '``')}`" for word in words)


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
