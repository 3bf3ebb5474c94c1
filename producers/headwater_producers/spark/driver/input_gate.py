"""Gate before a write: looks up the write's inputs in the graph, and refuses the write if an incident holds one.

An open incident holds the datasets and partitions with its bad data. Answers are cached for CACHE_SECONDS, so that a
job with hundreds of writes asks about each dataset a few times a minute. A server that gave no answer isn't asked again
for CACHE_SECONDS.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final

from headwater_producers.spark.common.errors import TaintedInputError
from headwater_producers.spark.common.metrics import GateOutcome, shared_metrics
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.driver.gate_client import GateClient, GateHold, GateReply, GateUnavailableError
from headwater_producers.spark.events.application import UncheckedWrites
from headwater_producers.spark.execution.write_inputs import Arguments, WriteInputReader, WriteInputs
from headwater_producers.spark.plan import KnownFrames, PlanSettings
from headwater_schemas.events import DatasetRef
from headwater_schemas.naming import spelling
from headwater_schemas.redaction import redact
from headwater_schemas.visible import visible

logger = logging.getLogger(__name__)

CACHE_SECONDS: Final = 10.0
"""Time for which an answer is cached, and for which a server that gave no answer isn't asked again."""
WARN_SECONDS: Final = 30.0
"""Minimum time between two warnings."""
MAX_PARTITIONS: Final = 16
"""Maximum number of partitions that are checked one by one; with more, the dataset is checked as a whole."""
_MAX_ANSWERS: Final = 1_000
_Answer = GateReply | GateUnavailableError | None
_MAX_TITLE_CHARS: Final = 100
_MAX_NAME_CHARS: Final = 500


