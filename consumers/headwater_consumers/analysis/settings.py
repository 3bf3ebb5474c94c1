"""Settings of questions to the graph, section `analysis` (`HEADWATER_ANALYSIS_…`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

DEFAULT_TENANT = "default"
DEFAULT_TIMEOUT_SECONDS = 30.0


class AnalysisSettings(BaseModel):
    """Whose graph is asked, and for how long. Where Neo4j is stands in the section `neo4j`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    tenant: Annotated[str, Field(min_length=1)] = DEFAULT_TENANT
    """Whose lineage: the tenant that the events carry."""

    timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = DEFAULT_TIMEOUT_SECONDS
    """For one question, all its statements together; Neo4j ends it then."""
