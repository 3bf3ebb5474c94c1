"""Timeline: micro-batches and runs of a job, or of a dataset, with the gaps between them.

entries    runs, micro-batches, breaks; bars of an overview
timelines  the latest micro-batches and runs
overviews  years of micro-batches, counted
"""

from headwater_analysis.timeline.entries import (
    Break,
    Overview,
    OverviewBar,
    Timeline,
    TimelineInterval,
)
from headwater_analysis.timeline.overviews import MOST_BARS, overview
from headwater_analysis.timeline.timelines import timeline

__all__ = [
    "MOST_BARS",
    "Break",
    "Overview",
    "OverviewBar",
    "Timeline",
    "TimelineInterval",
    "overview",
    "timeline",
]
