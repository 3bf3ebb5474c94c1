"""Conversion between the facet dataQualityAssertions of a used dataset and outcomes of assertions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, given_text, need_flag, rows, text
from headwater_schemas.events import DatasetRef, QualityResult
from headwater_schemas.quality import rule_of

ASSERTIONS: Final = "dataQualityAssertions"


def results_of(dataset: DatasetRef, facets: Mapping[str, tuple[Json, str]]) -> Iterator[QualityResult]:
    """Yield the outcomes in a dataset's facet.

    An assertion's name is in `name`, and its kind in `assertion`; older producers report only the kind.

    Args:
        facets: facets of `inputFacets` or `outputFacets` by name, each with its pointer.

    Raises:
        Refused: the facet's shape differs from the specification.
    """
    if ASSERTIONS not in facets or is_deleted(facets[ASSERTIONS][0]):
        return
    for given, at in rows(facets[ASSERTIONS][0], "assertions", facets[ASSERTIONS][1]):
        kind, name = given_text(given, "assertion", at), text(given, "name", at)
        yield QualityResult(
            assertion=name or kind,
            passed=need_flag(given, "success", at),
            column=text(given, "column", at) or None,
            value=_number(text(given, "actual", at)),
            dataset=dataset,
            rule=rule_of(kind) or (kind if name else None) or None,
            severity=text(given, "severity", at) or None,
        )


def _number(actual: str | None) -> float | None:
    """Parse a measured value; None if the text isn't a finite number: such a text stays only in the facet."""
    try:
        value = float(actual or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def assertions_of(results: Iterable[QualityResult], dataset: DatasetRef) -> list[Json]:
    """Make the facet's `assertions` from the outcomes that name the dataset."""
    return [
        {
            "assertion": result.assertion,
            "success": result.passed,
            **({"column": result.column} if result.column else {}),
            **({"severity": result.severity} if result.severity else {}),
            **({"actual": repr(result.value)} if result.value is not None else {}),
        }
        for result in results
        if result.dataset == dataset
    ]
