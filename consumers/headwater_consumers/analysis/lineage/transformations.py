"""What an edge of a plan does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.lineage.answer import Transformation
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    from neo4j import Record


def transformation(row: Record, *, whole: bool) -> Transformation:
    """From the properties of an edge."""
    return Transformation(
        TransformationType(row["type"]),
        TransformationKind(row["kind"]),
        row["subtype"],
        bool(row["masking"]),
        row["expression"],
        whole,
    )
