"""Questions about backfill campaigns: the list, and one campaign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from headwater_analysis import paging
from headwater_analysis.blast.blast_radius import LIMIT
from headwater_analysis.declared import consumers_of_datasets
from headwater_analysis.errors import NotFoundError
from headwater_analysis.incidents.campaigns.campaign_answers import (
    Campaign,
    CampaignBrief,
    CampaignConsumer,
    CampaignIncident,
    CampaignJob,
    CampaignPage,
    IncidentNotification,
    RunsInState,
)
from headwater_analysis.incidents.campaigns.repaired import repaired
from headwater_analysis.incidents.campaigns.restated import ENDED, restated
from headwater_analysis.incidents.recipients import recipient_name
from headwater_analysis.moments import moment
from headwater_analysis.paging import EPOCH, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.from_rows import run_items
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import Datasets
from headwater_graph.keys import campaign_key
from headwater_schemas.events import RunEventType

MOST_JOBS: Final = 200
"""Maximum number of jobs of a campaign in an answer: the jobs with the latest runs."""
_MOST_CANDIDATES: Final = 5
_FAILED: Final = (RunEventType.FAIL, RunEventType.ABORT)


def campaigns(reader: Reader, *, limit: int = 50, cursor: str | None = None) -> CampaignPage:
    """List campaigns, the one with the latest run first.

    Raises:
        QuestionError: a limit below 1 or a cursor of another question.
    """
    check_limit(limit)
    asked = ("campaigns", reader.tenant)

    def question(tx: Transaction) -> CampaignPage:
        began, key = paging.decode_moment(cursor, question=asked)
        total = tx.one("campaigns/count")["total"]
        rows = tx.rows(
            "campaigns/list",
            ended=list(map(str, ENDED)),
            failed=list(map(str, _FAILED)),
            began=began,
            key=key,
            epoch=EPOCH,
            limit=limit + 1,
        )
        more = None
        if len(rows) > limit:
            last = rows[limit - 1]
            more = paging.encode_moment(moment(last["latest"]), last["key"], question=asked)
        return CampaignPage(tuple(map(_brief, rows[:limit])), total, more)

    return reader.read(question)


def _brief(row: Any) -> CampaignBrief:
    return CampaignBrief(
        campaign=row["campaign"],
        runs=row["runs"],
        unfinished=row["unfinished"],
        failed=row["failed"],
        began=moment(row["began"]),
        latest=moment(row["latest"]),
    )


def campaign(reader: Reader, campaign_id: str, *, arrivals: Arrivals | None = None) -> Campaign:
    """Return one campaign: its runs, the data that they restated, the incidents that they repaired, and what is left.

    Args:
        campaign_id: id of the campaign, as its runs report it.
        arrivals: as in `trace`.

    Raises:
        NotFoundError: no run has this campaign id; with the ids of the latest campaigns.
    """

    def question(tx: Transaction) -> Campaign:
        key = campaign_key(tx.tenant, campaign_id)
        rows = tx.rows("campaigns/states", campaign=key)
        if not rows:
            listed: dict[str, Any] = {
                "ended": [],
                "failed": [],
                "began": None,
                "key": "",
                "epoch": EPOCH,
                "limit": _MOST_CANDIDATES,
            }
            latest = [row["campaign"] for row in tx.rows("campaigns/list", **listed)]
            raise NotFoundError(f"No run has the campaign id {campaign_id!r}.", nearest=latest)
        return _campaign(tx, campaign_id, key, rows, arrivals)

    return reader.read(question)


def _campaign(tx: Transaction, campaign_id: str, key: str, rows: Sequence[Any], arrivals: Arrivals | None) -> Campaign:
    states = tuple(
        RunsInState(state=RunEventType(row["state"]) if row["state"] else None, runs=row["runs"]) for row in rows
    )
    total = sum(each.runs for each in states)
    unfinished = sum(each.runs for each in states if each.state not in ENDED)
    begins = [time for row in rows if (time := moment(row["began"])) is not None]
    ends = [time for row in rows if (time := moment(row["ended"])) is not None]
    began = min(begins, default=None)
    context = Context(tx, Datasets(tx), backward=False, horizon=None, limit=LIMIT, arrivals=arrivals)
    jobs = _jobs(tx, key)
    datasets, unknown = restated(context, key, total=total)
    of_incidents = repaired(tx, campaign_id, key, began=began, arrivals=arrivals)
    more_jobs = [f"jobs beyond the latest {MOST_JOBS}"] if sum(each.runs for each in jobs) < total else []
    return Campaign(
        campaign=campaign_id,
        as_of=datetime.now(UTC),
        states=states,
        runs=total,
        unfinished=unfinished,
        failed=sum(each.runs for each in states if each.state in _FAILED),
        began=began,
        ended=max(ends, default=None) if not unfinished else None,
        jobs=jobs,
        restated=datasets,
        campaign_incidents=of_incidents.incidents,
        followed=of_incidents.followed,
        consumers=_consumers(tx, [each.dataset.key for each in datasets], of_incidents.incidents),
        unknown=(*more_jobs, *unknown, *of_incidents.unknown),
        notes=tuple(context.notes),
    )


def _jobs(tx: Transaction, key: str) -> tuple[CampaignJob, ...]:
    rows = tx.rows(
        "campaigns/jobs",
        campaign=key,
        ended=list(map(str, ENDED)),
        failed=list(map(str, _FAILED)),
        epoch=EPOCH,
        limit=MOST_JOBS,
    )
    latest = run_items(tx, [row["run"] for row in rows])
    return tuple(
        CampaignJob(latest=run, runs=row["runs"], unfinished=row["unfinished"], failed=row["failed"])
        for run, row in zip(latest, rows, strict=True)
    )


def _consumers(
    tx: Transaction, datasets: Iterable[str], incidents: Sequence[CampaignIncident]
) -> tuple[CampaignConsumer, ...]:
    """Consumers of restated datasets, each with its notifications by the campaign's incidents."""
    return tuple(
        CampaignConsumer(
            consumer=consumer,
            notified=tuple(
                IncidentNotification(incident=each.incident.incident, sent=sent)
                for each in incidents
                for sent in each.notified
                if sent.recipient == recipient_name(consumer.name)
            ),
        )
        for consumer in consumers_of_datasets(tx, datasets)
    )
