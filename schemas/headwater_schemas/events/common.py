"""Types that several bodies share: references, versions, owners and tags."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec

# Constraints that msgspec checks in C, in `codec.encode` and `Decoder.decode`; a constructor checks nothing.
Time: TypeAlias = Annotated[datetime, msgspec.Meta(tz=True)]
Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Natural: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Natural32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class ProcessingType(StrEnum):
    """OpenLineage's `processingType` of a job."""

    UNKNOWN = "UNKNOWN"
    BATCH = "BATCH"
    STREAMING = "STREAMING"


class JobRef(msgspec.Struct, frozen=True):
    """A job by name, as OpenLineage names it. The tenant comes from the event.

    Example: `JobRef("flights", "enrich")`.
    """

    namespace: str
    name: Text


class RunRef(msgspec.Struct, frozen=True):
    """Run by its id, a UUID as text; for a streaming query the `runId` of one start."""

    run_id: Text


class DatasetRef(msgspec.Struct, frozen=True, order=True):
    """A dataset by OpenLineage's naming spec. The tenant comes from the event.

    Example: `DatasetRef("kafka://localhost:9092", "flights.departed")`.
    """

    namespace: str
    name: Text


class EngineRef(msgspec.Struct, frozen=True):
    """The engine that ran a job, e.g. `EngineRef("spark", "4.0.0")`."""

    name: str
    version: str


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """Versions of the code and configuration that a run used.

    Attributes:
        code: a version of the job's code, by default its git commit.
        config: a digest or name of the run's configuration.
        capture: version of Headwater's capture.
    """

    code: str | None = None
    config: str | None = None
    engine: EngineRef | None = None
    capture: str | None = None


class Owner(msgspec.Struct, frozen=True, order=True):
    """OpenLineage's owner: `Owner("team:flights", "MAINTAINER")`."""

    name: str
    type: str | None = None


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """OpenLineage's tag of a dataset, or of its field `field` if set."""

    key: str
    value: str | None = None
    source: str | None = None
    field: str | None = None
