"""Combined metrics and health of several workers; each series has a label `worker`."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from headwater_consumers.materializer.health import ALIVE_SECONDS

_SECONDS = 2.0
"""Longest wait for a worker's answer. Metrics of slower workers are left out."""


class Workers(Collector):
    """Running worker processes.

    Args:
        wanted: number of workers that should run.
        clock: monotonic seconds.

    Attributes:
        ports: for each worker's number: port of its own metrics and health; written by the supervisor's thread.
    """

    def __init__(self, wanted: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.ports: dict[int, int] = {}
        self._wanted = wanted
        self._clock = clock
        self._silent: dict[int, float] = {}
        """Ports that don't answer, each with the time of the first request without an answer."""

    @property
    def alive(self) -> bool:
        """True if no worker hangs. The supervisor restarts an ended worker."""
        return bool(self.document()["alive"])

    @property
    def ready(self) -> bool:
        """True if all workers run and can reach Kafka and Neo4j, and at least one has partitions.

        If there are more workers than partitions, some workers have no partition.
        """
        return bool(self.document()["ready"])

    def document(self) -> dict[str, Any]:
        """Return the answer to `/livez` and `/readyz`, from concurrent requests to all workers.

        A worker that doesn't answer for `ALIVE_SECONDS` hangs: it holds Python's lock, or is suspended.
        """
        ports = dict(sorted(self.ports.items()))
        found = _answers(ports, "/livez")
        now = self._clock()
        self._silent = {port: self._silent.get(port, now) for number, port in ports.items() if found[number] is None}
        hangs = any(now - since >= ALIVE_SECONDS for since in self._silent.values())
        documents = {number: None if text is None else json.loads(text) for number, text in found.items()}
        answers = [document for document in documents.values() if document]
        reachable = all(answer["kafka_reachable"] and answer["neo4j_reachable"] for answer in answers)
        return {
            "alive": all(answer["alive"] for answer in answers) and not hangs,
            "ready": len(answers) == self._wanted and reachable and any(answer["ready"] for answer in answers),
            "workers": self._wanted,
            **{f"worker_{number}": document for number, document in documents.items()},
        }

    def describe(self) -> Iterable[Metric]:
        """Return nothing, because names are known only after requests to the workers."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Collect the series of all workers that answer."""
        texts = _answers(dict(sorted(self.ports.items())), "/metrics")
        yield from merged({number: text or "" for number, text in texts.items()})


def merged(texts: Mapping[int, str]) -> Iterator[Metric]:
    """Merge metrics in Prometheus' text format; each series gets its worker's number as the label `worker`."""
    families: dict[str, Metric] = {}
    for number, text in texts.items():
        for family in text_string_to_metric_families(text):
            into = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                into.add_sample(
                    sample.name,
                    {**sample.labels, "worker": str(number)},
                    sample.value,
                    sample.timestamp,
                    sample.exemplar,
                )
    yield from families.values()


def _answers(ports: Mapping[int, int], path: str) -> dict[int, str | None]:
    """Return the response of each worker by its number. All requests run at the same time."""
    with ThreadPoolExecutor(max(1, len(ports))) as pool:
        return dict(zip(ports, pool.map(_get, ports.values(), [path] * len(ports)), strict=True))


def _get(port: int, path: str) -> str | None:
    """Return a worker's response, of any status; None if it doesn't answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=_SECONDS) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()
    except (OSError, http.client.HTTPException):  # the latter if a worker ends in the middle of its answer
        return None
