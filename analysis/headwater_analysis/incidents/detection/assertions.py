"""Failed assertions of runs and of micro-batches.

| checked by                   | part with bad data                                                              |
|------------------------------|---------------------------------------------------------------------------------|
| a run that wrote the dataset | the run                                                                         |
| a run that only read it      | dataset or column: data written since the job's assertion passed last           |
| a micro-batch                | the micro-batch                                                                 |

An outcome without a dataset is about the output of its run or micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from headwater_analysis import micro_batches
from headwater_analysis.assets import Asset
from headwater_analysis.incidents.detection.data_fault import (
    MOST_FAULTS,
    AssertionSeverity,
    DataFault,
    DataFaultKind,
    FoundFaults,
    latest,
)
from headwater_analysis.incidents.detection.named import (
    FaultyQuery,
    ShownDatasets,
    cause_text,
    dataset_ref,
    faulty_queries,
    job_text,
)
from headwater_analysis.moments import moment
from headwater_analysis.quality import AT_ONCE, LOOKED_AT
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.from_rows import quality
from headwater_analysis.runs.records import Quality
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.segments import segment
from headwater_schemas.events import IncidentClock, IncidentScope
from headwater_schemas.naming import spelling

MOST_SEGMENTS: Final = 200
"""Number of a query's latest segments that are searched: 102,400 micro-batches, one each second for a day."""


def assertions_of_runs(tx: Transaction, since: datetime) -> FoundFaults:
    """Find failed assertions of runs whose last event is at or after `since`."""
    rows = tx.rows("faults/failed_checks", since=since, limit=MOST_FAULTS + 1)
    datasets = ShownDatasets(tx, (dataset for row in rows for _, _, dataset in row["uses"]))
    faults: list[DataFault] = []
    unknown: list[str] = []
    wants: list[dict[str, Any]] = []
    for row in rows[:MOST_FAULTS]:
        for outcome, found in _of_run(row, datasets):
            if isinstance(found, str):
                unknown.append(found)
                continue
            if found.part.dataset is not None:
                wants.append({"n": len(faults), "job": row["job"]["key"], "before": row["seen"], **_identity(outcome)})
            faults.append(found)
    for row in tx.rows("faults/passed_before", wants=wants, looked_at=LOOKED_AT) if wants else ():
        fault, passed = faults[row["n"]], moment(row["at"])
        if passed is not None and fault.part.until is not None and passed < fault.part.until:
            part = msgspec.structs.replace(fault.part, since=passed)
            faults[row["n"]] = replace(fault, part=part)
    return latest(faults, more=len(rows) > MOST_FAULTS, unknown=unknown)


def _identity(outcome: Quality) -> dict[str, str]:
    """Fields of an outcome that are equal for the same assertion in other runs."""
    return {
        "assertion": outcome.assertion,
        "column": outcome.column or "",
        "namespace": outcome.dataset_namespace or "",
        "name": outcome.dataset_name or "",
    }


def _of_run(row: Mapping[str, Any], datasets: ShownDatasets) -> Iterator[tuple[Quality, DataFault | str]]:
    """Failed outcomes of a run, each with its fault, or with a clause on what isn't known about it."""
    run_id, job = row["run"]["run_id"], job_text(row["job"]["namespace"], row["job"]["name"])
    ended = moment(row["ended"])  # without an end: time of the run's last event
    uses = [(use, is_uncommitted, datasets.of(dataset["key"])) for use, is_uncommitted, dataset in row["uses"]]
    wrote = {asset.key: asset for use, is_uncommitted, asset in uses if use == "PRODUCED" and not is_uncommitted}
    read = {asset.key: asset for use, _, asset in uses if use == "CONSUMED"}
    uncommitted = {asset.key for _, is_uncommitted, asset in uses if is_uncommitted}
    for outcome in quality(row["run"]):
        if outcome.passed:
            continue
        if not outcome.dataset_name:
            if wrote:
                about = sorted(wrote.values(), key=lambda asset: asset.spelling)
                yield outcome, _fault(outcome, about, job, IncidentScope(run=run_id), ended, datasets)
            elif not uncommitted:
                yield outcome, f"the data that {outcome.assertion} in run {run_id} checked: the run has no known output"
            continue
        key = datasets.key_of(outcome.dataset_namespace or "", outcome.dataset_name)
        if key in wrote:
            yield outcome, _fault(outcome, [wrote[key]], job, IncidentScope(run=run_id), ended, datasets)
        elif key in read:
            column, clock = datasets.column(read[key], outcome.column), IncidentClock.PROCESSING
            part = IncidentScope(dataset=dataset_ref(read[key]), column=column, until=ended, clock=clock)
            fault = _fault(outcome, [read[key]], job, part, ended, datasets)
            yield outcome, replace(fault, began=moment(row["began"]))
        elif key not in uncommitted:
            name = spelling(outcome.dataset_namespace or "", outcome.dataset_name)
            yield outcome, f"the bad part of {name}: run {run_id}, which checked it, isn't known to use it"


