"""Clients that post documents over connections that they keep."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from headwater.errors import HeadwaterError
from headwater_benchmarks.intake.documents import Sent

CLIENTS = 8
ONE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
_HEADERS = {"Content-Type": "application/json"}
_TIMEOUT_SECONDS = 120.0
# A server closes a connection that nothing comes by.
_IDLE_SECONDS = 2.0


@dataclass(slots=True)
class Posted:
    """What the clients did.

    Attributes:
        seconds: from the first request to the last answer.
        began_ms: by the id of each document's RUN event, when its request began; Unix time.
    """

    seconds: float = 0.0
    began_ms: dict[str, float] = field(default_factory=dict)


def post(url: str, documents: Sequence[Sent], *, batch: int = 1, rate: float | None = None) -> Posted:
    """Post documents; each client sends its next request when the one before is answered.

    Args:
        url: of the server.
        documents: what to post.
        batch: documents in a request.
        rate: documents per second at which requests begin; None: as fast as they are answered.

    Raises:
        HeadwaterError: a request isn't answered 201.
    """
    groups = [documents[at : at + batch] for at in range(0, len(documents), batch)]
    posted, turn, lock = Posted(), iter(range(len(groups))), threading.Lock()
    begun = time.monotonic()

    def client() -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)
        try:
            for number in _shared(turn, lock):
                if rate is not None and (idle := begun + number * batch / rate - time.monotonic()) > 0:
                    time.sleep(idle)
                    if idle > _IDLE_SECONDS:
                        connection.close()  # it is opened again by the request
                _send(connection, groups[number], posted, batched=batch > 1)
        finally:
            connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(client) for _ in range(CLIENTS)]:
            done.result()
    posted.seconds = time.monotonic() - begun
    return posted


def _shared(turn: Iterator[int], lock: threading.Lock) -> Iterator[int]:
    while True:
        with lock:
            number = next(turn, None)
        if number is None:
            return
        yield number


def _send(connection: http.client.HTTPConnection, group: Sequence[Sent], posted: Posted, *, batched: bool) -> None:
    body = b"[" + b",".join(each.data for each in group) + b"]" if batched else group[0].data
    began = time.time() * 1_000
    connection.request("POST", BATCH if batched else ONE, body, _HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 201:
        raise HeadwaterError(f"A request with events was answered {answer.status}: {text[:500].decode()}")
    if json.loads(text)["events"] != sum(each.events for each in group):
        raise HeadwaterError(f"The answer counts other events than the documents have: {text[:500].decode()}")
    posted.began_ms.update(dict.fromkeys((each.run_event for each in group), began))
