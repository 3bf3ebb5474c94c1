"""Settings of incoming OpenLineage documents, section `openlineage` (`HEADWATER_OPENLINEAGE_…`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headwater_openlineage.decoding import DEFAULT_MAX_BYTES


class IntakeSettings(BaseModel):
    """OpenLineage documents, from every source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    document_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = DEFAULT_MAX_BYTES
    """The largest document that is taken; while it is read it takes about ten times as much memory. Its events have to
    fit into `topic.max_message_bytes`, compressed, and over HTTP the body into `serve.intake_body_max_bytes`."""
    redact: bool = True
    """Replace what looks like a credential with `[redacted]` before anything is stored, and note how many in the facet
    `headwater_redacted`. `false` stores documents as they come."""
    strict: bool = False
    """Refuse events that aren't to the letter: without `schemaURL` or `producer`, with a run id that is no UUID, a time
    without an offset, or a facet of another shape. Otherwise they are taken, with notes."""
