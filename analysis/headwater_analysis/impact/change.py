"""Changes, and the part of the data that a change affects: subjects of impact questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from headwater_analysis.errors import QuestionError


class ChangeType(StrEnum):
    """Type of a change.

    - SCHEMA_BREAKING, SCHEMA_COMPATIBLE: change of a column's schema, by `SchemaChange`.
    - DATA_INCORRECT: values are wrong.
    - FRESHNESS_BREACH: data is late.
    - PRIVACY_RECLASSIFICATION: data is more sensitive than was thought.
    - ASSET_DEPRECATED: the asset will be removed.
    - BACKFILL_RESTATEMENT: past data is rewritten.
    """

    SCHEMA_BREAKING = "SCHEMA_BREAKING"
    SCHEMA_COMPATIBLE = "SCHEMA_COMPATIBLE"
    DATA_INCORRECT = "DATA_INCORRECT"
    FRESHNESS_BREACH = "FRESHNESS_BREACH"
    PRIVACY_RECLASSIFICATION = "PRIVACY_RECLASSIFICATION"
    ASSET_DEPRECATED = "ASSET_DEPRECATED"
    BACKFILL_RESTATEMENT = "BACKFILL_RESTATEMENT"

    @property
    def of_schema(self) -> bool:
        """True for changes of a schema."""
        return self in (ChangeType.SCHEMA_BREAKING, ChangeType.SCHEMA_COMPATIBLE)


class SchemaChange(StrEnum):
    """Change of a column's schema.

    - ADDED, REMOVED, RENAMED, RETYPED.
    - NULLABILITY: the column may hold nulls from now on, or may no longer hold any.
    - ENUM: the set of allowed values gets larger or smaller.
    - UNIT: numbers have another unit: cents, not euros.
    - MEANING: the meaning of the values changes.
    - PARTITIONING: the dataset is partitioned by other columns; a change of the dataset as a whole.
    """

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    RENAMED = "RENAMED"
    RETYPED = "RETYPED"
    NULLABILITY = "NULLABILITY"
    ENUM = "ENUM"
    UNIT = "UNIT"
    MEANING = "MEANING"
    PARTITIONING = "PARTITIONING"


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of the dataset's data. Each given attribute narrows the part.

    Attributes:
        partition: partition of a topic, `3`, or of a table or folder, `day=2013-01-02`.
        first_offset: first offset of a topic's partition.
        end_offset: offset after the last one of a topic's partition; None: all from `first_offset` on.
        since: only records that arrived in Kafka at this time or later.
        until: only records that arrived in Kafka before this time.
        read_time: whether `since` and `until` are times when jobs read the records, rather than arrival times.
    """

    partition: str | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    read_time: bool = False

    def check(self) -> None:
        """Check the fields.

        Raises:
            QuestionError: a field is invalid; the error names it.
        """
        if replace(self, read_time=False) == Extent():
            raise QuestionError("`extent` is empty: give a partition, offsets or times.", field="extent")
        if self.first_offset is None and self.end_offset is not None:
            raise QuestionError("`end_offset` needs a `first_offset`.", field="extent")
        if self.first_offset is not None:
            if self.partition is None or not self.partition.isdecimal():
                raise QuestionError("Offsets need the number of one `partition` of a topic.", field="extent")
            if self.first_offset < 0 or (self.end_offset is not None and self.end_offset <= self.first_offset):
                raise QuestionError("Offsets go from `first_offset`, 0 or more, up to `end_offset`.", field="extent")
            if self.since is not None or self.until is not None:
                raise QuestionError("Give offsets or times, not both.", field="extent")
        if any(time is not None and time.tzinfo is None for time in (self.since, self.until)):
            raise QuestionError("`since` and `until` need a time zone.", field="extent")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise QuestionError("`since` isn't before `until`.", field="extent")


@dataclass(frozen=True, slots=True)
class ImpactChange:
    """A change of a dataset or column.

    Attributes:
        dataset: name or key of a dataset, or of a column: `orders#price`.
        column: field path of the column; None: the whole dataset or column that `dataset` names.
        type: type of the change; for a schema change it follows from the other fields.
        schema: kind of a schema change.
        new_name: new name of a RENAMED column, if known.
        new_type: new type of a RETYPED or ADDED column.
        nullable: whether the column may hold nulls after the change, if NULLABILITY changes.
        extent: part of the data that changes; None: all data.
    """

    dataset: str
    column: str | None = None
    type: ChangeType | None = None
    schema: SchemaChange | None = None
    new_name: str | None = None
    new_type: str | None = None
    nullable: bool | None = None
    extent: Extent | None = None

    def check(self) -> None:
        """Check the fields.

        Raises:
            QuestionError: a field is invalid; the error names it.
        """
        if self.schema is None and self.type is None:
            raise QuestionError("A change needs `schema` or `type`.", field="type")
        if self.schema is None and self.type is not None and self.type.of_schema:
            known = ", ".join(SchemaChange)
            raise QuestionError(f"A change of a column needs `schema`, one of {known}.", field="schema")
        if self.schema is not None:
            self._check_schema(self.schema)
        if self.type is ChangeType.FRESHNESS_BREACH and self.column is not None:
            raise QuestionError("A dataset is late as a whole: leave `column` out.", field="column")
        if self.extent is not None:
            if self.type in (None, ChangeType.ASSET_DEPRECATED) or self.schema is not None:
                raise QuestionError("This change affects all data: leave `extent` out.", field="extent")
            self.extent.check()

    def _check_schema(self, schema: SchemaChange) -> None:
        if self.type is not None and not self.type.of_schema:
            raise QuestionError(f"{self.type} is no change of the schema: leave `schema` out.", field="schema")
        if schema is SchemaChange.PARTITIONING and self.column is not None:
            raise QuestionError("A dataset is partitioned as a whole: leave `column` out.", field="column")
        if schema is not SchemaChange.PARTITIONING and self.column is None:
            raise QuestionError("A change of a schema needs the changed `column`.", field="column")
        gone = schema in (SchemaChange.REMOVED, SchemaChange.RENAMED)
        if gone and self.type is ChangeType.SCHEMA_COMPATIBLE:
            raise QuestionError(f"Readers of a column need it: {schema} isn't compatible.", field="type")
        for field, goes_with in _GOES_WITH.items():
            if getattr(self, field) is not None and schema not in goes_with:
                raise QuestionError(f"`{field}` goes with {' or '.join(goes_with)}.", field=field)


_GOES_WITH = {
    "new_name": (SchemaChange.RENAMED,),
    "new_type": (SchemaChange.RETYPED, SchemaChange.ADDED),
    "nullable": (SchemaChange.NULLABILITY,),
}
