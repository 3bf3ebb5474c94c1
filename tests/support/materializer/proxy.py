"""A TCP link that can be cut and mended."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType


class Proxy:
    """Forwards a port of its own to `host:port`. Starts cut unless told otherwise; cutting resets what is connected."""

    def __init__(self, target: str, *, cut: bool = False) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._pairs: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._cut = cut
        self._server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.getsockname()[1]}"

    def cut(self) -> None:
        with self._lock:
            self._cut = True
            for end in self._pairs:
                _abort(end)
            self._pairs.clear()

    def mend(self) -> None:
        with self._lock:
            self._cut = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()

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
                    far = socket.create_connection(self._target, timeout=5)
                except OSError:
                    _abort(near)
                    continue
                far.settimeout(None)
                self._pairs |= {near, far}
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        with self._lock:
            for end in (source, sink):
                self._pairs.discard(end)
                _abort(end)


def _abort(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
