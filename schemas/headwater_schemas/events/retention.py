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
    """Micro-batches before a day are no longer kept one by one. Of several events, the latest day holds.

    Attributes:
        before: micro-batches that were processed on an earlier day (UTC) than this time's are concerned; those whose
            processing time isn't known are not.
        mode: SUMMARIZE: a summary stays for each run and day. DROP: nothing does.
        namespace: of the jobs whose queries are concerned; None: all.
        job: name of the one job in the namespace that is concerned; None: all.
    """

    before: Time
    mode: RetentionMode
    namespace: str | None = None
    job: Text | None = None
