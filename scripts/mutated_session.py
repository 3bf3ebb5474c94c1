"""Tries mutants in one session of pytest: tests are collected once, and each mutant runs in a forked process.

In the forked process, the changed functions of the imported module get the mutant's code. For a change outside of all
functions, or in a function that the collection of the tests has called, this isn't enough: such a mutant must be
imported before the collection, and isn't tried here.

Quick tests that killed the last mutants run first. A test that takes four times its usual processor time has noticed
the mutant, too.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Final, Literal, NoReturn, cast

import pytest

Outcome = Literal["passed", "failed", "too long", "not tried"]
"""Outcome of one mutant: no test failed; one failed; one took too long; or the mutant must be imported."""

_SLOWER: Final = 4.0
_LEAST_LIMIT_SECONDS: Final = 5.0
_MEMORY_BYTES: Final = 4 << 30
_OPTIMIZED: Final = 0x1  # flag of a function's code; the code of a class or a module doesn't have it


def changed_functions(before: CodeType, after: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """Pairs (old, new) of the code of changed functions; None if code outside of functions differs, too."""
    if before.co_flags & _OPTIMIZED and not before.co_name.startswith("<"):
        return [] if before == after else [(before, after)]
    inner_before, inner_after = _inner(before), _inner(after)
    if _own(before) != _own(after) or len(inner_before) != len(inner_after):
        return None
    found = []
    for one, other in zip(inner_before, inner_after, strict=True):
        inner = changed_functions(one, other)
        if inner is None:
            return None
        found += inner
    return found


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _own(code: CodeType) -> tuple[object, ...]:
    """Code without the functions that it defines. Constants are compared as text, because True == 1."""
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, repr(constants)


def outcomes(tried: Sequence[tuple[Path, str]], arguments: Sequence[str]) -> Iterator[Outcome]:
    """Yield the outcome of each mutant, in the given order.

    Args:
        tried: mutants: the module's file, and its changed text.

    Raises:
        RuntimeError: tests fail without any change.
    """
    read, write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        child = os.fork()
        if child == 0:
            try:
                os.close(read)
                nowhere = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):
                    os.dup2(nowhere, stream)
                session = _Session(tried, write)
                sys.setprofile(session.note)
                pytest.main([*arguments, f"--basetemp={folder}/tests"], plugins=[session])
            finally:
                os._exit(1)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as lines:
            if lines.readline().strip() != "passed":
                os.waitpid(child, 0)
                raise RuntimeError("tests fail without a change")
            for line in lines:
                yield cast("Outcome", line.strip())
        os.waitpid(child, 0)


class _Session:
    """A plugin of pytest, which tries mutants in place of running the tests."""

    def __init__(self, tried: Sequence[tuple[Path, str]], write: int) -> None:
        self._tried = tried
        self._write = write
        self._files = {str(path) for path, _ in tried}
        self._called: set[CodeType] = set()
        self._in_trial = False

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Record a function of the mutated modules that is called while the tests are collected."""
        if event == "call" and frame.f_code.co_filename in self._files:
            self._called.add(frame.f_code)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests without a change, then with every mutant; report one line for each."""
        sys.setprofile(None)
        functions = self._functions()
        gc.freeze()
        order = [(item, 0.0) for item in session.items]
        outcome, seconds = self._trial([], order)
        if session.testsfailed or not order or outcome != "passed":
            self._report("failed")
            return True
        self._report("passed")
        order = [
            (item, max(taken * _SLOWER, _LEAST_LIMIT_SECONDS)) for (item, _), taken in zip(order, seconds, strict=True)
        ]
        originals = {
            path: _compiled(path, path.read_text(encoding="utf-8")) for path in {path for path, _ in self._tried}
        }
        for path, source in self._tried:
            changes = changed_functions(originals[path], _compiled(path, source))
            if changes is None or any(old in self._called or old not in functions for old, _ in changes):
                self._report("not tried")
                continue
            given = [(function, new) for old, new in changes for function in functions[old]]
            outcome, seconds = self._trial(given, order)
            if outcome != "passed" and order[len(seconds)][1] == _LEAST_LIMIT_SECONDS:
                order.insert(0, order.pop(len(seconds)))
            self._report(outcome)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """End the process of a trial at the first failure."""
        if self._in_trial and report.failed:
            os._exit(1)

    def _functions(self) -> dict[CodeType, list[FunctionType]]:
        """Functions of the mutated modules, by their code."""
        found: dict[CodeType, list[FunctionType]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename in self._files:
                found.setdefault(one.__code__, []).append(one)
        return found

    def _report(self, outcome: Outcome) -> None:
        os.write(self._write, f"{outcome}\n".encode())

    def _trial(
        self, given: Sequence[tuple[FunctionType, CodeType]], order: Sequence[tuple[pytest.Item, float]]
    ) -> tuple[Outcome, list[float]]:
        """Return the outcome of a trial, and the processor time of each test that passed.

        Args:
            given: changed functions, each with its new code.
            order: tests, with the allowed processor time of each; 0: unlimited.
        """
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(read)
                self._in_trial = True
                _run(given, order, write)
            finally:
                os._exit(1)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as lines:
            seconds = [float(line) for line in lines]
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            return "passed", seconds
        return "too long" if status == -signal.SIGPROF else "failed", seconds


def _compiled(path: Path, source: str) -> CodeType:
    return compile(source, path, "exec", dont_inherit=True)


def _run(
    given: Sequence[tuple[FunctionType, CodeType]], order: Sequence[tuple[pytest.Item, float]], write: int
) -> NoReturn:
    """Run the tests and end this process, with status 0 if no test failed."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for function, code in given:
        function.__code__ = code
    begun = time.process_time()
    for (item, limit), following in zip(order, [*(item for item, _ in order[1:]), None], strict=True):
        signal.setitimer(signal.ITIMER_PROF, limit)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        ended = time.process_time()
        os.write(write, f"{ended - begun}\n".encode())
        begun = ended
    os._exit(0)
