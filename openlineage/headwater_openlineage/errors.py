"""Refusal of a document, with the location of its fault."""

from __future__ import annotations

from headwater_schemas.errors import ContractError


class Refused(ContractError):  # noqa: N818 - a verdict on a document; the caller decides the consequence
    """A document that isn't an OpenLineage event, or can't be represented in the graph.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the field at fault; empty for the document as a whole.
        reason: the fault and the expected value, without any of the document's values.
    """

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"{pointer or 'the document'}: {reason}")
        self.pointer = pointer
        self.reason = reason
