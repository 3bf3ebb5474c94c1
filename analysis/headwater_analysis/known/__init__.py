"""Details of one dataset, column, job or consumer; lists of all datasets, jobs, consumers and runs.

dataset        details of one dataset
column         details of one column
job            details of one job
consumer       details of one dashboard, report, team …
by_name        details of any asset by its name, a run too
lists          datasets, jobs and consumers, paged by key; runs of all jobs, the latest first; every broken chain
tags_and_uses  tags and uses, which several of these modules share
"""

from headwater_analysis.known.by_name import Known, KnownKind, NamedNode, known, named
from headwater_analysis.known.column import ColumnDetails, column_details
from headwater_analysis.known.consumer import ConsumerDetails, consumer_details
from headwater_analysis.known.dataset import DatasetDetails, dataset_details
from headwater_analysis.known.job import JobDetails, job_details
from headwater_analysis.known.lists import (
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

__all__ = [
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
    "NamedNode",
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
    "named",
]
