"""Round trips between Python and its JVM, counted where py4j sends and receives them."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Self

from py4j.clientserver import ClientServerConnection
from py4j.protocol import CALL_COMMAND_NAME, MEMORY_COMMAND_NAME

_METHODS = ("send_command", "_call_proxy")


@dataclass(slots=True)
class RoundTrips:
    """Counts them as long as its block runs.

    Attributes:
        every_thread: those of the thread that begins the block, too: of a driver it is the job's own.
        calls: Python asks the JVM, by the method that is called; by py4j's command what is no call of a method.
        callbacks: the JVM asks Python, by the id of the object that it asks.
        releases: Python lets the JVM know that it needs an object no more.
    """

    every_thread: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    callbacks: Counter[str] = field(default_factory=Counter)
    releases: int = 0
    _before: dict[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All of them."""
        return self.calls.total() + self.callbacks.total() + self.releases

    def __enter__(self) -> Self:
        mine = None if self.every_thread else threading.get_ident()
        self._before = {name: getattr(ClientServerConnection, name) for name in _METHODS}
        send, receive = (self._before[name] for name in _METHODS)

        @wraps(send)
        def send_command(connection: Any, command: str) -> Any:
            if threading.get_ident() != mine:
                if command.startswith(MEMORY_COMMAND_NAME):
                    self.releases += 1
                else:
                    self.calls[_called(command)] += 1
            return send(connection, command)

        @wraps(receive)
        def call_proxy(connection: Any, asked: str, *arguments: Any) -> Any:
            self.callbacks[asked] += 1
            return receive(connection, asked, *arguments)

        ClientServerConnection.send_command = send_command
        ClientServerConnection._call_proxy = call_proxy  # where py4j receives them
        return self

    def __exit__(self, *_: object) -> None:
        for name, method in self._before.items():
            setattr(ClientServerConnection, name, method)


def _called(command: str) -> str:
    """Method of a Py4J command; a call `c` has the object's id, the method and its arguments, a line each."""
    kind, *rest = command.split("\n", 3)
    return rest[1] if f"{kind}\n" == CALL_COMMAND_NAME else kind
