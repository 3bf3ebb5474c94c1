"""RetentionEvent: how long the micro-batches of streaming queries are kept one by one."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import Text, Time


class RetentionMode(StrEnum):
    """Treatment of micro-batches that are older."""

    UNKNOWN = "UNKNOWN"
    SUMMARIZE = "SUMMARIZE"
    DROP = "DROP"


class RetentionEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Rule that micro-batches before a day are no longer kept one by one. Among several events, the latest day holds.

    Attributes:
        before: applies to micro-batches that were processed on an earlier day (UTC) than this time's; not to those
            without a processing time.
        mode: SUMMARIZE: a summary stays for each run and day. DROP: nothing stays.
        namespace: namespace of the jobs whose queries it applies to; None: all.
        job: name of the one job in the namespace that it applies to; None: all.
    """

    before: Time
    mode: RetentionMode
    namespace: str | None = None
    job: Text | None = None
