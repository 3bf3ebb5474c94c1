"""IncidentEvent: one action on an incident, from its opening to its resolution, with the parts of its scope.

An incident is identified by its id. Its events are a log: no event contains the incident's state. The state follows
from the actions in order of their time, by one function (`headwater_graph.incidents`).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, JobRef, Natural, Text, Time
from headwater_schemas.events.position import Certainty, OffsetRange


class IncidentAction(StrEnum):
    """Action on an incident."""

    UNKNOWN = "UNKNOWN"
    OPENED = "OPENED"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    ASSIGNED = "ASSIGNED"
    SCOPE_CHANGED = "SCOPE_CHANGED"
    MERGED = "MERGED"
    SUPERSEDED = "SUPERSEDED"
    REPAIRED = "REPAIRED"
    RESOLVED = "RESOLVED"
    REOPENED = "REOPENED"
    NOTED = "NOTED"
    REACHED = "REACHED"
    NOTIFIED = "NOTIFIED"


class IncidentSeverity(StrEnum):
    """Severity of an incident: SEV1 is the worst. SEV1 to SEV5 are OpenMetadata's Severity1 to Severity5."""

    UNKNOWN = "UNKNOWN"
    SEV1 = "SEV1"
    SEV2 = "SEV2"
    SEV3 = "SEV3"
    SEV4 = "SEV4"
    SEV5 = "SEV5"


class IncidentType(StrEnum):
    """Type of fault."""

    UNKNOWN = "UNKNOWN"
    BAD_RECORDS = "BAD_RECORDS"
    MISSING_DATA = "MISSING_DATA"
    DUPLICATES = "DUPLICATES"
    LATE = "LATE"
    SCHEMA = "SCHEMA"
    BROKEN_CHAIN = "BROKEN_CHAIN"
    FAILED_RUN = "FAILED_RUN"
    WRONG_CODE = "WRONG_CODE"
    PRIVACY = "PRIVACY"
    CUSTOM = "CUSTOM"


class IncidentResolution(StrEnum):
    """Result of a resolved incident: OpenMetadata's reasons, and REPAIRED."""

    UNKNOWN = "UNKNOWN"
    FALSE_POSITIVE = "FALSE_POSITIVE"
    MISSING_DATA = "MISSING_DATA"
    DUPLICATES = "DUPLICATES"
    OUT_OF_BOUNDS = "OUT_OF_BOUNDS"
    REPAIRED = "REPAIRED"
    OTHER = "OTHER"


class NotificationChange(StrEnum):
    """Reason for a notification, from the view of its recipient."""

    UNKNOWN = "UNKNOWN"
    OPENED = "OPENED"
    REACHED = "REACHED"
    CHANGED = "CHANGED"
    CLEARED = "CLEARED"
    RESOLVED = "RESOLVED"


class IncidentClock(StrEnum):
    """Clock of a time span: the records' event time, or the time at which they were processed."""

    UNKNOWN = "UNKNOWN"
    EVENT = "EVENT"
    PROCESSING = "PROCESSING"


