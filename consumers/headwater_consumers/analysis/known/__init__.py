"""What is known: of one dataset, column, job or consumer, and of the estate in lists.

dataset     all that is known of one dataset
column      all that is known of one column
job         all that is known of one job
consumer    all that is known of one dashboard, report, team …
one         all that is known of whatever a person names, a run too
lists       datasets, jobs and consumers, paged by key; runs of all jobs, the latest first; every broken chain
rows        what several of these read of a node: owners, tags, uses
"""

from headwater_consumers.analysis.known.column import ColumnDetails, column_details
from headwater_consumers.analysis.known.consumer import ConsumerDetails, consumer_details
from headwater_consumers.analysis.known.dataset import DatasetDetails, dataset_details
from headwater_consumers.analysis.known.job import JobDetails, job_details
from headwater_consumers.analysis.known.lists import (
    BrokenChain,
    BrokenChainPage,
    ConsumerList,
    DatasetList,
    JobList,
    RunList,
    broken_chains,
    consumers,
    datasets,
    estate_runs,
    jobs,
)
from headwater_consumers.analysis.known.one import Known, KnownKind, known

__all__ = [
    "BrokenChain",
    "BrokenChainPage",
    "ColumnDetails",
    "ConsumerDetails",
    "ConsumerList",
    "DatasetDetails",
    "DatasetList",
    "JobDetails",
    "JobList",
    "Known",
    "KnownKind",
    "RunList",
    "broken_chains",
    "column_details",
    "consumer_details",
    "consumers",
    "dataset_details",
    "datasets",
    "estate_runs",
    "job_details",
    "jobs",
    "known",
]
