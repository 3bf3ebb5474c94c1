"""Timeline: micro-batches and runs of a job, or of a dataset, with the gaps between them.

entries    runs, micro-batches, breaks; bars of an overview
timelines  the latest micro-batches and runs
overview   years of micro-batches, counted
"""

from headwater_analysis.timeline.entries import (
    Break,
    Overview,
    OverviewBar,
    Position,
    Timeline,
    TimelineInterval,
    TimelineQuery,
    TimelineRun,
)
from headwater_analysis.timeline.overview import MOST_BARS, dataset_overview, job_overview
from headwater_analysis.timeline.timelines import dataset_timeline, job_timeline

__all__ = [
    "MOST_BARS",
    "Break",
    "Overview",
    "OverviewBar",
    "Position",
    "Timeline",
    "TimelineInterval",
    "TimelineQuery",
    "TimelineRun",
    "dataset_overview",
    "dataset_timeline",
    "job_overview",
    "job_timeline",
]
