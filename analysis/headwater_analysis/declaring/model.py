"""Fields of a file of declarations. The JSON Schema for editors is made from these classes (`json_schema`)."""

from __future__ import annotations

import difflib
import re
from datetime import date
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Final
from zoneinfo import available_timezones

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, WithJsonSchema

from headwater_analysis.durations import read_duration
from headwater_schemas.events import ConsumerType, MarkSpread, Sensitivity, TransformationKind

SCHEMA_ID: Final = "https://headwater/schemas/declarations-1.schema.json"

_DAY = 86_400
_LARGEST: Final = (1 << 63) - 1
"""Largest integer of events and the graph."""

Name = Annotated[str, Field(min_length=1)]


def _symbols(enum: type[StrEnum]) -> tuple[BeforeValidator, WithJsonSchema]:
    """Validator and JSON Schema for an enum's symbols except UNKNOWN."""
    names = [one.value for one in enum if one.value != "UNKNOWN"]

    def check(value: Any) -> Any:
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return value

    return BeforeValidator(check), WithJsonSchema({"enum": names})


SensitivityName = Annotated[Sensitivity, *_symbols(Sensitivity)]
TypeOfConsumer = Annotated[ConsumerType, *_symbols(ConsumerType)]
Spread = Annotated[MarkSpread, *_symbols(MarkSpread)]
Kind = Annotated[TransformationKind, *_symbols(TransformationKind)]


def _seconds(value: Any) -> int:
    if (seconds := read_duration(value)) > _LARGEST:
        raise ValueError("is too large")
    return seconds


def _days(value: Any) -> int:
    try:
        seconds = read_duration(value)
    except ValueError:
        seconds = 1
    if seconds % _DAY:
        raise ValueError("write whole days or weeks: 14d or 2w")
    return _seconds(value) // _DAY


_WRITTEN = {"type": "string", "pattern": r"^\d+ ?(s|m|h|d|w)$", "examples": ["15m", "2h"]}
Seconds = Annotated[int, BeforeValidator(_seconds), WithJsonSchema(_WRITTEN)]
Days = Annotated[
    int, BeforeValidator(_days), WithJsonSchema({"type": "string", "pattern": r"^\d+ ?(d|w)$", "examples": ["14d"]})
]


