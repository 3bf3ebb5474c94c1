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


def ok(check: str, subject: str, message: str) -> DoctorFinding:
    """Finding of a check that passed."""
    return DoctorFinding(check, FindingSeverity.OK, subject, message)


def unseen(check: str, subject: str, message: str, fix: str) -> DoctorFinding:
    """Finding of a check that can't be made from here; `fix` describes how to check, or what to do instead."""
    return DoctorFinding(check, FindingSeverity.UNKNOWN, subject, message, fix)


def duration_text(seconds: float) -> str:
    """Format a duration in the largest unit with a value of at least 1.5: `3 d`, `5 h`, `90 s`."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
