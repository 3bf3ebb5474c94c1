from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.hooks import TopicWait, _acting, _followed, _report_kept, output_path
from headwater_producers.spark.driver.signals import FrameKept, RddActed, TopicWriteBegins
from support.waiting import patience

ACTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any], str | None]] = [
    ("saveAsTextFile", ("/out",), {}, "/out"),
    ("saveAsTextFile", (), {"path": "/out"}, "/out"),
    ("saveAsPickleFile", ("/out", 10), {}, "/out"),
    ("saveAsHadoopDataset", ({"mapred.output.dir": "/out"},), {}, "/out"),
    ("saveAsNewAPIHadoopDataset", (), {"conf": {"mapreduce.output.fileoutputformat.outputdir": "/out"}}, "/out"),
    ("saveAsNewAPIHadoopDataset", ({"hbase.table": "t"},), {}, None),
    ("foreachPartition", (print,), {}, None),
]


def test_where_an_action_writes(subtests: pytest.Subtests) -> None:
    for action, arguments, named, path in ACTIONS:
        with subtests.test(action=action, arguments=arguments):
            assert output_path(action, arguments, named) == path


class Application:
    def __init__(self, error: Exception | None = None, topic_wait_seconds: float = 0.01) -> None:
        self.target = self
        self.topic_wait_seconds = topic_wait_seconds
        self.signals: list[Any] = []
        self.error = error

    def offer(self, signal: Any) -> None:
        if self.error is not None:
            raise self.error
        self.signals.append(signal)


RDD = SimpleNamespace(ctx="context", _jrdd="jvm rdd")
FRAME = SimpleNamespace(_session=SimpleNamespace(sparkContext="context"), _jdf="jvm frame")


def of(monkeypatch: pytest.MonkeyPatch, application: Application | None) -> None:
    monkeypatch.setattr(sessions, "known_application", lambda _context: application)


def test_an_action_is_emitted_after_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    application = Application()
    of(monkeypatch, application)
    assert _acting(lambda _rdd, path: f"saved to {path}", "saveAsTextFile")(RDD, "/out") == "saved to /out"
    [emitted] = application.signals
    assert isinstance(emitted, RddActed)
    assert (emitted.rdd, emitted.action, emitted.path, emitted.error) == ("jvm rdd", "saveAsTextFile", "/out", None)
    assert emitted.started_at <= emitted.ended_at


def test_an_error_of_the_job_passes_through_and_is_emitted_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    application = Application()
    of(monkeypatch, application)

    def fails(_rdd: Any, _function: Any) -> None:
        raise LookupError("the job's own, password=hunter2")

    with pytest.raises(LookupError, match="the job's own"):
        _acting(fails, "foreachPartition")(RDD, print)
    [emitted] = application.signals
    assert emitted.error is not None
    assert (emitted.error.type, "hunter2" in repr(emitted)) == ("LookupError", False)


@pytest.mark.parametrize("application", [None, Application(RuntimeError("ours"))])
def test_an_error_of_ours_and_an_application_that_is_not_captured(
    monkeypatch: pytest.MonkeyPatch, application: Application | None
) -> None:
    of(monkeypatch, application)
    assert _acting(lambda _rdd: 3, "foreach")(RDD) == 3
    assert _followed(lambda _frame: FRAME, lambda frame, made: _report_kept(frame, frame=made))(FRAME) is FRAME
    assert _acting(lambda _rdd: 3, "foreach")(SimpleNamespace(ctx="context")) == 3, "an RDD that hasn't what it should"


def test_a_frame_that_is_kept_is_emitted_with_what_it_became(monkeypatch: pytest.MonkeyPatch) -> None:
    application = Application()
    of(monkeypatch, application)
    made = SimpleNamespace(_jdf="jvm checkpoint")
    kept = _followed(lambda _frame, eager: made, lambda frame, made: _report_kept(frame, frame=made))
    assert kept(FRAME, eager=False) is made
    assert application.signals == [FrameKept("jvm frame", "jvm checkpoint", None, FRAME._session)]


class Writer:
    _spark = SimpleNamespace(sparkContext="context")
    _jwrite = "jvm writer"

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    def options(self, **options: Any) -> None:
        self.given |= options


def test_a_write_that_waited_for_its_topic_in_vain_lets_the_next_ones_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    class Answering(Application):
        def offer(self, signal: Any) -> None:
            super().offer(signal)
            signal.asked.set()

    clock, silent, answering, writer = [0.0], Application(), Answering(), Writer()
    topics = TopicWait(lambda: clock[0])
    of(monkeypatch, answering)
    for _ in range(2):
        topics.wait(writer, {"topic": "t"})
    assert writer.given == {"topic": "t"}
    assert [type(signal) for signal in answering.signals] == [TopicWriteBegins, TopicWriteBegins]

    of(monkeypatch, silent)
    for seconds in (0, 1, 29.9, 30):
        clock[0] = seconds
        topics.wait(writer, {})
    assert len(silent.signals) == 2, "at 0 and 30"


def test_a_write_that_is_not_to_wait_has_its_topic_asked_for_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = Application(topic_wait_seconds=0.0)
    of(monkeypatch, silent)
    topics = TopicWait(lambda: 0.0)
    for _ in range(3):
        topics.wait(Writer(), {})
    assert len(silent.signals) == 3, "none of them waited, so none waited in vain"


def test_a_write_waits_as_long_as_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Application):
        def offer(self, signal: Any) -> None:
            super().offer(signal)
            threading.Timer(0.2, signal.asked.set).start()

    late = Late(topic_wait_seconds=patience(30))
    of(monkeypatch, late)
    TopicWait().wait(Writer(), {})
    assert late.signals[0].asked.is_set()


@pytest.mark.parametrize("application", [None, Application(RuntimeError("ours"))])
def test_a_topic_that_cannot_be_asked_for_is_written_all_the_same(
    monkeypatch: pytest.MonkeyPatch, application: Application | None
) -> None:
    of(monkeypatch, application)
    TopicWait().wait(Writer(), {})
