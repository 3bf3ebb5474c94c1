"""Fold of events to a GraphDelta of base facts; pure. `reject` finds events that can't be folded or stored.

A GraphDelta is a join of semilattices: its result doesn't depend on the order, repetition or split of the events. It
has no derived facts (NEXT, FEEDS of a run, READS of a job …): see `graph.derive`.
"""

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.fold.disjoint import disjoint
from headwater_graph.fold.fold import fold
from headwater_graph.fold.rejection import Rejection, reject, reject_decoded

__all__ = ["GraphDelta", "Rejection", "disjoint", "fold", "reject", "reject_decoded"]
