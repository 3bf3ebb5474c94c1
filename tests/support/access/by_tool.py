"""The tool that asks the same as a question of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support.access.questions import Question

_TOOLS = {
    # operation: tool, names of the path ⇒ arguments, arguments that choose the operation
    "/search": ("search", {}, {}),
    "/assets/{id}": ("show", {"id": "name"}, {"kind": "DATASET"}),
    "/columns/{id}": ("show", {"id": "name"}, {"kind": "COLUMN"}),
    "/jobs/{id}": ("show", {"id": "name"}, {"kind": "JOB"}),
    "/runs/{id}": ("show", {"id": "name"}, {"kind": "RUN"}),
    "/consumers/{id}": ("show", {"id": "name"}, {"kind": "CONSUMER"}),
    "/assets/{id}/upstream": ("upstream", {"id": "dataset"}, {}),
    "/assets/{id}/downstream": ("downstream", {"id": "dataset"}, {}),
    "/columns/{asset}/{column}/upstream": ("upstream", {"asset": "dataset", "column": "column"}, {}),
    "/columns/{asset}/{column}/downstream": ("downstream", {"asset": "dataset", "column": "column"}, {}),
    "/impact": ("impact", {}, {}),
    "/traces": ("trace", {}, {}),
    "/blast": ("blast", {}, {}),
    "/runs": ("runs", {}, {}),
    "/jobs/{id}/runs": ("runs", {"id": "job"}, {}),
    "/assets/{id}/runs": ("runs", {"id": "dataset"}, {}),
    "/diff": ("diff", {}, {}),
    "/privacy": ("privacy", {}, {}),
}
_NOT_OF_TOOLS = frozenset({"columns", "facets"})


def tool_of(question: Question) -> tuple[str, dict[str, Any]] | None:
    """Name of the tool and its arguments; None: no tool asks that."""
    found = _TOOLS.get(question.operation)
    if found is None:
        return None
    tool, names, arguments = found
    of_query = {name: value for name, value in question.query if name not in _NOT_OF_TOOLS}
    return tool, {**{names[name]: value for name, value in question.path}, **arguments, **of_query}
