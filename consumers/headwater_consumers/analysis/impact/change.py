"""What may be changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from headwater_consumers.analysis.errors import QuestionError


class ChangeType(StrEnum):
    """What sort of change it is.

    - SCHEMA_BREAKING, SCHEMA_COMPATIBLE: of a column, as `SchemaChange` has them.
    - DATA_INCORRECT: values are wrong.
    - FRESHNESS_BREACH: data is late.
    - PRIVACY_RECLASSIFICATION: data is more sensitive than was thought.
    - ASSET_DEPRECATED: it will go.
    - BACKFILL_RESTATEMENT: the past is written anew.
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
        """Whether it is a change of a schema."""
        return self in (ChangeType.SCHEMA_BREAKING, ChangeType.SCHEMA_COMPATIBLE)


class SchemaChange(StrEnum):
    """What happens to a column.

    - ADDED, REMOVED, RENAMED, RETYPED.
    - NULLABILITY: it may hold nulls and might not before, or the other way round.
    - ENUM: there may be values in it that there weren't, or it has some no more.
    - UNIT: its numbers count something else: cents, not euros.
    - MEANING: its values stand for something else.
    - PARTITIONING: of the dataset as a whole: its data is divided by other columns.
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
    """A part of the dataset's data. Each that is given narrows it.

    Attributes:
        partition: a topic's, `3`, or a table's or folder's, `day=2013-01-02`.
        first_offset: of a topic's partition, the first.
        end_offset: of a topic's partition, the one after the last; None: all from `first_offset` on.
        since: of a topic, arrived in Kafka at this time or later.
        until: of a topic, arrived before this time.
        read_time: the two are when jobs read it from the topic, in place of when it arrived.
    """

    partition: str | None = None
    first_offset: int | None = None
    end_offset: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    read_time: bool = False

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            QuestionError: naming the field.
        """
        if replace(self, read_time=False) == Extent():
            raise QuestionError("`extent` is empty: a partition, offsets or times.", field="extent")
        if self.first_offset is None and self.end_offset is not None:
            raise QuestionError("`end_offset` needs a `first_offset`.", field="extent")
        if self.first_offset is not None:
            if self.partition is None or not self.partition.isdecimal():
                raise QuestionError("Offsets are of one `partition` of a topic: give its number.", field="extent")
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
    """A change of a dataset, or of one of its columns.

    Attributes:
        dataset: as `resolve_dataset` understands; or a column of it, as `resolve_asset` does.
        column: field path of the column; None: what `dataset` names, as a whole.
        type: what sort of change; of a schema change it follows from the rest.
        schema: what happens to the column, if it is a schema change.
        new_name: of a RENAMED column, if that is known.
        new_type: of a RETYPED or ADDED one.
        nullable: whether the column may hold nulls from then on, if NULLABILITY changes.
        extent: which data, where it isn't all.
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
        """Refuse what makes no sense.

        Raises:
            QuestionError: naming the field.
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
                raise QuestionError("That changes all of the data: leave `extent` out.", field="extent")
            self.extent.check()

    def _check_schema(self, schema: SchemaChange) -> None:
        if self.type is not None and not self.type.of_schema:
            raise QuestionError(f"{self.type} is no change of the schema: leave `schema` out.", field="schema")
        if schema is SchemaChange.PARTITIONING and self.column is not None:
            raise QuestionError("A dataset is partitioned as a whole: leave `column` out.", field="column")
        if schema is not SchemaChange.PARTITIONING and self.column is None:
            raise QuestionError("A schema changes column by column: name one.", field="column")
        gone = schema in (SchemaChange.REMOVED, SchemaChange.RENAMED)
        if gone and self.type is ChangeType.SCHEMA_COMPATIBLE:
            raise QuestionError(
                f"Nobody who reads a column can do without it: {schema} isn't compatible.", field="type"
            )
        for field, goes_with in _GOES_WITH.items():
            if getattr(self, field) is not None and schema not in goes_with:
                raise QuestionError(f"`{field}` goes with {' or '.join(goes_with)}.", field=field)


_GOES_WITH = {
    "new_name": (SchemaChange.RENAMED,),
    "new_type": (SchemaChange.RETYPED, SchemaChange.ADDED),
    "nullable": (SchemaChange.NULLABILITY,),
}
