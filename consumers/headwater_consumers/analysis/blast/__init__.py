"""Blast radius of bad data: all that came of a run, of micro-batches or of records, minus what was replaced since.

answer      datasets, what of each is tainted, what was replaced
origin      where it begins: a run, micro-batches, offsets
superseded  what of it is gone: overwritten, dropped, of a topic that was made anew
question    the way to ask
"""

from __future__ import annotations

from headwater_consumers.analysis.blast.answer import Blast, Superseded, Tainted, Totals
from headwater_consumers.analysis.blast.origin import BadBatches, BadRun
from headwater_consumers.analysis.blast.question import blast
from headwater_consumers.analysis.trace import Offsets

__all__ = ["BadBatches", "BadRun", "Blast", "Offsets", "Superseded", "Tainted", "Totals", "blast"]
