"""References of capture go when nobody has them; those of everybody else are py4j's own."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from py4j import protocol
from py4j.java_gateway import JavaObject

from headwater_producers.spark.driver.listeners import CommandListener, SessionListeners, SignalTarget, StreamListener
from headwater_producers.spark.jvm.references import JvmReference, own_references, own_thread


@pytest.fixture(autouse=True)
def converters() -> Iterator[None]:
    before = dict(protocol.OUTPUT_CONVERTER)
    yield
    protocol.OUTPUT_CONVERTER.update(before)


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def answered(target: str) -> Any:
    """A reference as py4j makes it of an answer of the JVM."""
    properties = SimpleNamespace(auto_field=False, enable_memory_management=False, pool={})
    client = SimpleNamespace(address="127.0.0.1", port=1, converters=[], gateway_property=properties)
    return protocol.OUTPUT_CONVERTER[protocol.REFERENCE_TYPE](target, client)


def test_one_that_was_asked_goes_without_the_collector(no_collector: None) -> None:
    with own_references():
        made = answered("o1")
    assert made.analyzed.name == made.analyzed.name == "analyzed"
    with pytest.raises(AttributeError):
        made.__len__  # noqa: B018
    left = weakref.ref(made)
    del made
    assert left() is None


def test_others_are_made_as_ever(no_collector: None) -> None:
    with own_references(), own_references():
        assert type(answered("o1")) is JvmReference
    made = answered("o2")
    assert type(made) is JavaObject
    assert made.analyzed is made.analyzed, "py4j remembers it, which is the cycle"
    left = weakref.ref(made)
    del made
    assert left() is not None


def test_a_thread_of_its_own_concerns_no_other() -> None:
    found: list[type] = []

    def run() -> None:
        own_thread()
        found.append(type(answered("o1")))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert (found, type(answered("o2"))) == ([JvmReference], JavaObject)


def test_an_argument_of_a_callback_becomes_one(no_collector: None) -> None:
    class Target(SignalTarget):
        captures_reads = False

        def __init__(self) -> None: ...

        def offer(self, signal: Any) -> None:
            signals.append(signal)

    signals: list[Any] = []
    listeners = SessionListeners()
    listeners.target = Target()
    CommandListener(listeners).onFailure("save", answered("o1"), "an error")
    CommandListener(listeners).onFailure("command", answered("o1"), answered("o2"))
    StreamListener(listeners).onQueryProgress(answered("o3"))
    [ended, progressed] = signals
    assert [type(each) for each in (ended.query_execution, ended.error, progressed.event)] == [JvmReference] * 3
