"""Leaves of a plan: their datasets. A plan's JSON doesn't have the datasets; their lookup implements `Leaves`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from headwater_producers.spark.plan.description import PlanInput
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.tree import Nodes, PlanNode
from headwater_schemas.events import TransformationKind as Kind


@dataclass(frozen=True, slots=True)
class Leaf:
    """Lineage of one leaf of a plan.

    Attributes:
        inputs: datasets of the leaf; a column of the leaf comes from the field of the same name in each dataset.
        payloads: names of columns that are encodings of fields no schema names: a topic's key and value.
        relation: lineage of its attributes by id, if they come from an earlier plan.
        kind: kind of the columns' sources if the leaf has no datasets: CONSTANT for rows in the plan itself, else
            UNKNOWN.
        problem: reason why the lineage is incomplete, as a sentence.
        of_format: True if the leaf only occurs in queries that a table's format runs itself, such as those of MERGE.
    """

    inputs: tuple[PlanInput, ...] = ()
    payloads: frozenset[str] = frozenset()
    relation: Relation | None = None
    kind: Kind = Kind.UNKNOWN
    problem: str | None = None
    of_format: bool = False


class Leaves(Protocol):
    """Lookup of the leaves of one plan."""

    def find(self, node: PlanNode, view: str | None) -> Leaf:
        """Describe a leaf; never raises.

        Args:
            view: name of the temporary view that consists of only this leaf, if any.
        """

    def view(self, node: PlanNode) -> PlanInput | None:
        """Return the permanent view of a `View` node; None for a temporary or unknown view. Never raises."""

    def projections(self, node: PlanNode) -> list[list[Nodes]] | None:
        """Return the projections of an `Expand` whose JSON lacks them; None if they aren't available. Never raises."""
