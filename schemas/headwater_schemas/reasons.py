"""Reasons for incomplete column lineage, and the test for reasons with which all inputs of the job are known.

Producers write these reasons; queries for all readers of a dataset test them with `leaves_inputs_known`. Any reason
that fails the test, or no reason, may mean that an input is missing: for example, an unknown operator may hide its
reads.
"""

from __future__ import annotations

import re
from typing import Final

NO_SOURCES: Final = "the producer gave no sources of some outputs, so each input is a possible one"
PARSED: Final = "parsed from the text of the sql facet, not reported by the producer"
EXPAND: Final = "the projections of an Expand couldn't be read"
_TOO_LARGE: Final = "its plan event would be larger than the events topic takes, "
_NO_COLUMNS: Final = "the document has no source of some columns of "
_NO_SCHEMA: Final = "columns may be missing, as the document hasn't the whole schema of "


def unknown_operator(name: str) -> str:
    """Reason: the plan below an unknown operator was read, but not the operator's own reads."""
    return f"operator {name} isn't known"


def too_large(most_bytes: int) -> str:
    """Reason: a plan's edges were made coarser to fit into an event; none of its datasets is left out."""
    return f"{_TOO_LARGE}{most_bytes} bytes"


def no_source_of(outputs: str) -> str:
    """Reason: a document lists its inputs, but not the sources of every column."""
    return f"{_NO_COLUMNS}{outputs}"


def no_schema_of(outputs: str) -> str:
    """Reason: a document has sources of columns, but not the list of all columns."""
    return f"{_NO_SCHEMA}{outputs}"


def without_names(text: str) -> str:
    """Remove names of datasets from a text of reasons, so that equal gaps have equal texts."""
    for of_names in (_NO_COLUMNS, _NO_SCHEMA):
        text = re.sub(rf"{re.escape(of_names)}.*?(?=; |$)", f"{of_names}…", text)
    return text


def leaves_inputs_known(reason: str) -> bool:
    """Return True if all inputs of the job are known in spite of these reasons (joined by `; `)."""
    return all(map(_concerns_columns_only, reason.split("; ")))


def _concerns_columns_only(reason: str) -> bool:
    return reason in (NO_SOURCES, PARSED, EXPAND) or reason.startswith((_TOO_LARGE, _NO_COLUMNS, _NO_SCHEMA))
