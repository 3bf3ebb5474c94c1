"""Answers about backfill campaigns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_analysis.assets import Asset
from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.incidents.answers import IncidentBrief, SentNotification
from headwater_analysis.incidents.planning.planned import RepairStepKind
from headwater_analysis.paging import Page
from headwater_analysis.runs.records import RunItem
from headwater_analysis.trace.traced_parts import Part
from headwater_schemas.events import Certainty, RunEventType


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignBrief:
    """A campaign in a list.

    Attributes:
        campaign: id of the campaign.
        runs: number of runs.
        unfinished: number of runs without an end.
        failed: number of runs that failed or were aborted.
        began: start of the first run.
        latest: start of the latest run.
    """

    campaign: str
    runs: int
    unfinished: int
    failed: int
    began: datetime | None
    latest: datetime | None


@dataclass(frozen=True, slots=True)
class CampaignPage(Page):
    """Page of campaigns, the one with the latest run first."""

    items: tuple[CampaignBrief, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsInState:
    """Number of a campaign's runs in one state.

    Attributes:
        state: the state; None: no event reports the state of these runs.
        runs: number of runs in this state.
    """

    state: RunEventType | None
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignJob:
    """A job of a campaign.

    Attributes:
        latest: latest run of the job in the campaign.
        runs: number of runs of the job in the campaign.
        unfinished: number of these runs without an end.
        failed: number of these runs that failed or were aborted.
    """

    latest: RunItem
    runs: int
    unfinished: int
    failed: int


class Restatement(StrEnum):
    """Kind of a campaign's writes to a dataset.

    - REPLACED: the writes replaced all data of the dataset.
    - PARTITIONS: the writes replaced all data of some partitions.
    - VERSIONS: the writes made new versions of a table. The earlier rows that they replaced aren't reported.
    - APPENDED: the writes added records or files, and don't report any replaced data.
    - UNKNOWN: the dataset was written. The written or replaced data isn't reported.
    """

    REPLACED = "REPLACED"
    PARTITIONS = "PARTITIONS"
    VERSIONS = "VERSIONS"
    APPENDED = "APPENDED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatedWrite:
    """Writes of one kind to a dataset.

    Attributes:
        kind: kind of the writes.
        runs: number of runs with such writes.
        partitions: for PARTITIONS: the replaced partitions, as `key=value` paths.
        parts: written parts of the dataset.
    """

    kind: Restatement
    runs: int
    partitions: tuple[str, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatedDataset:
    """A dataset that a campaign wrote to.

    Attributes:
        dataset: the dataset.
        writes: writes of the campaign, one entry for each kind.
    """

    dataset: Asset
    writes: tuple[RestatedWrite, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBad:
    """A dataset that holds bad data of an incident now.

    Attributes:
        dataset: the dataset.
        certainty: strongest certainty of `parts`.
        parts: parts that hold bad data.
    """

    dataset: Asset
    certainty: Certainty
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLeft:
    """A step of an open incident's plan that writes data again.

    Attributes:
        kind: RERUN or REPROCESS.
        title: the step in one line.
        job: job of the step.
    """

    kind: RepairStepKind
    title: str
    job: Asset | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignIncident:
    """An incident whose bad data a campaign replaced, or whose id is that of the campaign.

    Attributes:
        incident: the incident.
        replaced: bad data that runs of the campaign replaced.
        bad: datasets with bad data now, the nearest to the bad records first.
        complete: false: there may be more bad data.
        unknown: unknown parts of the incident's reach, a few words each.
        notified: latest notification of each recipient.
        left: for an open incident: steps of its plan that still have to write data again.
    """

    incident: IncidentBrief
    replaced: tuple[Superseded, ...]
    bad: tuple[LeftBad, ...]
    complete: bool
    unknown: tuple[str, ...]
    notified: tuple[SentNotification, ...]
    left: tuple[StepLeft, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentNotification:
    """Notification of a consumer by an incident.

    Attributes:
        incident: id of the incident.
        sent: the latest notification.
    """

    incident: str
    sent: SentNotification


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignConsumer:
    """A consumer that reads restated datasets.

    Attributes:
        consumer: the consumer, and the restated datasets that it reads.
        notified: notifications of the consumer by the campaign's incidents; empty: none is recorded.
    """

    consumer: ReadingConsumer
    notified: tuple[IncidentNotification, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Answer: a campaign as the graph is now.

    Attributes:
        campaign: id of the campaign.
        as_of: time of the answer.
        states: numbers of runs by state.
        runs: number of runs.
        unfinished: number of runs without an end.
        failed: number of runs that failed or were aborted.
        began: start of the first run.
        ended: end of the last run; None: a run has no end, or no end is known.
        jobs: jobs of the runs, the one with the latest run first.
        restated: datasets that the campaign wrote to, by name.
        campaign_incidents: incidents whose bad data the campaign replaced, and the incident with the campaign's id; by
            id.
        followed: number of incidents whose reach was computed for this answer: all open incidents, and incidents that
            were resolved after the campaign began; each up to a limit.
        consumers: declared consumers of restated datasets, the most critical first, then by notice and name.
        unknown: unknown facts, a few words each; empty: everything is known.
        notes: further remarks, as sentences.
    """

    campaign: str
    as_of: datetime
    states: tuple[RunsInState, ...]
    runs: int
    unfinished: int
    failed: int
    began: datetime | None
    ended: datetime | None
    jobs: tuple[CampaignJob, ...]
    restated: tuple[RestatedDataset, ...]
    campaign_incidents: tuple[CampaignIncident, ...]
    followed: int
    consumers: tuple[CampaignConsumer, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
