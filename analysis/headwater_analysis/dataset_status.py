"""Status of datasets now: the last run that wrote each, and the results of its latest checks.

The last run is found in the index of runs by state and time: the job's WRITES has the time of the run. The last run of
a streaming query is found in the index of the query's runs. Runs that failed without a write are found among the
estate's latest `MOST_FAILED` failed runs. So a table with a million runs costs as much as a table with two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater_analysis.assets import Asset
from headwater_analysis.identity import Identities
from headwater_analysis.moments import moment_of
from headwater_analysis.quality import quality_of
from headwater_analysis.reader import Transaction
from headwater_schemas.events import RunEventType

MOST_FAILED = 1_000
"""Maximum number of the estate's latest failed runs, and of its latest aborted runs, to search for outputs."""
_MOST_WRITERS = 3
"""Maximum number of a dataset's jobs whose runs are looked up: the jobs that wrote it last."""
_FEW_RUNS = 200
"""Maximum number of a job's runs to read one by one, if the time of the job's write finds no run."""


class CheckOutcome(StrEnum):
    """Result of the latest checks of a dataset."""

    PASSED = "PASSED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class LastRun:
    """Last run that wrote a dataset, even if it failed.

    Attributes:
        run_id: id of the run.
        state: state of the run; None if no event reports it.
        at: end of the run, else the time when it was last seen.
    """

    run_id: str
    state: RunEventType | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class DatasetStatus:
    """Status of a dataset now.

    Attributes:
        last_run: known run that wrote it and was seen last; None if no such run is known.
        quality: FAILED if an assertion of its latest checks failed, PASSED if none did. None without checks, and for an
            asker who may not see everything.
    """

    last_run: LastRun | None
    quality: CheckOutcome | None


def status_of(tx: Transaction, datasets: Mapping[int, Asset]) -> dict[int, DatasetStatus]:
    """Status of shown datasets, by Neo4j's id; the number of statements doesn't depend on the number of datasets."""
    if not datasets:
        return {}
    identities = Identities.of(tx)
    nodes = identities.expanded(datasets)
    latest: dict[int, tuple[tuple[int, str], Mapping[str, Any]]] = {}
    states = [state.value for state in RunEventType]
    written = tx.rows("status/written", nodes=nodes, states=states, writers=_MOST_WRITERS, few=_FEW_RUNS)
    for row in (*written, *tx.rows("status/failed", nodes=nodes, most=MOST_FAILED)):
        run, node = row["run"], identities.shown_node(row["node"])
        rank = (run["last_seen"] or 0, run["key"])
        if node not in latest or rank > latest[node][0]:
            latest[node] = rank, run
    quality = {
        each.dataset.key: CheckOutcome.FAILED if each.failed else CheckOutcome.PASSED
        for each in quality_of(tx, datasets.values())
    }
    return {
        node: DatasetStatus(_last_run(latest[node][1]) if node in latest else None, quality.get(asset.key))
        for node, asset in datasets.items()
    }


def _last_run(run: Mapping[str, Any]) -> LastRun:
    at = run["ended_at"] if run["ended_at"] is not None else run["last_seen"]
    return LastRun(run["run_id"], RunEventType(run["state"]) if run["state"] else None, moment_of(at))
