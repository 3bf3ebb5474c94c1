"""`headwater gate`: check if open incidents cover data that a job is about to read."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import JsonOption, console, shortened
from headwater.errors import CheckFailedError
from headwater.graph_command import document
from headwater.graph_reader import answer_of
from headwater.incident import views
from headwater.lean_imports import without
from headwater.options import DatasetArgument, TenantOption, TimeoutOption
from headwater.trace_options import arrived
from headwater_schemas.events import IncidentSeverity

with without("numpy", "pandas"):
    from headwater_analysis.incidents.gate import GateAnswer, gate


def command(
    dataset: DatasetArgument,
    *,
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Only these partitions are read: day=2025-01-31/hour=3.", show_default=False),
    ] = None,
    max_severity: Annotated[
        IncidentSeverity | None,
        typer.Option(
            "--max-severity",
            case_sensitive=False,
            help="Only incidents of this severity or worse count. An incident without a severity always counts.",
            show_default=False,
        ),
    ] = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show whether open incidents cover the data that a job would read. Exit status 5: one does, or possibly does.

    The reach of the incidents is computed from the current graph; their recorded reach isn't used.

    headwater gate delays --partition day=2025-01-31 --max-severity sev2 && spark-submit report.py
    """
    answered = answer_of(
        lambda reader: gate(reader, dataset, partition=partition, worst=max_severity, arrivals=arrived),
        lambda server: server.get(
            ("gate",),
            GateAnswer,
            {"dataset": dataset, "partition": partition, "max_severity": max_severity},
        ),
        tenant=tenant,
        timeout_seconds=timeout,
    )
    found = answered.answer
    console.result(document(found, answered.graph, filtered=answered.filtered), views.gate_view(found))
    if answered.graph.stale is not None:
        console.warning(f"The graph is stale: {answered.graph.stale}.")
    if not found.is_free:
        names = ", ".join(shortened(hold.incident) for hold in found.holds[:5])
        raise CheckFailedError(
            f"{shortened(found.dataset.spelling)} is held{f' by {names}' if names else ''}.",
            fix="`headwater incident show` lists the bad data: repair it, or resolve the incident.",
        )
