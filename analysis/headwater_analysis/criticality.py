"""Order of criticalities, which are free words of the estate: `tier-1`, `HIGH`, `critical`."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = {"critical": 5, "high": 4, "medium": 3, "moderate": 3, "low": 2}
_NUMBERED: Final = re.compile(r"(?:tier|p|priority|level)[-_ ]?(\d)")
_HIGHEST: Final = 5


def criticality_rank(criticality: str | None) -> int:
    """Rank of a criticality, from 5 (`critical`, `tier-0`) and 4 (`high`, `tier-1`) to 1 (other words) and 0 (none)."""
    if not criticality:
        return 0
    word = criticality.strip().casefold()
    if (found := _NUMBERED.fullmatch(word)) is not None:
        return max(2, _HIGHEST - int(found[1]))
    return _WORDS.get(word, 1)
