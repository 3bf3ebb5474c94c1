"""What `attach` and `Capture` raise.

    CaptureError
    └── CaptureSettingsError   (also a ValueError) a setting is missing, unknown or of the wrong form

Only `attach` raises it, before anything is registered. What goes wrong while a job runs is counted in
`Capture.status()` and logged; it is never raised into the job.
"""

from __future__ import annotations


class CaptureError(Exception):
    """Base of capture's own errors."""


class CaptureSettingsError(CaptureError, ValueError):
    """A setting is missing, unknown or of the wrong form. The text names the setting, never its value."""
