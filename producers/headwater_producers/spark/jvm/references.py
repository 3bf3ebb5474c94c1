"""References to JVM objects, which are freed as soon as nothing holds the reference.

A reference of py4j holds each method that was called on it, and each method holds its reference. Such a cycle stays
until Python's garbage collector runs. The collector examines older objects only once their number has grown by a
quarter, in a driver after a hundred writes or more. Until then the JVM keeps each object, such as a query's execution
with all its plans. References of the user's code stay py4j's own; capture's references don't hold methods.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j import protocol
from py4j.java_gateway import JavaMember, JavaObject

_MARK: Final = "_headwater_references"
_lock = threading.Lock()
_thread_state = threading.local()


class JvmReference(JavaObject):  # type: ignore[misc]  # py4j comes without types
    """JavaObject that remembers none of its methods. An unshared JavaObject can be converted by setting `__class__`."""

    def __getattr__(self, name: str) -> Any:
        if self._auto_field or name.startswith("__"):
            return super().__getattr__(name)
        return JavaMember(name, self, self._target_id, self._gateway_client)


def own_thread() -> None:
    """Make all references of this thread forget their methods from now on."""
    _install()
    _thread_state.is_own = True


@contextmanager
def own_references() -> Iterator[None]:
    """Make the references of this thread within the block forget their methods."""
    before = getattr(_thread_state, "is_own", False)
    own_thread()
    try:
        yield
    finally:
        _thread_state.is_own = before


def _install() -> None:
    """Make py4j choose the class of references by thread. Idempotent."""
    with _lock:
        original = protocol.OUTPUT_CONVERTER[protocol.REFERENCE_TYPE]
        if hasattr(original, _MARK):
            return

        def reference(target_id: str, client: Any) -> Any:
            if getattr(_thread_state, "is_own", False):
                return JvmReference(target_id, client)
            return original(target_id, client)

        setattr(reference, _MARK, True)
        protocol.register_output_converter(protocol.REFERENCE_TYPE, reference)
