"""Errors of `attach`, of `Capture`, and of reading checkpoints.

    CaptureError
    ├── CaptureSettingsError     (also a ValueError) a setting is missing, unknown or of the wrong form
    ├── LineageNotDurableError   lineage isn't durable, and by the emission policy the job fails
    └── TaintedInputError        a write would read bad data, and by `refuse_tainted_inputs` it doesn't begin
    ValueError
    └── CheckpointError          a checkpoint, or a micro-batch of it, can't be read
        └── UnknownOriginError   the dataset of one of its sources is unknown

`attach` raises CaptureSettingsError, before anything is registered. LineageNotDurableError comes from `Capture.close`
under the policies `fail_job` and `fail_closed`; under `fail_closed` also from a foreachBatch function.
TaintedInputError comes from the method of PySpark that would write, only with `refuse_tainted_inputs`. All other errors
while a job runs, errors of checkpoints included, are counted in `Capture.status()` and logged; they are never raised
into the job. `headwater reconcile` prints errors of checkpoints.
"""

from __future__ import annotations

from collections.abc import Sequence

from headwater_schemas.events import DatasetRef


class CaptureError(Exception):
    """Base of capture's own errors."""


class CaptureSettingsError(CaptureError, ValueError):
    """Missing, unknown or malformed setting. The text names the setting, never its value."""


class LineageNotDurableError(CaptureError):
    """Lineage that isn't durable. The text has the reason; data that was written stays."""


class TaintedInputError(CaptureError):
    """Refused write: its inputs hold bad data of an open incident, or couldn't be checked. Nothing was written."""


class CheckpointError(ValueError):
    """Unreadable checkpoint, or micro-batch of a checkpoint; the text names the file and the reason."""


class UnknownOriginError(CheckpointError):
    """Unknown dataset of a checkpoint's source; `source` is the source's index, `known` the candidates."""

    def __init__(self, source: int, sort: str, known: Sequence[DatasetRef]) -> None:
        names = ", ".join(f"{each.namespace} {each.name}" for each in known)
        super().__init__(f"source {source} ({sort}): its dataset is unknown" + (f"; not one of {names}" * bool(names)))
        self.source = source