class InputGate:
    """Gate of one application's writes. Safe to use from many threads.

    Args:
        unchecked: counts the writes that go on without a check; the application's run reports them.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        client: GateClient,
        settings: CaptureSettings,
        plan_settings: PlanSettings,
        frames: KnownFrames,
        unchecked: UncheckedWrites,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._settings = settings
        self._reader = WriteInputReader(plan_settings, frames)
        self._unchecked = unchecked
        self._clock = clock
        self._answers: dict[tuple[DatasetRef, str | None], tuple[float, _Answer]] = {}
        self._silence: tuple[float, _Answer] = (float("-inf"), None)
        self._warn_at = float("-inf")
        self._logged: set[DatasetRef] = set()

    def check_frame(self, frame: Any) -> None:
        """Check the inputs of a PySpark `DataFrame` that is about to be written.

        Raises:
            TaintedInputError: see `check`.
        """
        self.check(lambda: self._reader.of_frame(frame))

    def check_statement(self, session: Any, text: str, arguments: Arguments = None) -> None:
        """Check the inputs of a SQL statement that is about to run, if it writes.

        Raises:
            TaintedInputError: see `check`.
        """
        self.check(lambda: self._reader.of_statement(session, text, arguments))

    def check(self, read: Callable[[], WriteInputs]) -> None:
        """Ask for each input of a write whether an open incident holds it.

        Raises:
            TaintedInputError: an open incident holds an input; or an input can't be checked, and `gate_unavailable` is
                `refuse`.
        """
        problems: list[str] = []
        try:
            self._check(read(), problems)
        except TaintedInputError:
            raise
        except Exception as error:
            # Only the error's type is reported: the text of a py4j error may contain options, and these may contain
            # passwords.
            logger.debug("lineage capture: the inputs of a write can't be checked", exc_info=True)
            self._count(GateOutcome.UNAVAILABLE)
            problems.append(f"determining or checking the write's inputs failed ({type(error).__name__})")
        if problems:
            self._go_on(problems[0])

    def _check(self, inputs: WriteInputs, problems: list[str]) -> None:
        for problem in inputs.unknown:
            logger.debug("lineage capture: an input of a write isn't checked: %s", problem)
            self._count(GateOutcome.UNREAD)
        for failure in inputs.failures:
            self._count(GateOutcome.UNAVAILABLE)
            problems.append(failure)
        deadline = self._clock() + self._settings.gate_timeout_seconds
        for dataset in inputs.datasets:
            try:
                held = self._held(dataset, inputs, deadline)
            except GateUnavailableError as error:
                self._count(GateOutcome.UNAVAILABLE)
                problems.append(f"the gate at {self._client.where}: {error}")
                continue
            if held is not None:
                self._count(GateOutcome.HELD)
                partition, holds = held
                raise TaintedInputError(
                    f"Refused: {_named(dataset, partition)} {_held_by(holds)}. Nothing was written. See headwater "
                    f"incident show {_one_line(holds[0].incident)}; without refuse_tainted_inputs the write would run."
                )

    def _held(
        self, dataset: DatasetRef, inputs: WriteInputs, deadline: float
    ) -> tuple[str | None, tuple[GateHold, ...]] | None:
        """Return the held partition (None: the dataset as a whole), and the incidents that hold it.

        None if no incident holds the part that would be read, or the graph doesn't have the dataset.
        """
        whole = self._answer(dataset, None, deadline)
        if whole is None:
            self._count(GateOutcome.UNKNOWN)
            self._log_unknown(dataset)
            return None
        if not whole.is_free:
            partitions = inputs.partitions().get(dataset, ())
            if not 0 < len(partitions) <= MAX_PARTITIONS:
                return None, whole.holds
            for partition in partitions:
                answer = self._answer(dataset, partition, deadline)
                if answer is not None and not answer.is_free:
                    return partition, answer.holds
        self._count(GateOutcome.FREE)
        return None

    def _answer(self, dataset: DatasetRef, partition: str | None, deadline: float) -> GateReply | None:
        now, key = self._clock(), (dataset, partition)
        known = next((each for each in (self._answers.get(key), self._silence) if each and now < each[0]), None)
        if known is not None:
            answer = known[1]
        elif now >= deadline:
            answer = GateUnavailableError("no answer within gate_timeout_seconds")
        else:
            answer = self._asked(dataset, partition, deadline - now)
        if isinstance(answer, GateUnavailableError):
            # A new error: the traceback of the cached one would grow with each raise.
            raise GateUnavailableError(str(answer))
        return answer

    def _asked(self, dataset: DatasetRef, partition: str | None, seconds: float) -> _Answer:
        answer: _Answer
        try:
            answer = self._client.ask(dataset, partition, seconds)
        except GateUnavailableError as error:
            answer = error
        until = self._clock() + CACHE_SECONDS
        if isinstance(answer, GateUnavailableError) and answer.is_silent:
            self._silence = (until, answer)
            return answer
        if len(self._answers) >= _MAX_ANSWERS:
            self._answers.clear()
        self._answers[dataset, partition] = (until, answer)
        return answer

    def _go_on(self, reason: str) -> None:
        """Let an unchecked write run, and record it; or refuse it, by `gate_unavailable`."""
        if self._settings.gate_unavailable == "refuse":
            raise TaintedInputError(
                f"Refused: the inputs of this write couldn't be checked for bad data: {reason}. Nothing was written. "
                "Try again; with gate_unavailable=continue the write would run."
            )
        self._unchecked.add(_one_line(reason, _MAX_NAME_CHARS))
        if self._clock() >= self._warn_at:
            self._warn_at = self._clock() + WARN_SECONDS
            logger.warning(
                "lineage capture: the inputs of a write weren't checked for bad data, and it goes on: %s. Check "
                "gate_url and gate_token; with gate_unavailable=refuse such a write fails",
                reason,
            )

    def _log_unknown(self, dataset: DatasetRef) -> None:
        if dataset not in self._logged and len(self._logged) < _MAX_ANSWERS:
            self._logged.add(dataset)
            logger.info(
                "lineage capture: the graph doesn't have %s, an input of a write: no bad data of it is known",
                _named(dataset, None),
            )

    def _count(self, outcome: GateOutcome) -> None:
        shared_metrics().gate_checks[outcome].inc()


def _held_by(holds: tuple[GateHold, ...]) -> str:
    """Return `holds bad data of INC-7f3a9c02b1 "Negative delays" (SEV2, EXACT)`."""
    first, more = holds[0], len(holds) - 1
    verb = "may hold" if first.certainty == "UNKNOWN" else "holds"
    title = f' "{_one_line(first.title)}"' if first.title else ""
    facts = f"{_one_line(first.severity or 'no severity')}, {_one_line(first.certainty)}"
    others = f" and {more} more incident{'s' * (more > 1)}" if more else ""
    return f"{verb} bad data of {_one_line(first.incident)}{title} ({facts}){others}"


def _named(dataset: DatasetRef, partition: str | None) -> str:
    name = _one_line(spelling(dataset.namespace, dataset.name), _MAX_NAME_CHARS)
    return name if partition is None else f"{name}, partition {_one_line(partition, _MAX_NAME_CHARS)},"


def _one_line(text: str, most: int = _MAX_TITLE_CHARS) -> str:
    shown = visible(redact(text))
    return shown if len(shown) <= most else f"{shown[:most]}…"
