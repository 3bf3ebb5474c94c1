"""Outcomes of assertions, from what `DataFrame.observe` has counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headwater_schemas.events import DatasetRef, QualityResult


def observed_quality(
    observed: Mapping[str, Mapping[str, Any] | None], dataset: DatasetRef | None = None
) -> Iterator[QualityResult]:
    """`df.observe("orders", expr("bool_and(id IS NOT NULL)").alias("has_id"))` ⇒ `orders.has_id`.

    A number beside it called `has_id_value` is what was measured. Other numbers assert nothing.

    Args:
        observed: metrics by name, by the name of their observation.
        dataset: what they are about; None: what was written.
    """
    for name, metrics in sorted(observed.items()):
        for metric, passed in sorted((metrics or {}).items()):
            if isinstance(passed, bool):
                value = (metrics or {}).get(f"{metric}_value")
                measured = None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
                yield QualityResult(assertion=f"{name}.{metric}", passed=passed, value=measured, dataset=dataset)
