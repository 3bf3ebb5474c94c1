"""Settings of the audit, section `audit` (`HEADWATER_AUDIT_…`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError


class AuditSettings(BaseModel):
    """Audit: records of who asked and who changed what. Without `file` or `topic`, nothing is recorded."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    file: Path | None = None
    """The file that records are appended to, as JSON lines. Its folder must exist. Several processes may share the
    file. `file` and `topic` exclude each other."""

    topic: bool = False
    """Write records to the topic `<prefix>.audit` of the Kafka of section `kafka`."""

    required: bool = True
    """Refuse a request or a command whose record can't be written. false: the request or command goes on, and a LOST
    line before the next record states the number of lost records."""

    key_file: Path | None = None
    """The private key that signs heads, made by `headwater audit key`. None: heads are unsigned."""

    fsync: bool = True
    """Wait until the disk has a record. false: records survive the end of the process, but not a crash of the
    machine."""

    file_max_bytes: Annotated[int, Field(ge=65_536, le=1_099_511_627_776)] = 268_435_456
    """Size from which the file is renamed to `<file>.000001` and so on, and a new file is begun. Headwater deletes none
    of these files."""

    head_records: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000
    """Number of records after which a head follows."""

    head_seconds: Annotated[float, Field(gt=0, le=86_400)] = 60.0
    """Longest time from a record to the next head."""

    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Longest time that a request or a command waits for its record."""

    @property
    def enabled(self) -> bool:
        """True if records are written."""
        return self.file is not None or self.topic

    @model_validator(mode="after")
    def _one_destination(self) -> AuditSettings:
        if self.file is not None and self.topic:
            raise PydanticCustomError("audit_destination", "audit.file and audit.topic exclude each other; set one")
        return self