def _fault(
    outcome: Quality,
    about: Sequence[Asset],
    job: str,
    part: IncidentScope,
    at: datetime | None,
    datasets: ShownDatasets,
) -> DataFault:
    rule = outcome.rule.upper() if outcome.rule else None
    column = f" on {outcome.column}" if outcome.column else ""
    # With several datasets the cause names none: the next run may write fewer datasets, and must have an equal cause.
    of_dataset = f" of {about[0].spelling}" if len(about) == 1 else ""
    severity = AssertionSeverity.of(outcome.severity)
    # Another severity has an incident of its own: added to that of an error, it would change the incident's severity.
    stated = None if severity is AssertionSeverity.ERROR else severity.value
    in_cause = f" ({stated})" if stated else ""
    # Without a column, several assertions of a rule may be of several columns: names of observed metrics say which.
    named = rule if rule and outcome.column else " ".join(filter(None, (rule, outcome.assertion)))
    facts = ", ".join(filter(None, (rule, stated)))
    in_title = f" ({facts})" if facts else ""
    return DataFault(
        kind=DataFaultKind.ASSERTION,
        cause=cause_text(f"assertion {named}{in_cause}{column}{of_dataset} by {job}"),
        title=f"{outcome.assertion}{in_title}{column}{of_dataset} failed in {job}",
        datasets=tuple(name for asset in about for name in datasets.names(asset)),
        part=part,
        at=at,
        rule=rule,
        assertion_severity=severity,
    )


def assertions_of_batches(tx: Transaction, since: datetime) -> FoundFaults:
    """Find failed assertions of micro-batches that began at `since` or later, or at an unknown time."""
    rows = tx.rows("faults/failed_batches", since=since, looked_at=MOST_SEGMENTS)
    queries = faulty_queries(tx, (row["query"] for row in rows))
    wanted = sorted(((row["query"], batch) for row in rows for batch in row["batches"]), key=lambda each: -each[1])
    faults: list[DataFault] = []
    most = MOST_SEGMENTS * segment.SIZE
    unknown = [
        f"assertions before the latest {most:,} micro-batches of query {queries[row['query']].text}"
        for row in rows
        if row["cut"]
    ]
    more = False
    for first in range(0, len(wanted), AT_ONCE):
        if len(faults) > MOST_FAULTS:
            more = True
            break
        for interval in micro_batches.at_batches(tx, wanted[first : first + AT_ONCE]):
            began = micro_batches.processing_time(interval)
            if began is None or began >= since:
                faults += _of_batch(tx, interval, queries[interval.query], began)
    return latest(faults, more=more, unknown=unknown)


def _of_batch(
    tx: Transaction, interval: IntervalFacts, query: FaultyQuery, began: datetime | None
) -> Iterator[DataFault]:
    row = micro_batches.row(interval)
    wrote = {dataset for type_, dataset, _ in row["uses"] if type_ == RelType.PRODUCED.value}
    used = {dataset for _, dataset, _ in row["uses"]}
    datasets = ShownDatasets(tx, (each["properties"] for each in tx.rows("micro_batches/datasets", keys=sorted(used))))
    part = IncidentScope(query=query.query_id, from_batch=interval.batch_id, to_batch=interval.batch_id)
    for outcome in quality(row["properties"]):
        if outcome.passed:
            continue
        keys = sorted(wrote)
        if outcome.dataset_name is not None:
            keys = [
                key for key in [datasets.key_of(outcome.dataset_namespace or "", outcome.dataset_name)] if key in used
            ]
        yield _fault(outcome, [datasets.of(key) for key in keys], query.job, part, began, datasets)
