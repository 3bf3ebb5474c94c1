"""What happened when: micro-batches and runs of a job, or of a dataset, with the gaps between them.

answer      runs, micro-batches, breaks
ask         the question answered
"""

from headwater_consumers.analysis.timeline.answer import (
    Break,
    Position,
    Timeline,
    TimelineInterval,
    TimelineQuery,
    TimelineRun,
)
from headwater_consumers.analysis.timeline.ask import dataset_timeline, job_timeline

__all__ = [
    "Break",
    "Position",
    "Timeline",
    "TimelineInterval",
    "TimelineQuery",
    "TimelineRun",
    "dataset_timeline",
    "job_timeline",
]
