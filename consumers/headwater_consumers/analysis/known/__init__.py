"""What is known: of one dataset or job, and of the estate in lists.

dataset     all that is known of one dataset
job         all that is known of one job
lists       datasets and jobs, paged by key; runs of all jobs, the latest first; every broken chain
rows        what several of these read of a node: owners, tags, uses
"""

from headwater_consumers.analysis.known.dataset import DatasetDetails, dataset_details
from headwater_consumers.analysis.known.job import JobDetails, job_details
from headwater_consumers.analysis.known.lists import (
    BrokenChain,
    BrokenChainPage,
    DatasetList,
    JobList,
    RunList,
    broken_chains,
    datasets,
    estate_runs,
    jobs,
)

__all__ = [
    "BrokenChain",
    "BrokenChainPage",
    "DatasetDetails",
    "DatasetList",
    "JobDetails",
    "JobList",
    "RunList",
    "broken_chains",
    "dataset_details",
    "datasets",
    "estate_runs",
    "job_details",
    "jobs",
]