_DAY_OF_WEEK = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_DAYS_OF_WEEK = f"{_DAY_OF_WEEK}(?:[-,]{_DAY_OF_WEEK})*"
_DEADLINE = rf"^(?:{_DAYS_OF_WEEK} )?(?:[01]\d|2[0-3]):[0-5]\d(?: (\S+))?$"
_OFFSET = re.compile(r"Z|(?:UTC)?[+-](?:0\d|1[0-4]):[0-5]\d")


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _deadline(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text: put it into quotes")  # noqa: TRY004 - pydantic expects ValueError
    found = re.fullmatch(_DEADLINE, value)
    if found is None:
        raise ValueError("write a time of day: 06:00 Europe/Berlin, or Mon-Fri 07:30 UTC")
    zone = found[1]
    # Without a database of time zones, as in a small image, every zone is accepted.
    known = _zones() if zone is not None and not _OFFSET.fullmatch(zone) else ()
    if known and zone not in known:
        near = difflib.get_close_matches(str(zone), sorted(known), n=1)
        raise ValueError(f"there is no time zone {zone}" + (f"; the nearest is {near[0]}" if near else ""))
    return value


Deadline = Annotated[
    str,
    BeforeValidator(_deadline),
    WithJsonSchema({"type": "string", "pattern": _DEADLINE, "examples": ["06:00 Europe/Berlin", "Mon-Fri 07:30 UTC"]}),
]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Named(_Part):
    """A dataset or job with a namespace other than the file's."""

    namespace: str
    """Namespace as in OpenLineage, e.g. `kafka://broker-1:9092`."""
    name: Name


Ref = Name | Named
"""A name in the file's namespace, or a name with its namespace."""


class OwnerOf(_Part):
    """An owner and the kind of ownership."""

    name: Name
    type: Name | None = None
    """Kind of ownership, e.g. `MAINTAINER`, `STEWARD`."""


class _Described(_Part):
    description: str | None = None
    """Description for people."""
    owners: list[Name | OwnerOf] | None = None
    """Owners, e.g. `team:flights`."""
    tags: dict[Name, str | None] | None = None
    """Keys and values."""
    glossary: list[Name] | None = None
    """Terms of a glossary, or their addresses."""
    classification: Name | None = None
    """Kind of data, in a word of your own."""
    sensitivity: SensitivityName | None = None
    """Sensitivity of the data."""
    criticality: Name | None = None
    """Importance of what depends on it, e.g. `tier-1`."""
    certified: StrictBool | None = None
    """Certified: others may rely on it."""
    freshness: Seconds | None = None
    """Greatest age of its data, e.g. `15m`."""
    deadline: Deadline | None = None
    """Time by which its data must be complete, with a time zone, e.g. `Mon-Fri 06:00 Europe/Berlin`."""
    notice: Days | None = None
    """Notice that people need before a change, e.g. `14d`."""
    on_call: Name | None = None
    """Channel of the people on call, e.g. `#flights-on-call`."""
    contact: Name | None = None
    """Address for questions."""
    url: Name | None = None
    """Address of its page."""


def _date(value: Any) -> Any:
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise ValueError("write a day: 2027-06-30") from None


Day = Annotated[str, BeforeValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]


class ApprovalOf(_Part):
    """A reviewed approval of the sensitivity of a column that is made from more sensitive ones."""

    covers: SensitivityName
    """Greatest sensitivity of sources that was reviewed; a more sensitive source isn't approved."""
    sensitivity: SensitivityName
    """Sensitivity of the column by the review."""
    by: Name
    """Approver."""
    reason: Name
    """Reason for the approval."""
    until: Day | None = None
    """Last day of the approval, e.g. `2027-06-30`."""


class Mark(_Part):
    """A mark on the dataset, or on one of its versions."""

    mark: Name
    """`critical`, `legal-hold`, `test`, or a word of your own."""
    version: Name | None = None
    """Version that is marked; without one, the whole dataset."""
    spread: Spread = MarkSpread.NONE
    """Spread to datasets upstream (UPSTREAM), or to datasets downstream (DOWNSTREAM)."""
    reason: Name | None = None
    """Reason for people."""


class Column(_Part):
    """A column of a dataset."""

    type: Name | None = None
    """Data type, e.g. `decimal(10,2)`, `array<string>`; `integer` and `number` are of any width."""
    description: str | None = None
    """Description for people."""
    classification: Name | None = None
    """Kind of data, in a word of your own."""
    sensitivity: SensitivityName | None = None
    """Sensitivity of the column."""
    tags: dict[Name, str | None] | None = None
    """Keys and values."""
    glossary: list[Name] | None = None
    """Terms of a glossary, or their addresses."""
    approval: ApprovalOf | None = None
    """Approval of its sensitivity, where it is made from more sensitive columns."""
    smallest_group: Annotated[StrictInt, Field(ge=1, le=_LARGEST)] | None = None
    """For an aggregate: least number of rows that each value is made from."""


class Dataset(_Described):
    """A dataset."""

    name: Name
    namespace: str | None = None
    """Namespace, if it isn't the file's."""
    keep: Days | None = None
    """Retention of its data, e.g. `400d`."""
    reference: StrictBool | None = None
    """Reference data, in which others look up values."""
    marks: list[Name | Mark] | None = None
    """Marks of the dataset and of its versions: `critical`, `legal-hold`, `test`, or words of your own."""
    columns: dict[Name, Column | None] | None = None
    """Columns by path: `value.tailnum`, `legs.[].carrier`."""


class ColumnInput(_Part):
    """An input of an output column, and how the output is derived from it."""

    dataset: Ref
    column: Name | None = None
    """Path of the input column; without one, the dataset as a whole."""
    kind: Kind = TransformationKind.DERIVE
    """Kind of transformation from the input to the output."""
    masking: StrictBool = False
    """Masking: the input's value can't be read back from the output."""
    expression: Name | None = None
    """Formula, for people."""


class ColumnOutput(_Part):
    """An output column and its inputs."""

    dataset: Ref
    column: Name | None = None
    """Path of the output column; without one, every column."""
    inputs: list[ColumnInput]


class Partitions(_Part):
    """Partitions of an input that become partitions of an output: day to month, date to region."""

    input: Ref
    input_field: Name
    output: Ref
    output_field: Name
    transform: Name
    """Function of the partitions, e.g. `month`, `region of`."""


class Job(_Described):
    """A job, also one that nothing captures: an API call, a spreadsheet."""

    name: Name
    namespace: str | None = None
    """Namespace, if it isn't the file's."""
    inputs: list[Ref] | None = None
    """Datasets that the job reads."""
    outputs: list[Ref] | None = None
    """Datasets that the job writes."""
    columns: list[ColumnOutput] | None = None
    """Column lineage of the job."""
    partitions: list[Partitions] | None = None


class Read(_Part):
    """A dataset that a consumer reads, as a whole or some of its columns."""

    dataset: Ref
    columns: list[Name] | None = None
    """Paths of the columns; without any, the whole dataset."""


class Consumer(_Described):
    """A person or system that reads datasets at the end of a pipeline."""

    name: Name
    """Name, unique among all consumers, e.g. `looker/delay board`."""
    type: TypeOfConsumer | None = None
    reads: list[Name | Named | Read] | None = None


class Declarations(_Part):
    """A declaration set: a team's descriptions of its datasets, jobs and consumers."""

    set: Name
    """Id of the set. Declarations that leave the file are withdrawn from the set of this id."""
    revision: Annotated[StrictInt, Field(ge=1, le=_LARGEST // 2)] | None = None
    """Number of the revision. Default: 1 more than the number in the graph."""
    namespace: str | None = None
    """Namespace of all names without a namespace."""
    datasets: list[Dataset] = []
    jobs: list[Job] = []
    consumers: list[Consumer] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a file."""
    schema = Declarations.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}
