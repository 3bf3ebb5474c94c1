"""Filter of runs by their context: script, user, service, campaign and others.

where=["branch=main", "code=4f2c9e1"]    all have to hold; code and configuration versions may be prefixes
period=2026-11-23T00:00Z                 runs for a period with this time in it
statement="insert into daily"            runs whose SQL statement has this text, in any case
rejected=True                            runs that rejected rows
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from headwater_analysis.errors import QuestionError

_PROPERTIES: Final = {
    "code": "code_version",
    "config": "config_version",
    "script": "script",
    "repository": "repository",
    "branch": "branch",
    "package": "package",
    "image": "image",
    "user": "user",
    "service": "service",
    "campaign": "campaign",
}
_BY_BEGINNING: Final = frozenset({"code", "config"})
CONTEXT_NAMES: Final = tuple(_PROPERTIES)
"""Names that conditions may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Filter of runs; the module's docstring shows each field.

    Attributes:
        where: conditions `name=value`, which all have to hold.
        period: a time in the nominal period of the runs; for a period without an end, its start.
        statement: text of their SQL statement.
        rejected: whether to keep only runs that rejected rows.
    """

    where: Sequence[str] = ()
    period: datetime | None = None
    statement: str | None = None
    rejected: bool = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of statements.

        Raises:
            QuestionError: a condition isn't `name=value`, or has an unknown name.
        """
        return {
            "where": sorted((_condition(each) for each in self.where), key=lambda each: (each["name"], each["value"])),
            "period": self.period,
            "statement": self.statement,
            "rejected": self.rejected,
        }


ALL_RUNS: Final = RunFilter()


def _condition(text: str) -> dict[str, Any]:
    name, sign, value = text.partition("=")
    name = name.strip().lower()
    if not sign or not value:
        raise QuestionError(f"`{text}` isn't name=value, such as branch=main.", field="where")
    if name not in _PROPERTIES:
        near = difflib.get_close_matches(name, CONTEXT_NAMES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"the names are {', '.join(CONTEXT_NAMES)}."
        raise QuestionError(f"A run has no `{name}`: {hint}", field="where")
    return {"name": _PROPERTIES[name], "value": value, "begins": name in _BY_BEGINNING}
