"""Answers about deletion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.texts import TEXT
from headwater_schemas.events import MarkSpread


class Verdict(StrEnum):
    """Verdict on the deletion.

    - YES: nothing needs the dataset.
    - NO: a dependant needs it.
    - UNKNOWN: no dependant is known, but lineage is incomplete.
    """

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class HeldMark:
    """A mark that applies to the dataset to delete.

    Attributes:
        mark: name of the mark, for example `legal-hold`.
        of: dataset that declares the mark.
        version: marked version; None: the whole dataset.
        spread: direction in which the mark spread from the dataset `of`; NONE: the dataset's own mark.
        hops: hops to `of`.
        reason: declared reason.
        holds: whether this mark forbids deletion.
    """

    mark: str
    of: Asset
    version: str | None
    spread: MarkSpread
    hops: int
    reason: str | None
    holds: bool


@dataclass(frozen=True, slots=True)
class NeedingJob:
    """A job that reads the dataset.

    Attributes:
        job: the job.
        last_seen: last observed read; None: the read is only declared.
        declared: whether the read is declared.
        needs: whether the job forbids the deletion: its read is declared or recent, and it writes more than test data.
        test: whether all its outputs are marked as tests.
    """

    job: Asset
    last_seen: datetime | None
    declared: bool
    needs: bool
    test: bool


@dataclass(frozen=True, slots=True)
class NeedingQuery:
    """A streaming query whose checkpoint refers to the dataset: it can't restart once the dataset is deleted.

    Attributes:
        query_id: id of the query.
        query_name: name of the query, if any.
        job: job of the query, where known.
        checkpoint: location of the checkpoint, where known.
        last_seen: last time it was observed to read the dataset.
    """

    query_id: str
    query_name: str | None
    job: Asset | None
    checkpoint: Annotated[str | None, TEXT]
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class MayDelete:
    """Answer to the question whether a dataset, or one of its versions, may be deleted.

    Attributes:
        dataset: the dataset.
        version: the version; None: the whole dataset.
        newest: for a version, whether no later version is known.
        verdict: verdict on the deletion.
        marks: marks that apply to the dataset: declared for it, or spread to it from other datasets.
        jobs: jobs that read the dataset, or the superseded version; jobs that need it come first.
        jobs_total: number of these jobs.
        queries: queries whose checkpoints refer to the dataset.
        consumers: declared consumers of the dataset.
        unknown: gaps that keep the verdict open, as sentences.
        notes: gaps that don't change the verdict, as sentences.
        since: time from which on observations are recent.
    """

    dataset: Asset
    version: str | None
    newest: bool
    verdict: Verdict
    marks: tuple[HeldMark, ...]
    jobs: tuple[NeedingJob, ...]
    jobs_total: int
    queries: tuple[NeedingQuery, ...]
    consumers: tuple[ReadingConsumer, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    since: datetime
