"""A relay to a Kafka broker that has the broker refuse the first batch a producer sends, for a passing reason."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from types import TracebackType
from typing import Self

# https://kafka.apache.org/protocol.html: a request begins with the key and version of its API and its correlation id, a
# response with the correlation id. A partition's part of a Produce response begins with its number and its error.
_PRODUCE = 0
_CORRUPT_MESSAGE = struct.pack(">ih", 0, 2)
_NOT_LEADER = struct.pack(">ih", 0, 6)


class RefusingRelay:
    """Relays a broker's port. Damages the first batch, so that the broker refuses it, and makes the error NOT_LEADER.

    That is what a broker answers that is about to lead a partition, as after the topic is created or a leader is
    elected: the batch isn't on the topic, and the next one may be.

    Args:
        target: the broker's port on the loopback interface, which it also advertises.

    Attributes:
        batches: number of batches that producers have sent, without those that a broker refused by itself.
    """

    def __init__(self, target: int) -> None:
        self.batches = 0
        self._target = target
        self._damaged: set[int] = set()
        self._damages_next = True
        self._server = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        """Bootstrap server of clients."""
        return f"127.0.0.1:{self._port}"

    @property
    def _port(self) -> int:
        return int(self._server.getsockname()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in (self._server, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._ends += [near, far]
                for run in (self._requests, self._answers):
                    threading.Thread(target=run, args=(near, far), daemon=True).start()

    def _requests(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while frame := _frame(near):
                api, _version, correlation = struct.unpack(">hhi", frame[:8])
                if api == _PRODUCE:
                    self.batches += 1
                    if self._damages_next:
                        self._damages_next = False
                        frame[-8] ^= 0xFF  # within the batch, whose checksum no longer matches
                        self._damaged.add(correlation)
                far.sendall(struct.pack(">i", len(frame)) + frame)

    def _answers(self, near: socket.socket, far: socket.socket) -> None:
        here, there = (b"127.0.0.1" + struct.pack(">i", port) for port in (self._port, self._target))
        with contextlib.suppress(OSError):
            while frame := _frame(far):
                (correlation,) = struct.unpack(">i", frame[:4])
                frame = frame.replace(there, here)
                if correlation in self._damaged:
                    self._damaged.discard(correlation)
                    if _CORRUPT_MESSAGE in frame:
                        frame = frame.replace(_CORRUPT_MESSAGE, _NOT_LEADER, 1)
                    else:
                        # A broker that doesn't know the topic yet refuses the batch unread: the next one is the first.
                        self.batches -= 1
                        self._damages_next = True
                near.sendall(struct.pack(">i", len(frame)) + frame)


def _frame(end: socket.socket) -> bytearray:
    """Next request or response without its length; empty at the end of the connection."""
    head = end.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return bytearray()
    (length,) = struct.unpack(">i", head)
    return bytearray(end.recv(length, socket.MSG_WAITALL))
