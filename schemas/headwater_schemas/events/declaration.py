"""DeclarationEvent and DeclarationSetEvent: declarations in reviewed files, as sets that are revised as a whole.

A set is named by its id. A DeclarationEvent has one declared asset of a set: a dataset with its columns, a job or a
consumer. The event is identified by the digest of its content (`identity.declaration_digest`) and never changes. A
DeclarationSetEvent lists the digests of one revision of the set. A declaration holds while the latest revision of its
set lists it. A revision that no longer lists a declaration withdraws it; a later revision may list it again.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, JobRef, Natural, Owner, Tag, Text
from headwater_schemas.events.plan import ColumnLineage


class Sensitivity(StrEnum):
    """Sensitivity of values, from PUBLIC, the least, to RESTRICTED (each reader needs permission)."""

    UNKNOWN = "UNKNOWN"
    PUBLIC = "PUBLIC"
    INTERNAL = "INTERNAL"
    CONFIDENTIAL = "CONFIDENTIAL"
    PII = "PII"
    RESTRICTED = "RESTRICTED"


class ConsumerType(StrEnum):
    """Type of a consumer at the end of a pipeline."""

    UNKNOWN = "UNKNOWN"
    DASHBOARD = "DASHBOARD"
    REPORT = "REPORT"
    API = "API"
    MODEL = "MODEL"
    EXPORT = "EXPORT"
    SEARCH_INDEX = "SEARCH_INDEX"
    TEAM = "TEAM"


class MarkSpread(StrEnum):
    """Direction in which a mark spreads: to the datasets upstream or downstream of the marked dataset."""

    UNKNOWN = "UNKNOWN"
    NONE = "NONE"
    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"


class DatasetMark(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Mark of a dataset, or of one of its versions.

    Attributes:
        mark: `critical`, `legal-hold`, `test`, or the organisation's own word.
        version: marked version, as a run reports it; None: the whole dataset.
        spread: direction in which the mark also holds for other datasets; None: it doesn't spread.
        reason: text for people.
    """

    mark: Text
    version: str | None = None
    spread: MarkSpread | None = None
    reason: str | None = None


class Approval(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Reviewed approval of the sensitivity of a column that is derived from more sensitive columns.

    Attributes:
        covers: greatest reviewed sensitivity of sources; a more sensitive source isn't approved.
        sensitivity: sensitivity of the column by the review.
        by: name of the approver.
        until: last day of the approval, e.g. `2027-06-30`; None: no end.
    """

    covers: Sensitivity
    sensitivity: Sensitivity
    by: Text
    reason: Text
    until: str | None = None


class DeclaredColumn(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A column of a declared dataset.

    Attributes:
        path: field path, see `ColumnEdge`.
        description: text for people.
        classification: a word of the organisation's own, e.g. `customer data`.
        tags: key and value.
        glossary: terms, or addresses of terms.
        approval: approval of the column's sensitivity, if the column is derived from more sensitive columns.
        smallest_group: for an aggregate: minimum number of rows behind each value.
        type: declared data type, e.g. `decimal(10,2)`, `array<string>`; `integer` and `number` are of any
            width.
    """

    path: Text
    description: str | None = None
    classification: str | None = None
    sensitivity: Sensitivity | None = None
    tags: tuple[Tag, ...] | None = None
    glossary: tuple[str, ...] | None = None
    approval: Approval | None = None
    smallest_group: Natural | None = None
    type: str | None = None


class DatasetRead(msgspec.Struct, frozen=True, order=True):
    """Dataset that a consumer reads: some of its columns, or all if none is named."""

    dataset: DatasetRef
    columns: tuple[str, ...] = ()


class PartitionMapping(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Mapping from partitions of an input to partitions of an output.

    Attributes:
        input: a dataset that the job reads.
        output: a dataset that the job writes.
        input_field, output_field: their partition columns.
        transform: rule that turns the input's value into the output's value, e.g. `month`, `region of`.
    """

    input: DatasetRef
    output: DatasetRef
    input_field: Text
    output_field: Text
    transform: Text


class DeclarationEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One declared asset of a set: exactly one of `dataset`, `job` and `consumer` is set. A None declares nothing.

    Attributes:
        consumer: name of the consumer that is declared.
        description: text for people.
        owners, tags, glossary: sets; glossary has terms, or addresses of terms.
        classification: a word of the organisation's own.
        criticality: importance for its readers, e.g. `tier-1`.
        certified: True if others may rely on it.
        freshness_seconds: maximum age of its data.
        deadline: time by which its data has to be there, e.g. `06:00 Europe/Berlin`.
        notice_days: minimum number of days between notice and change.
        on_call: channel of the people on call.
        contact: person or channel for messages.
        url: page for people.
        keep_days: for a dataset: number of days for which its data is kept.
        reference: for a dataset: True if it is reference data: outputs use it, but aren't derived from it.
        columns: for a dataset: its columns.
        marks: for a dataset: marks of it and of its versions.
        inputs, outputs: for a job: its datasets.
        lineage: for a job: column lineage.
        partitions: for a job: partition mappings.
        type: for a consumer: its type.
        reads: for a consumer: the datasets that it reads.
    """

    set: Text
    dataset: DatasetRef | None = None
    job: JobRef | None = None
    consumer: Text | None = None
    description: str | None = None
    owners: tuple[Owner, ...] | None = None
    tags: tuple[Tag, ...] | None = None
    glossary: tuple[str, ...] | None = None
    classification: str | None = None
    sensitivity: Sensitivity | None = None
    criticality: str | None = None
    certified: bool | None = None
    freshness_seconds: Natural | None = None
    deadline: str | None = None
    notice_days: Natural | None = None
    on_call: str | None = None
    contact: str | None = None
    url: str | None = None
    keep_days: Natural | None = None
    reference: bool | None = None
    columns: tuple[DeclaredColumn, ...] | None = None
    marks: tuple[DatasetMark, ...] | None = None
    inputs: tuple[DatasetRef, ...] | None = None
    outputs: tuple[DatasetRef, ...] | None = None
    lineage: ColumnLineage | None = None
    partitions: tuple[PartitionMapping, ...] | None = None
    type: ConsumerType | None = None
    reads: tuple[DatasetRead, ...] | None = None


class DeclarationSetEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A revision of a declaration set. The highest number holds; among revisions of equal number, the latest event.

    Attributes:
        revision: number of the revision, from 1.
        items: digests of its declarations, ascending; empty: the whole set is withdrawn.
        format: format of the source: `headwater`, `odcs`, `dbt`.
        source: location of the source, for people, e.g. a file and a commit.
        document: text of the source, if some of its fields have no counterpart in declarations.
    """

    set: Text
    revision: Natural
    items: tuple[str, ...]
    format: str | None = None
    source: str | None = None
    document: str | None = None
