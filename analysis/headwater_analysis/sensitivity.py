"""Order of sensitivities, and the set that counts as sensitive. `headwater check` uses both, too."""

from __future__ import annotations

from typing import Final

from headwater_schemas.events import Sensitivity

LEVELS: Final = (
    Sensitivity.UNKNOWN,
    Sensitivity.PUBLIC,
    Sensitivity.INTERNAL,
    Sensitivity.CONFIDENTIAL,
    Sensitivity.PII,
    Sensitivity.RESTRICTED,
)
"""Sensitivities in order, from undeclared to requiring permission for each reader; the level is the index."""
SENSITIVE: Final = LEVELS[3:]
"""Sensitivities whose values are followed; columns derived from them must not be classified lower."""
LEAST_SENSITIVE: Final = LEVELS.index(SENSITIVE[0])


def level_of(name: str | None) -> int:
    """Level of a sensitivity; 0: no sensitivity, or one that this version doesn't know."""
    return next((level for level, one in enumerate(LEVELS) if level and one.value == name), 0)
