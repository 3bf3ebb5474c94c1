"""A rule that takes too long is named."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater_consumers.analysis.checks import RULES, check
from headwater_consumers.analysis.errors import TimeLimitError


class SlowReader:
    """Every question takes too long."""

    tenant = "t"

    def read(self, _question: Any) -> Any:
        raise TimeLimitError(30)


def test_the_error_names_the_rule() -> None:
    reader: Any = SlowReader()
    with pytest.raises(TimeLimitError) as raised:
        check(reader, datetime(2026, 1, 1, tzinfo=UTC), rules=RULES[3:])
    assert str(raised.value) == (
        f"Rule {RULES[3].name} wasn't checked within 30 s. Check the others by their names, or allow more time."
    )
