"""Inputs of a severity besides the step itself: dependants of the asset, declared promises, its state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater_schemas.events import Sensitivity


class InputGroup(StrEnum):
    """Inputs that are looked up together, and only where a policy asks for them."""

    DECLARED = "DECLARED"
    CONSUMERS = "CONSUMERS"
    JOBS = "JOBS"
    PUBLICATION = "PUBLICATION"
    QUALITY = "QUALITY"


class QualityState(StrEnum):
    """Result of the latest checks of a dataset: all assertions held, or some didn't."""

    PASSED = "PASSED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class ConsumerInput:
    """A declared consumer of the asset.

    Attributes:
        name: name of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX, TEAM, where declared.
        criticality: declared criticality.
        deadline: time of day when its data has to be there.
        freshness_seconds: greatest age of its data.
    """

    name: str
    type: str | None = None
    criticality: str | None = None
    deadline: str | None = None
    freshness_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class JobInput:
    """A job that makes the asset on the path of the change, and its criticality."""

    name: str
    criticality: str


@dataclass(frozen=True, slots=True)
class SeverityInputs:
    """Inputs of a severity besides the step.

    Attributes:
        criticality: criticality of the dataset, declared or reported.
        jobs: jobs with a criticality that make the asset on the path of the change, by name.
        consumers: declared consumers of the asset, by name.
        deadline: declared deadline of the dataset's data.
        freshness_seconds: declared greatest age of the dataset's data.
        sensitivity: declared sensitivity of the column, or else of its dataset.
        classification: classification of the column, or else of its dataset, declared or reported, in the
            organisation's words.
        publication: publication by the latest run that wrote the dataset: PUBLISHED, PARTIAL, UNPUBLISHED.
        quality: result of the dataset's latest checks; None: it isn't checked.
        failed: failed assertions.
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
