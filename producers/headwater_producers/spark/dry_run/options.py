"""Options of readers and writers that decide what rows are, or what readers find: as text, without secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

# Where something is, how fast it is read or written, and how files are packed.
_NEUTRAL: Final = frozenset(
    {
        "batchsize", "compression", "dbtable", "driver", "failondataloss", "fetchsize", "fetchoffset.numretries",
        "fetchoffset.retryintervalms", "groupidprefix", "isolationlevel", "lowerbound", "maxbytespertrigger",
        "maxfilespertrigger", "maxoffsetspertrigger", "maxrecordsperfile", "maxtriggerdelay", "minoffsetspertrigger",
        "minpartitions", "numpartitions", "parquet.compression", "partitioncolumn", "path", "query",
        "querytimeout", "subscribe", "subscribepattern", "assign", "topic", "upperbound", "url",
    }
)  # fmt: skip
# What is shown in a comment of a pull request must be no secret: those are left out.
_SECRET: Final = re.compile(r"pass|secret|key|token|credential|user|auth|sas|jaas|^kafka\.|^fs\.", re.IGNORECASE)
_MOST: Final = 80


def options_text(options: Mapping[str, str]) -> str:
    """The options that count, as `name=value` in order; empty: none does.

    Args:
        options: by name in lower case.
    """
    counting = sorted((name, value) for name, value in options.items() if not _is_neutral(name))
    return " ".join(f"{name}={_shown(value)}" for name, value in counting)


def option_text(value: object) -> str:
    """A value as PySpark hands it to the JVM."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_neutral(name: str) -> bool:
    return name in _NEUTRAL or _SECRET.search(name) is not None


def _shown(value: str) -> str:
    # Two long ones that begin alike are two.
    return value if len(value) <= _MOST else f"{value[:_MOST]}…{hashlib.sha256(value.encode()).hexdigest()[:8]}"
