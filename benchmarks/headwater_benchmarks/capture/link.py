"""Protocol between the benchmark and its drivers: one JSON document a line, over the loopback interface.

The benchmark asks, the driver answers; a driver whose benchmark has gone ends.
"""

from __future__ import annotations

import json
import socket
from typing import Any, Self

from headwater.errors import HeadwaterError
from headwater.stack.ports import LOOPBACK


class Line:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._file = connection.makefile("rw", encoding="utf-8")

    def send(self, document: dict[str, Any]) -> None:
        """Sends one document."""
        self._file.write(json.dumps(document) + "\n")
        self._file.flush()

    def receive(self) -> dict[str, Any] | None:
        """The next document; None when the other end has gone."""
        line = self._file.readline()
        return json.loads(line) if line else None

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """Has a task done; what came of it.

        Raises:
            HeadwaterError: it failed, or the driver is gone.
        """
        self.send({"task": task, **arguments})
        answer = self.receive()
        if answer is None:
            raise HeadwaterError(f"A Spark driver of the benchmark ended during {task!r}.")
        if "error" in answer:
            raise HeadwaterError(f"A Spark driver of the benchmark failed in {task!r}: {answer['error']}")
        return answer

    def close(self) -> None:
        """Ends the connection."""
        self._file.close()
        self._connection.close()


class Listener:
    """Socket that drivers connect to."""

    def __init__(self) -> None:
        self._server = socket.create_server((LOOPBACK, 0))
        self._server.settimeout(1.0)
        self.port = int(self._server.getsockname()[1])

    def accept(self) -> Line | None:
        """The next driver; None where none has called within a second."""
        try:
            connection, _ = self._server.accept()
        except TimeoutError:
            return None
        connection.settimeout(None)
        return Line(connection)

    def __enter__(self) -> Self:
        """Nothing more to do."""
        return self

    def __exit__(self, *_: object) -> None:
        """Takes no more calls."""
        self._server.close()


def call(port: int) -> Line:
    """Calls the benchmark."""
    return Line(socket.create_connection((LOOPBACK, port)))
