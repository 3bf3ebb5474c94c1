"""Facts that a job declares or its orchestrator reports: tasks to clear, and mappings of partitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from headwater_analysis.facets import Facet, contents, member
from headwater_analysis.reader import Transaction


@dataclass(frozen=True, slots=True, order=True)
class AirflowTask:
    """A task of Airflow that ran for one logical date.

    Attributes:
        dag, task: ids of the DAG and the task.
        logical_date: the date, as Airflow writes it.
    """

    dag: str
    task: str
    logical_date: str


def airflow_tasks(tx: Transaction, runs: Sequence[str]) -> tuple[list[AirflowTask], bool]:
    """Find the Airflow tasks of runs, in order, and whether the task of each run is known.

    Args:
        runs: keys of the runs.
    """
    found: dict[str, AirflowTask] = {}
    for row in tx.rows("incidents/of_airflow", runs=list(runs)):
        facet = contents([Facet("airflow", row["facet"] or "")])
        dag, task = member(facet.get("airflow"), "dag"), member(facet.get("airflow"), "task")
        run = member(facet.get("airflow"), "dagRun")
        values = dag.get("dag_id"), task.get("task_id"), run.get("logical_date") or run.get("execution_date")
        if all(isinstance(value, str) and value for value in values):
            found[row["key"]] = AirflowTask(*map(str, values))
    return sorted(set(found.values())), set(found) == set(runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionRule:
    """Declared mapping of partitions of a job.

    Attributes:
        input, output: keys of the datasets, as declared.
        input_field, output_field: partition columns of the input and of the output.
        transform: rule that computes the output's value from the input's value.
    """

    input: str
    input_field: str
    output: str
    output_field: str
    transform: str


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_LENGTHS: Final = {"day": 10, "month": 7, "year": 4}
"""Rule that shortens a date ⇒ number of characters that it keeps."""
_SAME: Final = frozenset({"identity", "same"})


def _transformed(transform: str, value: str) -> str | None:
    """Apply a rule, such as `month` or `month of`; None: the rule doesn't fit the value, or is text for people."""
    rule = transform.strip().lower().removesuffix(" of")
    if rule in _SAME:
        return value
    return value[: _LENGTHS[rule]] if rule in _LENGTHS and _DATE.match(value) else None


def partition_rules(tx: Transaction, job: str) -> list[PartitionRule]:
    """Declared partition mappings of a job, by its key."""
    names = ("input", "input_field", "output", "output_field", "transform")
    return [
        PartitionRule(**{name: row[name] for name in names})
        for row in tx.rows("incidents/partition_mappings", jobs=[job])
    ]


def mapped(rule: PartitionRule, partitions: Iterable[str]) -> tuple[str, ...]:
    """Partitions of the output for partitions of the input, by a rule; empty unless the rule fits all partitions.

    Args:
        partitions: partitions of the input as `key=value` paths.
    """
    found: set[str] = set()
    for partition in partitions:
        values = dict(step.split("=", 1) for step in partition.split("/") if "=" in step)
        value = _transformed(rule.transform, values[rule.input_field]) if rule.input_field in values else None
        if value is None:
            return ()
        found.add(f"{rule.output_field}={value}")
    return tuple(sorted(found))
