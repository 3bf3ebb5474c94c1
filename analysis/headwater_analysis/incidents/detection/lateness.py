"""Datasets that weren't written within their declared freshness, or the declared freshness of a consumer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from headwater_analysis import micro_batches
from headwater_analysis.assets import Asset
from headwater_analysis.dataset_status import status_of
from headwater_analysis.declared import declared
from headwater_analysis.durations import duration_text
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.detection.data_fault import DataFault, DataFaultKind, FoundFaults, latest
from headwater_analysis.incidents.detection.named import ShownDatasets, cause_text, dataset_ref
from headwater_analysis.micro_batches import Stretch, Wanted
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.list_runs import ask_runs
from headwater_analysis.runs.records import Role
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts
from headwater_schemas.events import IncidentClock, IncidentScope, RunEventType

_LATEST_RUNS: Final = 20
"""Maximum number of a dataset's latest complete runs that are read to find its latest complete batch run."""
_AFTER: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class _Promise:
    """Shortest freshness that is declared for a dataset.

    Attributes:
        asset: the dataset.
        node: Neo4j's id of the dataset.
        seconds: longest allowed time between writes.
        by: consumer that declares the freshness; None: it is declared for the dataset itself.
    """

    asset: Asset
    node: int
    seconds: int
    by: str | None


def late_datasets(tx: Transaction, since: datetime, now: datetime) -> FoundFaults:
    """Find datasets whose last complete write is older than their declared freshness.

    A completed run is a complete write, and so is each micro-batch. A fault's `part` is all data up to the last write:
    readers get nothing newer.

    Args:
        since: look-back: datasets that became late before this time are only named in `earlier`.
        now: time at which datasets have to be fresh.
    """
    rows = tx.rows("faults/promised") if tx.declarations else []
    datasets = ShownDatasets(tx, (row["dataset"] for row in rows))
    stated = declared(tx, {row["subject"] for row in rows}) if rows else {}
    promises: dict[str, _Promise] = {}
    for row in rows:
        asset = datasets.of(row["dataset"]["key"])
        seconds = stated[row["subject"]].values.get("freshness_seconds") if row["subject"] in stated else None
        if seconds is None or Identities.of(tx).is_dropped(asset.key):
            continue
        known = promises.get(asset.key)
        if known is None or seconds < known.seconds:
            named = Identities.of(tx).named(asset.key)
            node = row["node"] if named is None else named.id
            promises[asset.key] = _Promise(asset, node, int(seconds), row["consumer"])
    if promises and tx.freshness.stale is not None:
        number = len(promises)
        return FoundFaults(
            unknown=(f"whether {number:,} dataset{'s are' if number != 1 else ' is'} fresh: {tx.freshness.stale}",)
        )
    writes = _last_writes(tx, list(promises.values()))
    faults: list[DataFault] = []
    unknown: list[str] = []
    earlier: list[str] = []
    for key, promise in promises.items():
        written, name = writes.get(key), promise.asset.spelling
        if written is None:
            unknown.append(f"whether {name} is fresh: no complete write is known")
            continue
        missed = written + timedelta(seconds=promise.seconds)
        if missed >= now:
            continue
        if missed < since:
            earlier.append(name)
            continue
        reader = "" if promise.by is None else f" for {promise.by}"
        faults.append(
            DataFault(
                kind=DataFaultKind.STALE,
                cause=cause_text(f"freshness of {name}"),
                title=f"{name} is late: its declared freshness{reader} is {duration_text(promise.seconds)}",
                datasets=datasets.names(promise.asset),
                part=IncidentScope(
                    dataset=dataset_ref(promise.asset), until=written + _AFTER, clock=IncidentClock.PROCESSING
                ),
                at=missed,
            )
        )
    return latest(faults, unknown=unknown, earlier=earlier)


def _last_writes(tx: Transaction, promises: Sequence[_Promise]) -> dict[str, datetime]:
    """For the key of each dataset: end of its last complete write. Datasets without a known write are left out."""
    statuses = status_of(tx, {each.node: each.asset for each in promises})
    found = {}
    for each in promises:
        times = list(_of_batches(tx, each.asset))
        last = statuses[each.node].last_run
        # If there are micro-batches, `last_run` isn't used: a streaming run may end long after its last micro-batch.
        if not times and last is not None and last.state is RunEventType.COMPLETE and last.at is not None:
            times.append(last.at)
        else:
            times += _of_runs(tx, each.asset)
        if times:
            found[each.asset.key] = max(times)
    return found


def _of_batches(tx: Transaction, asset: Asset) -> Iterator[datetime]:
    """Ends of the last micro-batch of each streaming query that writes a dataset."""

    def holds(interval: IntervalFacts) -> bool:
        uses = interval.variants[interval.winner].uses
        return micro_batches.processing_time(interval) is not None and any(
            use.type is RelType.PRODUCED and use.dataset == asset.key for use in uses
        )

    queries = tx.rows("runs/queries_of_dataset", of=Identities.of(tx).members(asset.key))
    stretches = [Stretch(row["key"]) for row in queries]
    for found in micro_batches.preceding(tx, stretches, 1, wanted=Wanted(holds)) if stretches else ():
        for interval in found:
            began = micro_batches.processing_time(interval)
            milliseconds = micro_batches.row(interval)["properties"].get("duration_ms") or 0
            if began is not None:
                yield began + timedelta(milliseconds=milliseconds)


def _of_runs(tx: Transaction, asset: Asset) -> Iterator[datetime]:
    """Ends of the latest complete batch runs that wrote a dataset."""
    span: dict[str, Any] = {"since": None, "until": None, "began": None, "key": ""}
    states = [RunEventType.COMPLETE.value]
    for run in ask_runs(tx, "of", asset, Role.WROTE, states=states, limit=_LATEST_RUNS, **span):
        if run.query_id is None and run.ended_at is not None:
            yield run.ended_at
