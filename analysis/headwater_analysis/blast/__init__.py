"""Blast radius of bad data: everything derived from a run, micro-batches or records that wasn't replaced since.

tainted       the answer: datasets with their tainted parts and their replaced parts
origin        start of the search: a run, micro-batches, offsets
superseded    tainted parts that are gone: overwritten, dropped, or records of a recreated topic
blast_radius  the question
"""

from __future__ import annotations

from headwater_analysis.blast.blast_radius import blast
from headwater_analysis.blast.origin import BadBatches, BadRun
from headwater_analysis.blast.tainted import Blast, Superseded, Tainted, Totals
from headwater_analysis.trace import Offsets

__all__ = ["BadBatches", "BadRun", "Blast", "Offsets", "Superseded", "Tainted", "Totals", "blast"]
