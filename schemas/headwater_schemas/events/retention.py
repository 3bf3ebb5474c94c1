"""RetentionEvent: retention of the single micro-batches of streaming queries."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import Text, Time


class RetentionMode(StrEnum):
    """Treatment of older micro-batches."""

    UNKNOWN = "UNKNOWN"
    SUMMARIZE = "SUMMARIZE"
    DROP = "DROP"


class RetentionEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Rule that micro-batches before a day aren't kept individually. Among several events, the latest day holds.

    Attributes:
        before: the rule applies to micro-batches that were processed before the day (UTC) of this time; not to
            micro-batches without a processing time.
        mode: SUMMARIZE: a summary stays for each run and day. DROP: nothing stays.
        namespace: namespace of the affected queries' jobs; None: all.
        job: name of the affected job in the namespace; None: all.
    """

    before: Time
    mode: RetentionMode
    namespace: str | None = None
    job: Text | None = None
