"""Options of readers and writers that affect rows, as text without secrets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from headwater_schemas.redaction import redact
from headwater_schemas.secret_names import is_secret_name

# Options about location, speed of reads and writes, and compression.
_NEUTRAL: Final = frozenset(
    {
        "batchsize", "compression", "dbtable", "driver", "failondataloss", "fetchsize", "fetchoffset.numretries",
        "fetchoffset.retryintervalms", "groupidprefix", "isolationlevel", "lowerbound", "maxbytespertrigger",
        "maxfilespertrigger", "maxoffsetspertrigger", "maxrecordsperfile", "maxtriggerdelay", "minoffsetspertrigger",
        "minpartitions", "numpartitions", "parquet.compression", "partitioncolumn", "path", "query",
        "querytimeout", "subscribe", "subscribepattern", "assign", "topic", "upperbound", "url",
    }
)  # fmt: skip
# Options that may be secrets: a comment of a pull request must not show them.
_SECRET: Final = re.compile(r"pass|secret|key|token|credential|user|auth|sas|jaas|^kafka\.|^fs\.", re.IGNORECASE)
_MOST: Final = 80


def options_text(options: Mapping[str, str]) -> str:
    """Render the relevant options as `name=value` in order; empty without any.

    Args:
        options: options by name in lower case.
    """
    return " ".join(shown_options(options).values())


def shown_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the relevant options by name, in order, each as `name=value`.

    Args:
        options: options by name in lower case.
    """
    return {name: _shown(name, value) for name, value in sorted(options.items()) if not _is_neutral(name)}


def option_text(value: object) -> str:
    """Render a value as PySpark passes it to the JVM."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_neutral(name: str) -> bool:
    return name in _NEUTRAL or _SECRET.search(name) is not None or is_secret_name(name)


def _shown(name: str, value: str) -> str:
    # The digest of a long value distinguishes it from others with the same beginning. Secrets are replaced first.
    text = without_secrets(f"{name}={value}")
    most = len(name) + 1 + _MOST
    return text if len(text) <= most else f"{text[:most]}…{_digest(value)}"


def without_secrets(text: str) -> str:
    """Replace likely secrets in a text by digests, so that texts with different secrets differ."""
    shown = redact(text)
    return text if shown == text else f"{shown} [{_digest(text)}]"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
