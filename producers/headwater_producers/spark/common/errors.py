"""What `attach` and `Capture` raise.

    CaptureError
    ├── CaptureSettingsError     (also a ValueError) a setting is missing, unknown or of the wrong form
    └── LineageNotDurableError   lineage isn't durable, and the emission policy makes that the job's failure

`attach` raises the first, before anything is registered. The second comes from `Capture.close` under the policies
`fail_job` and `fail_closed`, and under the latter from a foreachBatch function. Whatever else goes wrong while a job
runs is counted in `Capture.status()` and logged; it is never raised into the job.
"""

from __future__ import annotations


class CaptureError(Exception):
    """Base of capture's own errors."""


class CaptureSettingsError(CaptureError, ValueError):
    """A setting is missing, unknown or of the wrong form. The text names the setting, never its value."""


class LineageNotDurableError(CaptureError):
    """Lineage isn't durable. The text has how much and why; the data is written all the same."""
