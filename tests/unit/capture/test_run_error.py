from __future__ import annotations

from typing import get_args

import pytest

from headwater_producers.spark.common.settings import ErrorDetail
from headwater_producers.spark.events.run_error import (
    MAX_MESSAGE_CHARS,
    from_exception,
    from_java_text,
    in_detail,
)
from headwater_schemas.events import RunError

TRACE = """\
org.apache.spark.SparkException: [FAILED] could not connect
with password=hunter2 to the database
\tat org.apache.spark.sql.Dataset.collect(Dataset.scala:1)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.sql.SQLException: jdbc:postgresql://bob:hunter2@db/x refused
\t... 34 more"""


def test_a_java_stack_trace() -> None:
    error = from_java_text(TRACE)
    assert error.type == "org.apache.spark.SparkException"
    assert error.message == "[FAILED] could not connect\nwith password=[redacted] to the database"
    assert error.stack_trace is not None
    assert error.stack_trace.startswith("\tat org.apache.spark.sql.Dataset.collect")
    assert "Caused by" in error.stack_trace
    assert "hunter2" not in repr(error)


def test_an_exception_without_text() -> None:
    error = from_java_text("java.lang.InterruptedException")
    assert (error.type, error.message, error.stack_trace) == (
        "java.lang.InterruptedException",
        "java.lang.InterruptedException",
        None,
    )


def test_text_that_is_no_exception() -> None:
    error = from_java_text("stopped by the user: no reason")
    assert (error.type, error.message) == (None, "stopped by the user: no reason")
    assert from_java_text("").message == "unknown error"


def test_a_message_is_cut() -> None:
    assert len(from_java_text("x.Y: " + "m" * 10_000).message) == MAX_MESSAGE_CHARS


def test_a_python_exception() -> None:
    def failing() -> None:
        raise ValueError("token=hunter2 is wrong")

    with pytest.raises(ValueError, match="is wrong") as caught:
        failing()
    error = from_exception(caught.value)
    assert (error.type, error.message) == ("ValueError", "token=[redacted] is wrong")
    assert error.stack_trace is not None
    assert "test_run_error.py" in error.stack_trace
    assert "hunter2 is" not in error.stack_trace
    assert from_exception(KeyboardInterrupt()).message == "KeyboardInterrupt"


def connect(_user: str, _secret: str) -> None:
    raise ValueError("refused")


def test_lines_of_code_go() -> None:
    with pytest.raises(ValueError, match="refused") as caught:
        connect("bob", "hunter2")
    error = from_exception(caught.value)
    assert error.stack_trace is not None
    assert "in test_lines_of_code_go" in error.stack_trace
    assert "in connect" in error.stack_trace
    assert "hunter2" not in error.stack_trace
    assert "raise ValueError" not in error.stack_trace


PYTHON_EXCEPTION = """\
org.apache.spark.SparkException: Job aborted.
Traceback (most recent call last):
  File "/app/etl.py", line 3, in f
    connect('bob', 'hunter2')
    ~~~~~~~^^^^^^^^^^^^^^^^^^
ValueError: pass=hunter2

\tat org.apache.spark.sql.Dataset.collect(Dataset.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/app/etl.py", line 3, in f
    connect('bob', 'hunter2')
ValueError: pass=hunter2

\t... 34 more"""


def test_lines_of_code_of_a_python_worker_go_too() -> None:
    error = from_java_text(PYTHON_EXCEPTION)
    assert "hunter2" not in repr(error)
    assert error.message.endswith('  File "/app/etl.py", line 3, in f\nValueError: pass=[redacted]')
    assert error.stack_trace is not None
    assert error.stack_trace.count('File "/app/etl.py", line 3, in f') == 1
    assert error.stack_trace.endswith("\t... 34 more")


TRACEBACK = """\
Traceback (most recent call last):
  File "/opt/py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "/opt/pyspark/sql/utils.py", line 161, in call
    self.func(DataFrame(jdf, session), batch_id)
  File "/app/orders.py", line 12, in write
    charge('bob', 'hunter2')
"""
FRAMES = "\tat py4j.Protocol.getReturnValue(Protocol.java:476)\n\tat java.lang.Thread.run(Thread.java:840)"
PROXY = "An exception was raised by the Python Proxy. Return Message: "
SPARK_3 = f"py4j.Py4JException: {PROXY}"
SPARK_4 = (
    "org.apache.spark.sql.execution.streaming.sources.ForeachBatchUserFuncException: "
    "[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach batch sink. "
    f"Reason: {PROXY}"
)
RAISED = [
    ("ValueError: token=hunter2 is wrong\nin two lines", "ValueError", "token=[redacted] is wrong\nin two lines"),
    ("KeyError", "KeyError", "KeyError"),
    ("app.errors.Late: too late", "app.errors.Late", "too late"),
    (
        "py4j.protocol.Py4JJavaError: An error occurred while calling o1.\n: java.io.IOException: full\n\tat a.B(B:1)",
        "java.io.IOException",
        "full",
    ),
    (
        f"KeyError: 1\n\nThe above exception was the direct cause of …:\n\n{TRACEBACK}RuntimeError: no rate",
        "RuntimeError",
        "no rate",
    ),
]


def test_what_a_foreach_batch_function_raised_is_the_error(subtests: pytest.Subtests) -> None:
    for printed, kind, message in RAISED:
        for text in (
            f"{SPARK_3}{TRACEBACK}{printed}\n\n{FRAMES}",
            f"{SPARK_4}{TRACEBACK}{printed}\n SQLSTATE: 39000\n{FRAMES}",
        ):
            with subtests.test(text=text):
                for error in (from_java_text(text), from_exception(RuntimeError(text))):
                    assert (error.type, error.message) == (kind, message)
                    assert error.stack_trace is not None
                    assert 'File "/app/orders.py", line 12, in write' in error.stack_trace
                    assert "hunter2" not in repr(error)
    assert from_java_text(f"{SPARK_3}None").type == "py4j.Py4JException"


def test_as_much_of_an_error_as_is_wanted() -> None:
    error = RunError(type="x.Y", message="refused", stack_trace="\tat x.Z")
    assert {detail: in_detail(error, detail) for detail in get_args(ErrorDetail)} == {
        "type": RunError(type="x.Y", message="x.Y"),
        "message": RunError(type="x.Y", message="refused"),
        "stack": error,
    }
    assert in_detail(RunError(message="refused"), "type").message == "unknown error"
