"""Policy of an impact: the severity of each change, and whether it propagates; read from a file.

The file is TOML. Its rules are tried from the first to the last; the first that fits a step decides.
`default_policy.toml` is the default, and a template for other policies. A mistake is reported with its line, its field,
and the allowed values.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from headwater_analysis.durations import read_duration
from headwater_analysis.impact.change import ChangeType, SchemaChange
from headwater_analysis.impact.policy_inputs import (
    Cause,
    ConsumerInput,
    InputGroup,
    QualityState,
    SeverityInputs,
    StepFacts,
)
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.toml_files import TomlFile
from headwater_schemas.events import ConsumerType, PublicationState, Sensitivity, TransformationKind


class Severity(StrEnum):
    """Severity, in two scales: of schema changes, and of any other change. The worst first.

    Schema changes:

    - BREAKING: a job fails, or a value can no longer be computed.
    - DEGRADED: still works, with poorer, older or possibly wrong results.
    - COSMETIC: the name or form differs, the meaning is equal.
    - NONE: no effect.

    Other changes:

    - CRITICAL: an asset with many dependants is hit; somebody has to act now.
    - BLOCKING: an ongoing publication or removal has to wait.
    - TAINTED: the asset holds wrong data.
    - RESTRICTED: the asset holds data that some of its readers may no longer see.
    - WARNING: the asset may be hit; somebody should look.
    - INFO: good to know.

    UNKNOWN is the severity of a whole answer, never of a step: nobody is known to be affected, and lineage is
    incomplete.
    """

    CRITICAL = "CRITICAL"
    BREAKING = "BREAKING"
    BLOCKING = "BLOCKING"
    TAINTED = "TAINTED"
    RESTRICTED = "RESTRICTED"
    DEGRADED = "DEGRADED"
    WARNING = "WARNING"
    UNKNOWN = "UNKNOWN"
    COSMETIC = "COSMETIC"
    INFO = "INFO"
    NONE = "NONE"

    @property
    def rank(self) -> int:
        """Rank of the severity; 0 is the worst."""
        return _RANKS[self]

    @property
    def of_schema(self) -> bool:
        """True for severities on the scale of schema changes."""
        return self in _OF_SCHEMA


SEVERITIES = tuple(Severity)
"""Severities by rank, the worst first."""

_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}
_OF_STEPS = [severity for severity in Severity if severity is not Severity.UNKNOWN]
_OF_SCHEMA = {Severity.BREAKING, Severity.DEGRADED, Severity.COSMETIC, Severity.NONE}


PLACEHOLDERS = ("changed", "source", "asset", "job")


def _with_known_placeholders(text: str) -> str:
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise ValueError(f"braces that don't match: {error}") from error
    for name in names:
        if name not in PLACEHOLDERS:
            raise ValueError(f"{{{name}}} is unknown; there are {', '.join(f'{{{known}}}' for known in PLACEHOLDERS)}")
    return text


Sentence = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_with_known_placeholders)]
Upper = Annotated[str, AfterValidator(str.upper)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Reading(_Model):
    """Behaviour of readers, by type of dataset.

    Attributes:
        late_bound: types of datasets whose readers get a null for a missing field. Readers of any other type fail when
            a column that they name is gone.
    """

    late_bound: tuple[Upper, ...] = ()


class Rule(_Model):
    """Verdict on the steps that fit all conditions.

    A missing condition fits every step; a condition with several values fits if one of them does.

    Attributes:
        schema_change: `schema` in the file: kind of a schema change.
        cause, influence, kind, masking: conditions on the step.
        first: whether the step is the first hop.
        parted: whether the reached column has fields of its own: a struct, a topic's payload.
        type, criticality: type and criticality of the reached dataset; case doesn't matter.
        propagate: whether the walk continues from here.
        reason, action: sentences; `{changed}`, `{source}`, `{asset}` and `{job}` stand for names.
    """

    change: Annotated[tuple[ChangeType, ...], Field(min_length=1)]
    schema_change: Annotated[tuple[SchemaChange, ...], Field(alias="schema")] = ()
    cause: tuple[Cause, ...] = ()
    influence: Influence | None = None
    kind: tuple[TransformationKind, ...] = ()
    masking: bool | None = None
    first: bool | None = None
    parted: bool | None = None
    type: tuple[Upper, ...] = ()
    criticality: tuple[Upper, ...] = ()
    severity: Severity
    propagate: bool
    reason: Sentence
    action: Sentence

    @model_validator(mode="after")
    def _on_one_scale(self) -> Self:
        for change in self.change:
            if self.severity is Severity.UNKNOWN or change.of_schema != self.severity.of_schema:
                scale = ", ".join(each for each in _OF_STEPS if each.of_schema == change.of_schema)
                raise ValueError(f"severity: {self.severity} isn't a severity of {change}; use one of {scale}")
        if self.schema_change and not all(change.of_schema for change in self.change):
            raise ValueError("schema: only for changes SCHEMA_BREAKING and SCHEMA_COMPATIBLE")
        return self

    @property
    def fits_every_step(self) -> bool:
        """True if the only condition is the type of change."""
        given = self.model_fields_set - {"change", "severity", "propagate", "reason", "action"}
        return all(getattr(self, field) in (None, ()) for field in given)

    def fits(self, change: ChangeType, schema: SchemaChange | None, step: StepFacts) -> bool:
        """Return whether the rule fits this step of this change."""
        return (
            change in self.change
            and (not self.schema_change or schema in self.schema_change)
            and (not self.cause or step.cause in self.cause)
            and (self.influence is None or step.influence is self.influence)
            and (not self.kind or step.kind in self.kind)
            and (self.masking is None or step.masking is self.masking)
            and (self.first is None or step.first is self.first)
            and (self.parted is None or step.parted is self.parted)
            and (not self.type or step.type.upper() in self.type)
            and (not self.criticality or step.criticality.upper() in self.criticality)
        )


class Raise(_Model):
    """Replacement of a severity, for assets that matter more or less than others.

    A missing condition fits everything; a condition with several values fits if one of them does. An unknown value fits
    no condition.

    Attributes:
        change: types of change; empty: all.
        type, criticality: type and criticality of the dataset; case doesn't matter, here and below.
        job_criticality: criticality of a job that makes the asset on the path of the change.
        consumer, consumer_criticality: type and criticality of one consumer of the asset.
        consumed: whether the asset has a declared consumer.
        deadline: whether the asset, or a consumer that matches the two conditions on consumers, has a declared
            deadline.
        freshness: longest declared freshness that fits, of the asset or of a consumer that matches: `1d`.
        sensitivity, classification: sensitivity and classification of the column, or else of its dataset.
        publication: publication by the latest run that wrote the dataset: PUBLISHED, PARTIAL, UNPUBLISHED.
        quality: result of the dataset's latest checks.
        severity: severities to replace, as the rules decided them.
    """

    change: tuple[ChangeType, ...] = ()
    type: tuple[Upper, ...] = ()
    criticality: tuple[Upper, ...] = ()
    job_criticality: tuple[Upper, ...] = ()
    consumer: tuple[ConsumerType, ...] = ()
    consumer_criticality: tuple[Upper, ...] = ()
    consumed: bool | None = None
    deadline: bool | None = None
    freshness: Annotated[int, BeforeValidator(read_duration)] | None = None
    sensitivity: tuple[Sensitivity, ...] = ()
    classification: tuple[Upper, ...] = ()
    publication: tuple[PublicationState, ...] = ()
    quality: tuple[QualityState, ...] = ()
    severity: Annotated[tuple[Severity, ...], Field(min_length=1)]
    to: Severity

    @model_validator(mode="after")
    def _on_one_scale(self) -> Self:
        for severity in self.severity:
            if Severity.UNKNOWN in (severity, self.to):
                raise ValueError("severity, to: only a whole answer is UNKNOWN, never an asset")
            if severity.of_schema != self.to.of_schema:
                raise ValueError(f"to: {severity} and {self.to}: one is for schema changes, the other one isn't")
        return self

    def may_fit(self, change: ChangeType, type_: str, criticality: str, severity: Severity) -> bool:
        """Return whether the conditions that need no lookup fit a verdict."""
        return (
            severity in self.severity
            and (not self.change or change in self.change)
            and (not self.type or type_.upper() in self.type)
            and (not self.criticality or criticality.upper() in self.criticality)
        )

    def fits(self, inputs: SeverityInputs) -> bool:
        """Return whether the conditions that need a lookup fit an asset; call it only if `may_fit`."""
        return (
            (not self.job_criticality or any(job.criticality.upper() in self.job_criticality for job in inputs.jobs))
            and (self.consumed is None or self.consumed == bool(inputs.consumers))
            and (not self._asks_for_consumers or bool(self.consumers_of(inputs)))
            and (self.deadline is None or self.deadline == self._has_deadline(inputs))
            and (self.freshness is None or self._is_fresh(inputs, self.freshness))
            and (not self.sensitivity or inputs.sensitivity in self.sensitivity)
            and (not self.classification or (inputs.classification or "").upper() in self.classification)
            and (not self.publication or inputs.publication in self.publication)
            and (not self.quality or inputs.quality in self.quality)
        )

    def consumers_of(self, inputs: SeverityInputs) -> tuple[ConsumerInput, ...]:
        """Consumers that match the conditions on consumers; without such conditions, all consumers."""
        return tuple(
            each
            for each in inputs.consumers
            if (not self.consumer or each.type in self.consumer)
            and (not self.consumer_criticality or (each.criticality or "").upper() in self.consumer_criticality)
        )

    @property
    def groups(self) -> frozenset[InputGroup]:
        """Groups of inputs that `fits` needs."""
        about_both = self.deadline is not None or self.freshness is not None
        asked = {
            InputGroup.DECLARED: about_both or bool(self.sensitivity or self.classification),
            InputGroup.CONSUMERS: about_both or self.consumed is not None or self._asks_for_consumers,
            InputGroup.JOBS: bool(self.job_criticality),
            InputGroup.PUBLICATION: bool(self.publication),
            InputGroup.QUALITY: bool(self.quality),
        }
        return frozenset(group for group, is_asked in asked.items() if is_asked)

    @property
    def _asks_for_consumers(self) -> bool:
        return bool(self.consumer or self.consumer_criticality)

    def _has_deadline(self, inputs: SeverityInputs) -> bool:
        consumers = self.consumers_of(inputs)
        own = inputs.deadline if not self._asks_for_consumers else None
        return bool(own) or any(each.deadline for each in consumers)

    def _is_fresh(self, inputs: SeverityInputs, most_seconds: int) -> bool:
        own = () if self._asks_for_consumers else (inputs.freshness_seconds,)
        every = (*own, *(each.freshness_seconds for each in self.consumers_of(inputs)))
        return any(seconds is not None and seconds <= most_seconds for seconds in every)


class Policy(_Model):
    """A policy; see the module.

    Attributes:
        reading: behaviour of readers, by type of dataset.
        rules: `[[rule]]` in the file. The last rule for each type of change fits every step.
        raises: `[[raise]]` in the file, tried in order on the rules' verdicts; the first that fits replaces the
            severity.
    """

    reading: Reading = Reading()
    rules: Annotated[tuple[Rule, ...], Field(alias="rule", min_length=1)]
    raises: Annotated[tuple[Raise, ...], Field(alias="raise")] = ()

    @model_validator(mode="after")
    def _decides_everything(self) -> Self:
        for change in ChangeType:
            if not any(change in rule.change and rule.fits_every_step for rule in self.rules):
                raise ValueError(f"no rule fits every {change}: the last rule for it needs no condition but `change`")
        return self

    def binds_late(self, type_: str | None) -> bool:
        """Return whether readers of a dataset of that type get nulls for a removed column."""
        return (type_ or "").upper() in self.reading.late_bound

    def groups_of(self, change: ChangeType) -> frozenset[InputGroup]:
        """Groups of inputs that the raises of a change may need."""
        about = (each.groups for each in self.raises if not each.change or change in each.change)
        return frozenset[InputGroup]().union(*about)

    def judge(self, change: ChangeType, schema: SchemaChange | None, step: StepFacts) -> tuple[Severity, bool, int]:
        """Severity by the rules, whether the change propagates, and the number of the rule, from 0."""
        number, rule = next((n, rule) for n, rule in enumerate(self.rules) if rule.fits(change, schema, step))
        return rule.severity, rule.propagate, number


_FILE = TomlFile(Policy, "policy", {"rule": Rule, "raise": Raise, "reading": Reading})


@cache
def default_policy() -> Policy:
    """Return the policy that comes with Headwater."""
    return parse_policy(default_policy_text(), "default_policy.toml")


def default_policy_text() -> str:
    """Return the text of the default policy's file: a template for other policies."""
    return files(__package__).joinpath("default_policy.toml").read_text(encoding="utf-8")


def load_policy(path: Path) -> Policy:
    """Read the policy of a file.

    Raises:
        QuestionError: the file can't be read, or is no valid policy; the error has line and field.
    """
    return _FILE.load(path)


def parse_policy(text: str, name: str) -> Policy:
    """Parse the policy in `text`; `name` is for messages.

    Raises:
        QuestionError: see `load_policy`.
    """
    return _FILE.parse(text, name)