class IncidentScope(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a scope: exactly one of `dataset`, `job`, `run`, `query` and `consumer`, and fields that narrow it.

    A record is in the part if it matches every field that is set. A scope is a set of parts; it contains the records
    of all its parts.

    Attributes:
        dataset: a dataset.
        job: all runs of a job.
        run: id of a run.
        query: id of a streaming query.
        consumer: name of a declared consumer.
        column: of a dataset: field path of a column, see `ColumnEdge`.
        partition: of a dataset: partitions as a `key=value/…` path.
        offsets: of a dataset: ranges of a topic, ascending by partition and offset, apart from each other.
        files: of a dataset: set of paths.
        version: of a dataset: a version, as a run reports it.
        code_version: of a job: runs of this version of its code.
        from_batch, to_batch: of a query: first and last micro-batch, both inclusive; None: no bound.
        since, until: time span, half-open; None: no bound.
        since_last_good: of a dataset, job or query: true: everything since its last good run.
    """

    dataset: DatasetRef | None = None
    job: JobRef | None = None
    run: Text | None = None
    query: Text | None = None
    consumer: Text | None = None
    column: Text | None = None
    partition: Text | None = None
    offsets: tuple[OffsetRange, ...] | None = None
    files: tuple[Text, ...] | None = None
    version: Text | None = None
    code_version: Text | None = None
    from_batch: Natural | None = None
    to_batch: Natural | None = None
    since: Time | None = None
    until: Time | None = None
    clock: IncidentClock | None = None
    since_last_good: bool | None = None


class ReachedPart(msgspec.Struct, frozen=True, kw_only=True):
    """Part of a dataset that holds bad data: the fields that are set describe it; if none is set, the whole dataset.

    Attributes:
        topic_id: Kafka's id of the topic's incarnation to which `offsets` belong.
        offsets: ranges of a topic, ascending by partition and offset, apart from each other.
        files: paths, at most 100.
        format: format of the table to which `version` and `from_version` belong.
        version: version of the table that holds bad data, as a run reports it.
        from_version: of a range of versions: the version before the first.
        partitions: partitions as `key=value/…` paths.
        position: opaque position, which only the data's source understands.
        since, until: time span in which the part can have been written, if the part isn't known more exactly.
    """

    certainty: Certainty
    topic_id: Text | None = None
    offsets: tuple[OffsetRange, ...] | None = None
    files: tuple[Text, ...] | None = None
    file_count: Natural | None = None
    format: Text | None = None
    version: Text | None = None
    from_version: Text | None = None
    partitions: tuple[Text, ...] | None = None
    position: Text | None = None
    since: Time | None = None
    until: Time | None = None


class ReachedDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset that bad records reached, with the parts that still hold bad data.

    Attributes:
        depth: hops from the dataset in which the bad records began; 0: they began in this dataset.
        certainty: certainty that bad data reached the dataset.
        since: earliest time at which bad data was written there; None if unknown.
        cleared: true: all of the bad data was replaced, dropped or repaired since.
        parts: parts that still hold bad data, at most 100; empty if cleared.
        digest: SHA-256, in hex, of all parts: it also changes with parts that aren't listed.
    """

    dataset: DatasetRef
    depth: Natural
    certainty: Certainty
    since: Time | None = None
    cleared: bool
    parts: tuple[ReachedPart, ...]
    part_count: Natural
    digest: Text


class NotifiedRecipient(msgspec.Struct, frozen=True, kw_only=True):
    """An owner or consumer who got a message about an incident.

    Attributes:
        recipient: name of the owner or consumer, at most 200 characters.
        channel: name of the channel, never its address, at most 200 characters.
        digest: SHA-256, in hex, of the facts in the message, so that no message is sent twice.
        change: reason for the message.
    """

    recipient: Text
    channel: Text
    digest: Text
    change: NotificationChange


class IncidentEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One action on an incident.

    Attributes:
        incident: id of the incident, at most 200 characters.
        by: person or program that acted.
        reason: reason of the action; RESOLVED needs one.
        title: one line for people; OPENED needs one.
        description: text for people.
        cause: text that names the cause, at most 1,000 characters. There is one open incident for each cause.
        scope: set of parts. OPENED and SCOPE_CHANGED add them to the scope; REPAIRED declares them repaired.
        removed: of SCOPE_CHANGED: set of parts that are removed, each equal to one that was added.
        assignee: of ASSIGNED: person or team.
        into: of MERGED and SUPERSEDED: id of the incident that replaces this one.
        resolution: of RESOLVED: the result.
        reached: of REACHED: datasets that the bad records reached, ascending by namespace and name, each once.
        as_of: of REACHED: time at which the graph was queried.
        complete: of REACHED: false if a limit was reached, or something can't be known.
        notified: of NOTIFIED: recipients who got a message, ascending, each once, at most 1,000.
    """

    incident: Text
    action: IncidentAction
    by: Text
    reason: str | None = None
    title: Text | None = None
    description: str | None = None
    severity: IncidentSeverity | None = None
    type: IncidentType | None = None
    cause: Text | None = None
    scope: tuple[IncidentScope, ...] | None = None
    removed: tuple[IncidentScope, ...] | None = None
    assignee: Text | None = None
    into: Text | None = None
    resolution: IncidentResolution | None = None
    reached: tuple[ReachedDataset, ...] | None = None
    as_of: Time | None = None
    complete: bool | None = None
    notified: tuple[NotifiedRecipient, ...] | None = None
