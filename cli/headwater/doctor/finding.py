"""Finding of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingSeverity(StrEnum):
    """Severity of a finding, the worst first."""

    FAIL = "FAIL"
    """Lineage is or will be lost, or can't be written or read."""
    WARN = "WARN"
    """Headwater works now, but will fail at an event that has to be expected, such as the loss of a disk."""
    UNKNOWN = "UNKNOWN"
    """Not checked, because this machine or this user can't see it."""
    OK = "OK"
    """Passed."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One line of the checklist.

    Attributes:
        check: name of the check: `retention`, `replication`, …
        subject: the topic, setting or folder.
        fix: advice; empty if nothing needs to be done.
    """

    check: str
    severity: FindingSeverity
    subject: str
    message: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class SubjectCheck:
    """A check of one subject, which makes findings."""

    name: str
    subject: str

    def finding(self, severity: FindingSeverity, message: str, fix: str = "") -> DoctorFinding:
        """Finding of this severity."""
        return DoctorFinding(self.name, severity, self.subject, message, fix)

    def ok(self, message: str) -> DoctorFinding:
        """The check passed."""
        return self.finding(FindingSeverity.OK, message)

    def risk(self, message: str, fix: str) -> DoctorFinding:
        """Finding of severity WARN."""
        return self.finding(FindingSeverity.WARN, message, fix)

    def fail(self, message: str, fix: str) -> DoctorFinding:
        """Finding of severity FAIL."""
        return self.finding(FindingSeverity.FAIL, message, fix)

    def unknown(self, message: str, fix: str) -> DoctorFinding:
        """The check can't be made from here; `fix` describes how to check, or what to do instead."""
        return self.finding(FindingSeverity.UNKNOWN, message, fix)


def duration_text(seconds: float) -> str:
    """Format a duration in the largest unit with a value of at least 1.5: `3 d`, `5 h`, `90 s`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
