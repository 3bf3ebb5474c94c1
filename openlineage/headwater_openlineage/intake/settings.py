"""Settings of incoming OpenLineage documents, section `openlineage` (`HEADWATER_OPENLINEAGE_…`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headwater_openlineage.decoding import DEFAULT_MAX_BYTES


class IntakeSettings(BaseModel):
    """OpenLineage documents, from every source."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    document_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = DEFAULT_MAX_BYTES
    """Maximum size of a document, in bytes; reading the document takes about ten times as much memory. Its events have
    to fit into `topic.max_message_bytes`, compressed, and over HTTP the body into `serve.intake_body_max_bytes`."""
    redact: bool = True
    """Replace text that looks like a credential with `[redacted]` before anything is stored; the facet
    `headwater_redacted` has the number of changed texts. `false` stores documents unchanged."""
    strict: bool = False
    """Refuse events that violate the specification: without `schemaURL` or `producer`, with a run id that isn't a UUID,
    a time without an offset, or a facet of another shape. `false` accepts and repairs them, with notes."""
