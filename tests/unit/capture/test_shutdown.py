from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import shutdown
from headwater_schemas.events import RunEventType

if TYPE_CHECKING:
    from types import TracebackType


@pytest.fixture(autouse=True)
def _fresh_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutdown, "_outcome", shutdown._Outcome())


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (None, RunEventType.COMPLETE, None),
        (0, RunEventType.COMPLETE, None),
        (3, RunEventType.FAIL, "3"),
        ("password=hunter2 is wrong", RunEventType.FAIL, "password=[redacted] is wrong"),
    ],
)
def test_an_exit_status_is_noted_and_passed_on(status: object, kind: RunEventType, message: str | None) -> None:
    with pytest.raises(SystemExit) as left:
        shutdown._exit_over(sys.exit)(status)
    assert left.value.code == status
    assert shutdown._outcome.kind is kind
    error = shutdown._outcome.error
    assert (error.message if error else None) == message


def test_the_last_exit_counts() -> None:
    """A framework may catch one `sys.exit` and leave by another."""
    for status in (2, 0):
        with pytest.raises(SystemExit):
            shutdown._exit_over(sys.exit)(status)
    assert shutdown._outcome.kind is RunEventType.COMPLETE
    assert shutdown._outcome.error is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [(LookupError("token=hunter2"), RunEventType.FAIL), (KeyboardInterrupt(), RunEventType.ABORT)],
)
def test_an_uncaught_exception_is_noted_and_passed_on(error: BaseException, kind: RunEventType) -> None:
    passed: list[BaseException] = []

    def previous(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        passed.append(error)

    shutdown._excepthook_over(previous)(type(error), error, None)
    assert passed == [error]
    assert shutdown._outcome.kind is kind
    assert "hunter2" not in repr(shutdown._outcome)
