"""A frame that `transpose()` has just made: Spark computes it while it analyzes, and keeps its rows alone.

The plan as it was asked for still has the frame before. Whatever is done to the frame afterwards starts from the rows.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from headwater_producers.spark.jvm.scala import class_name

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turned:
    """What is transposed.

    Attributes:
        plan: the JVM's analyzed plan of the frame before.
        index: the column whose values name the new columns; empty where it isn't known.
    """

    plan: Any
    index: str


def before_transposing(asked: Any) -> Turned | None:
    """What a frame is the transpose of, by the JVM's plan that it was asked for by; None where it is none."""
    if class_name(asked) != "UnresolvedTranspose":
        return None
    # Without an index column it is the first.
    index = asked.child().output().head() if asked.indices().isEmpty() else asked.indices().head()
    try:
        return Turned(asked.child(), str(index.name()))
    except Exception:
        # Not a column but an expression without a name.
        logger.debug("lineage capture: a transpose's index has no name", exc_info=True)
        return Turned(asked.child(), "")
