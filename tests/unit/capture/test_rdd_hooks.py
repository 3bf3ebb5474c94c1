from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.hooks import _acting, _keeping, output_path
from headwater_producers.spark.driver.listeners import FrameKept, RddActed


@pytest.mark.parametrize(
    ("action", "arguments", "named", "path"),
    [
        ("saveAsTextFile", ("/out",), {}, "/out"),
        ("saveAsTextFile", (), {"path": "/out"}, "/out"),
        ("saveAsPickleFile", ("/out", 10), {}, "/out"),
        ("saveAsHadoopDataset", ({"mapred.output.dir": "/out"},), {}, "/out"),
        ("saveAsNewAPIHadoopDataset", (), {"conf": {"mapreduce.output.fileoutputformat.outputdir": "/out"}}, "/out"),
        ("saveAsNewAPIHadoopDataset", ({"hbase.table": "t"},), {}, None),
        ("foreachPartition", (print,), {}, None),
    ],
)
def test_where_an_action_writes(action: str, arguments: tuple[Any, ...], named: dict[str, Any], path: str) -> None:
    assert output_path(action, arguments, named) == path


class Application:
    def __init__(self, error: Exception | None = None) -> None:
        self.target = self
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
    assert _keeping(lambda _frame: FRAME)(FRAME) is FRAME
    assert _acting(lambda _rdd: 3, "foreach")(SimpleNamespace(ctx="context")) == 3, "an RDD that hasn't what it should"


def test_a_frame_that_is_kept_is_emitted_with_what_it_became(monkeypatch: pytest.MonkeyPatch) -> None:
    application = Application()
    of(monkeypatch, application)
    made = SimpleNamespace(_jdf="jvm checkpoint")
    assert _keeping(lambda _frame, eager: made)(FRAME, eager=False) is made
    assert application.signals == [FrameKept("jvm frame", "jvm checkpoint", None, FRAME._session)]
