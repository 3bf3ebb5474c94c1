"""What decides a severity besides the step itself: who depends on the asset, what is promised of it, its state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater_schemas.events import Sensitivity


class InputGroup(StrEnum):
    """What is looked up together, and only where a policy asks for it."""

    DECLARED = "DECLARED"
    CONSUMERS = "CONSUMERS"
    JOBS = "JOBS"
    PUBLICATION = "PUBLICATION"
    QUALITY = "QUALITY"


class QualityState(StrEnum):
    """What the latest checks of a dataset found: all assertions held, or some didn't."""

    PASSED = "PASSED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class ConsumerInput:
    """A declared consumer of the asset.

    Attributes:
        name: of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX, TEAM, where declared.
        criticality: as declared.
        deadline: when its data has to be there.
        freshness_seconds: how old its data may be.
    """

    name: str
    type: str | None = None
    criticality: str | None = None
    deadline: str | None = None
    freshness_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class JobInput:
    """A job that makes the asset on the way of the change, and its criticality."""

    name: str
    criticality: str


@dataclass(frozen=True, slots=True)
class SeverityInputs:
    """All that a severity is decided by besides the step.

    Attributes:
        criticality: of the dataset, declared or reported.
        jobs: the jobs with a criticality that make the asset on the way of the change, by name.
        consumers: the declared consumers of the asset, by name.
        deadline: of the dataset: when its data has to be there, as declared.
        freshness_seconds: of the dataset: how old its data may be, as declared.
        sensitivity: of the column, or else of its dataset, as declared.
        classification: of the column, or else of its dataset, declared or reported, in the organisation's words.
        publication: whether the latest run that wrote the dataset published it whole: PUBLISHED, PARTIAL, UNPUBLISHED.
        quality: what the latest checks of the dataset found; None: it isn't checked.
        failed: the assertions that didn't hold.
    """

    criticality: str | None = None
    jobs: tuple[JobInput, ...] = ()
    consumers: tuple[ConsumerInput, ...] = ()
    deadline: str | None = None
    freshness_seconds: int | None = None
    sensitivity: Sensitivity | None = None
    classification: str | None = None
    publication: str | None = None
    quality: QualityState | None = None
    failed: tuple[str, ...] = ()
