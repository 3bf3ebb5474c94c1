"""How bad an impact is."""

from __future__ import annotations

from enum import StrEnum


class Severity(StrEnum):
    """Two scales: of what a schema change does, and of what any other change does. The worst first.

    Of a schema change:

    - BREAKING: a job fails, or a value can't be made any more.
    - DEGRADED: it still works, with poorer, older or possibly wrong results.
    - COSMETIC: it looks different, and means the same.
    - NONE: it doesn't notice.

    Of any other change:

    - CRITICAL: what much depends on is hit; somebody has to act now.
    - BLOCKING: what is under way, a publication or a removal, has to wait.
    - TAINTED: it holds wrong data.
    - RESTRICTED: it holds data that not everybody may see any more.
    - WARNING: it may be hit; look.
    - INFO: good to know.
    """

    CRITICAL = "CRITICAL"
    BREAKING = "BREAKING"
    BLOCKING = "BLOCKING"
    TAINTED = "TAINTED"
    RESTRICTED = "RESTRICTED"
    DEGRADED = "DEGRADED"
    WARNING = "WARNING"
    COSMETIC = "COSMETIC"
    INFO = "INFO"
    NONE = "NONE"

    @property
    def rank(self) -> int:
        """0 is the worst."""
        return _RANKS[self]

    @property
    def of_schema(self) -> bool:
        """Whether it is on the scale of schema changes."""
        return self in _OF_SCHEMA


SEVERITIES = tuple(Severity)
"""The worst first: the one at `rank`."""

_RANKS = {severity: rank for rank, severity in enumerate(SEVERITIES)}
_OF_SCHEMA = {Severity.BREAKING, Severity.DEGRADED, Severity.COSMETIC, Severity.NONE}
