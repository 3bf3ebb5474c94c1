"""A TCP link on the loopback interface that can be cut, slowed down and frozen."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Self

from headwater.stack.ports import LOOPBACK

_CHUNK_BYTES = 65_536
# Interval at which a frozen link checks whether it is still frozen.
_POLL_SECONDS = 0.05


class FaultyLink:
    """Forwards connections from its own port to a server's port.

    Cutting the link resets all connections. While the link is frozen, connections stay open and no data arrives.

    Attributes:
        target: the port of the server, for new connections.
        held_back, delayed: numbers of chunks that arrived while the link was frozen, and while it was slow.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self._pairs: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = False
        self._flowing = threading.Event()
        self._flowing.set()
        self._delay_seconds = 0.0
        self.held_back = self.delayed = 0
        self._server = socket.create_server((LOOPBACK, 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Port that clients connect to."""
        return int(self._server.getsockname()[1])

    def cut(self) -> int:
        """Reset all connections, and refuse new ones; return the number of reset connections."""
        with self._lock:
            self._cut = True
            count = len(self._pairs) // 2
            for end in self._pairs:
                _abort(end)
            self._pairs.clear()
        return count

    def freeze(self) -> None:
        """Let no data through, as if all packets were lost; connections stay open."""
        self._flowing.clear()

    def slow_down(self, seconds: float) -> None:
        """Delay every chunk, in either direction."""
        self._delay_seconds = seconds

    def mend(self) -> None:
        """Undo all faults of the link."""
        with self._lock:
            self._cut = False
        self._delay_seconds = 0.0
        self._flowing.set()

    def close(self) -> None:
        """Cut the link for good."""
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()
        self._flowing.set()

    def __enter__(self) -> Self:
        """Return the link itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the link."""
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._server.accept()
            except OSError:
                return
            with self._lock:
                if self._cut:
                    _abort(near)
                    continue
                try:
                    far = socket.create_connection((LOOPBACK, self.target), timeout=5)
                except OSError:
                    _abort(near)
                    continue
                far.settimeout(None)
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._pairs |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK_BYTES):
                if not self._flowing.is_set():
                    with self._lock:
                        self.held_back += 1
                while not self._flowing.wait(_POLL_SECONDS):
                    if source.fileno() < 0:
                        return
                if self._delay_seconds:
                    with self._lock:
                        self.delayed += 1
                    time.sleep(self._delay_seconds)
                sink.sendall(data)
        with self._lock:
            for end in (source, sink):
                self._pairs.discard(end)
                _abort(end)


def _abort(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
