"""Policy of incidents that open by themselves: a list of entries; the first entry that fits a fault decides.

The file is TOML. `default_fault_policy.toml` is the default, and a template for other policies. A mistake is reported
with its line, its field, and the allowed values.
"""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from headwater_analysis.incidents.detection.data_fault import (
    RULE_TYPES,
    AssertionSeverity,
    DataFault,
    DataFaultKind,
)
from headwater_analysis.toml_files import TomlFile
from headwater_schemas.events import IncidentSeverity, IncidentType


def _rule(word: str) -> str:
    """Convert a rule to upper case.

    Raises:
        ValueError: the word looks like a misspelled known rule. Any other word is allowed: tools have further rules.
    """
    rule = word.upper()
    nearest = difflib.get_close_matches(rule, RULE_TYPES, n=1, cutoff=0.75)
    if rule not in RULE_TYPES and nearest:
        raise ValueError(f"unknown rule {word!r}; did you mean {nearest[0]}?")
    return rule


def _assertion_severity(given: object) -> AssertionSeverity:
    """Convert a word to a severity.

    Raises:
        ValueError: the word is no severity.
    """
    word = str(given)
    if (severity := AssertionSeverity.known(word)) is not None:
        return severity
    words = [each.value for each in AssertionSeverity]
    nearest = difflib.get_close_matches(word.upper(), words, n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(words)}"
    raise ValueError(f"unknown severity of an assertion {word!r}; {hint}")


def _stated(value: IncidentSeverity | IncidentType | None) -> IncidentSeverity | IncidentType | None:
    if value is not None and value.value == "UNKNOWN":
        raise ValueError("UNKNOWN can't be stated: leave it out")
    return value


_SHORT: Final = Field(min_length=1, max_length=1_000)


class OpenEntry(BaseModel):
    """Decision about the faults that fulfil all conditions.

    A condition that isn't given is fulfilled; a condition with several values is fulfilled by any of them.

    Attributes:
        fault: kind of the fault.
        rules: for ASSERTION: rules of the assertion.
        severities: for ASSERTION: severities of the failure, by the tool that checked; a failure without one is an
            ERROR.
        datasets: glob patterns of dataset names with namespace: `s3://lake/orders*`.
        severity: severity of the incident; None: SEV1 for the rule PRIVACY, else no severity.
        type: type of the incident; None: by the fault.
        assign: person or team that a new incident is assigned to.
        ignore: whether such a fault opens no incident.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: DataFaultKind
    rules: tuple[Annotated[str, _SHORT, AfterValidator(_rule)], ...] = ()
    severities: tuple[Annotated[AssertionSeverity, BeforeValidator(_assertion_severity)], ...] = ()
    datasets: tuple[Annotated[str, _SHORT], ...] = ()
    severity: Annotated[IncidentSeverity | None, AfterValidator(_stated)] = None
    type: Annotated[IncidentType | None, AfterValidator(_stated)] = None
    assign: Annotated[str, _SHORT] | None = None
    ignore: bool = False

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for name, condition in (("rules", self.rules), ("severities", self.severities)):
            if condition and self.fault is not DataFaultKind.ASSERTION:
                raise ValueError(f"{name}: only ASSERTION has them")
        return self

    def fits(self, fault: DataFault) -> bool:
        """Return whether this entry decides about a fault."""
        return (
            fault.kind is self.fault
            and (not self.rules or fault.rule in self.rules)
            and (not self.severities or fault.assertion_severity in self.severities)
            and (not self.datasets or any(map(self._names, fault.datasets)))
        )

    def _names(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.datasets)

    def severity_of(self, fault: DataFault) -> IncidentSeverity | None:
        """Severity of the incident for a fault; None: no severity."""
        return self.severity or (IncidentSeverity.SEV1 if fault.rule == "PRIVACY" else None)


class FaultPolicy(BaseModel):
    """A policy; see the module.

    Attributes:
        entries: `[[open]]` in the file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    entries: Annotated[tuple[OpenEntry, ...], Field(alias="open")]

    @model_validator(mode="after")
    def _decides_something(self) -> Self:
        if not self.entries:
            raise ValueError("open: no entry")
        return self

    def entry_of(self, fault: DataFault) -> OpenEntry | None:
        """Return the entry that decides about a fault; None: no entry does."""
        return next((entry for entry in self.entries if entry.fits(fault)), None)


_FILE: Final = TomlFile(FaultPolicy, "policy", {"open": OpenEntry})


@cache
def default_fault_policy() -> FaultPolicy:
    """Return the policy that comes with Headwater."""
    return parse_fault_policy(default_fault_policy_text(), "default_fault_policy.toml")


def default_fault_policy_text() -> str:
    """Return the text of the default policy's file, a template for other policies."""
    return files(__package__).joinpath("default_fault_policy.toml").read_text(encoding="utf-8")


def load_fault_policy(path: Path) -> FaultPolicy:
    """Read the policy of a file.

    Raises:
        QuestionError: the file can't be read, or is no valid policy; with line and field.
    """
    return _FILE.load(path)


def parse_fault_policy(text: str, name: str) -> FaultPolicy:
    """Parse the policy in `text`; `name` is for messages.

    Raises:
        QuestionError: see `load_fault_policy`.
    """
    return _FILE.parse(text, name)
