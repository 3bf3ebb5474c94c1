"""Clients that post documents over connections that they keep."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from headwater.errors import HeadwaterError
from headwater_benchmarks.intake.documents import Sent, total

CLIENTS = 8
ONE, BATCH = "/api/v1/lineage", "/api/v1/lineage/batch"
_HEADERS = {"Content-Type": "application/json"}
_TIMEOUT_SECONDS = 120.0


def post(url: str, documents: Sequence[Sent], *, batch: int) -> float:
    """Post documents; each client sends its next request when the one before is answered.

    Args:
        url: of the server.
        documents: what to post.
        batch: documents in a request.

    Returns:
        Seconds from the first request to the last answer.

    Raises:
        HeadwaterError: a request isn't answered 201.
    """
    groups = iter([documents[at : at + batch] for at in range(0, len(documents), batch)])
    lock = threading.Lock()
    begun = time.monotonic()

    def client() -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)
        try:
            while True:
                with lock:
                    group = next(groups, None)
                if group is None:
                    return
                _send(connection, group, batched=batch > 1)
        finally:
            connection.close()

    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(client) for _ in range(CLIENTS)]:
            done.result()
    return time.monotonic() - begun


def _send(connection: http.client.HTTPConnection, group: Sequence[Sent], *, batched: bool) -> None:
    body = b"[" + b",".join(each.data for each in group) + b"]" if batched else group[0].data
    connection.request("POST", BATCH if batched else ONE, body, _HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 201:
        raise HeadwaterError(f"A request with events was answered {answer.status}: {text[:500].decode()}")
    if json.loads(text)["events"] != total(group):
        raise HeadwaterError(f"The answer counts other events than the documents have: {text[:500].decode()}")
