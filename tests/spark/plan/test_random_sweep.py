"""The longer run of random programs goes on where it ended."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from spark.plan import random_sweep
from spark.plan.oracle import Verdict
from spark.plan.random_sweep import Judged, record, recorded, report
from spark.plan.row_files import RowFiles

FILES = cast("RowFiles", None)
"""Nothing is run here."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Seeds that were judged: 11 has a missing edge, 12 can't be run."""
    seeds: list[int] = []

    def judged_programs(_files: Any, _kind: str, some: Iterable[int]) -> dict[int, Verdict]:
        verdicts = {seed: Verdict(comparisons=seed) for seed in some}
        seeds.extend(verdicts)
        if 11 in verdicts:
            verdicts[11].missing = {"o <- alpha.k", "o <- alpha.n"}
        if 12 in verdicts:
            verdicts[12].skipped = "ArithmeticException"
        return verdicts

    monkeypatch.setattr(random_sweep, "judged_programs", judged_programs)
    return seeds


def test_it_goes_on_with_the_seed_after_the_last_one(
    asked: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sweep.json"
    assert recorded(file) == {}
    study = {"frame": Judged(10)}
    study["frame"].judge(FILES, "frame", 3)
    record(study, file)
    again = recorded(file)
    assert again == study
    again["frame"].judge(FILES, "frame", 2)
    assert asked == [10, 11, 12, 13, 14]
    frames = again["frame"]
    assert (frames.programs, frames.outputs) == (5, sum(asked))
    assert frames.missing == {"11": ["o <- alpha.k", "o <- alpha.n"]}
    assert frames.not_run == {"12": "ArithmeticException"}
    printed = capsys.readouterr().out
    assert "frame 11 missing: o <- alpha.k, o <- alpha.n in\n# a program" in printed
    assert "frame 12 not run: ArithmeticException" in printed


def test_its_report_has_all_kinds_together() -> None:
    study = {
        "frame": Judged(0, programs=20, outputs=1000, seconds=10.0, missing={"3": ["a <- b", "c <- d"]}),
        "write": Judged(0, programs=3, outputs=234, seconds=2.0, not_run={"1": "why"}),
    }
    assert report(study) == (
        "23 programs in 0.2 minutes: 20 of kind frame (500 ms), 3 of kind write (667 ms); 1 not run; "
        "1,234 outputs compared after a change that their lineage doesn't know: 2 changed"
    )
