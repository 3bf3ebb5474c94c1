"""Settings of questions to the graph, section `analysis` (`HEADWATER_ANALYSIS_…`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_TENANT = "default"
DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_STALE_SECONDS = 60.0


class AnalysisSettings(BaseModel):
    """Questions to the graph. The section `neo4j` has the database."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    tenant: Annotated[str, Field(min_length=1)] = DEFAULT_TENANT
    """Tenant whose lineage is shown."""

    timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = DEFAULT_TIMEOUT_SECONDS
    """Time limit of a question, for all its statements together; then Neo4j ends it."""

    stale_seconds: Annotated[float, Field(gt=0, le=86_400)] = DEFAULT_STALE_SECONDS
    """The graph counts as stale, and verdicts are UNKNOWN, if its consumers have reported nothing for this time, or if
    its last event is older than this while the topic has more."""
