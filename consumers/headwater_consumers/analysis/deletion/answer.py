"""Answers about deletion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.declared import ReadingConsumer
from headwater_schemas.events import MarkSpread


class Verdict(StrEnum):
    """Whether it may go.

    - YES: nothing needs it.
    - NO: something does.
    - UNKNOWN: nothing is known to, but what is known isn't complete.
    """

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class HeldMark:
    """A mark that holds for what is to be deleted.

    Attributes:
        mark: `legal-hold`, say.
        of: the dataset that it is declared of.
        version: the version that it is declared of; None: all of the dataset.
        spread: how it came from there, where `of` is another dataset; NONE: it is its own.
        hops: to `of`.
        reason: as declared.
        holds: whether such a mark forbids to delete.
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
    """A job that reads it.

    Attributes:
        job: which.
        last_seen: when it was last observed to; None: it is declared to.
        declared: whether it is declared to.
        needs: whether it counts: it is declared, or was observed lately, and writes something that isn't a test.
        test: whether everything that it writes is marked as a test.
    """

    job: Asset
    last_seen: datetime | None
    declared: bool
    needs: bool
    test: bool


@dataclass(frozen=True, slots=True)
class NeedingQuery:
    """A streaming query whose checkpoint is on it, so that it doesn't start again without it.

    Attributes:
        query_id: of the query.
        query_name: where it has one.
        job: its job, where known.
        checkpoint: where its checkpoint is, where known.
        last_seen: when it was last observed to read it.
    """

    query_id: str
    query_name: str | None
    job: Asset | None
    checkpoint: str | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class MayDelete:
    """Whether a dataset, or one of its versions, may be deleted.

    Attributes:
        dataset: which.
        version: of it; None: all of it.
        newest: whether no later version is known to exist; of a version alone.
        verdict: see there.
        marks: that hold for it, its own and those of others.
        jobs: that read it; of a version that has been superseded, that read this version. Those that need it first.
        jobs_total: how many there are.
        queries: whose checkpoints are on it.
        consumers: that are declared to read it.
        unknown: what isn't known, as sentences.
        notes: what isn't known either, and doesn't change the verdict, as sentences.
        since: observed at this time or later is lately.
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
