"""Runs the jobs to their end: each starts when it can, and a query gets a marker when its topic is complete."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from headwater.demo.facts import committed_batches
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import Job
from headwater.demo.processes import Running
from headwater.demo.view import JobState, JobView


class Pipeline:
    """The jobs of one demo. Call `step` until it returns that all are done.

    Args:
        jobs: In the order data flows.
        folder: Where they work.
        variables: The environment of their processes.
    """

    def __init__(self, jobs: Sequence[Job], folder: DemoFolder, variables: Mapping[str, str]) -> None:
        self._jobs = jobs
        self._folder = folder
        self._variables = variables
        self._running: dict[str, Running] = {}
        self._done: set[str] = set()

    def step(self) -> bool:
        """Start what can start, mark what should finish; whether all are done.

        Raises:
            HeadwaterError: A job failed; the message has the end of its log.
        """
        for job in self._jobs:
            ready = self._done.issuperset(job.after)
            if job.name not in self._running:
                if ready or job.streaming:
                    self._running[job.name] = Running.start(job, self._folder, self._variables)
            elif self._running[job.name].finished():
                self._done.add(job.name)
            elif ready and job.streaming:
                self._folder.marker(job.name).touch()
        return len(self._done) == len(self._jobs)

    def stop(self) -> None:
        """End every job that still runs, all at the same time."""
        for running in self._running.values():
            running.process.request_stop()
        for running in self._running.values():
            running.process.stop()

    def views(self) -> list[JobView]:
        """The jobs as they are shown."""
        return [self._view(job) for job in self._jobs]

    def _view(self, job: Job) -> JobView:
        running = self._running.get(job.name)
        if running is None:
            return JobView(job, JobState.WAITING)
        batches = committed_batches(self._folder, job.name) if job.streaming else None
        if running.seconds is not None:
            return JobView(job, JobState.DONE, running.seconds, batches)
        marked = job.streaming and self._folder.marker(job.name).exists()
        state = JobState.FINISHING if marked else JobState.RUNNING
        return JobView(job, state, time.monotonic() - running.started, batches)
