"""Inputs of a policy: facts of a step, and of the asset that it hits.

Facts of an asset are its dependants, declared promises, and state.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from headwater_analysis.lineage.scope import Influence
from headwater_schemas.events import Sensitivity


class Cause(StrEnum):
    """Cause of an asset's hit, by its relation to the previous asset on the path.

    - VALUE: the column's value is computed from the previous column.
    - CHOICE: the previous column decides which value the column has: a CASE, a window.
    - LOOKUP: the previous column decides from which row of another dataset the value is taken: the key of a join.
    - ROWS: the previous column decides which rows the dataset has: a filter, join, group or sort.
    - JOB: the job that writes the dataset fails in analysis, so nothing is written.
    - FLOW: the previous dataset feeds the dataset.
    - UNSEEN: a job reads the previous dataset, and its column lineage is missing or incomplete.
    """

    VALUE = "VALUE"
    CHOICE = "CHOICE"
    LOOKUP = "LOOKUP"
    ROWS = "ROWS"
    JOB = "JOB"
    FLOW = "FLOW"
    UNSEEN = "UNSEEN"


class StepFacts(NamedTuple):
    """Facts of a step, for conditions of a policy.

    Attributes:
        influence: DIRECT if the values of the start go into the asset by DIRECT steps only; else INDIRECT.
        kind: kind of transformation, `AGGREGATE`; None between datasets.
        masking: whether the original value can't be recovered.
        first: whether it is the first hop.
        type: type of the reached dataset, or of the reached column's dataset; `''`: unknown.
        criticality: criticality of this dataset; `''`: unknown.
        parted: whether the reached column has fields of its own, which are columns too.
    """

    cause: Cause
    influence: Influence
    kind: str | None
    masking: bool
    first: bool
    type: str
    criticality: str
    parted: bool


class InputGroup(StrEnum):
    """Inputs that are looked up together, and only if a policy needs them."""

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
        deadline: time of day by which its data has to be there.
        freshness_seconds: declared greatest age of its data, in seconds.
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
    """Facts of an asset that can change its severity; the step's own facts are in `StepFacts`.

    Attributes:
        criticality: criticality of the dataset, declared or reported.
        jobs: jobs with a criticality that make the asset on the path of the change, by name.
        consumers: declared consumers of the asset, by name.
        deadline: declared deadline of the dataset's data.
        freshness_seconds: declared greatest age of the dataset's data, in seconds.
        sensitivity: declared sensitivity of the column, or else of its dataset.
        classification: classification of the column, or else of its dataset, declared or reported, in the
            organisation's words.
        publication: publication by the latest run that wrote the dataset: PUBLISHED, PARTIAL, UNPUBLISHED.
        quality: result of the dataset's latest checks; None: the dataset isn't checked.
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
