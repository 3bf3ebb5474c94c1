"""Jobs that ask for rows, of which there are none: compared without rows and with a made-up one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_review.jobs.job_review import JobReview, JobVerdict, review_job
from headwater_review.jobs.version import JobVersion, Statement, Unrun
from unit.review.test_jobs import output, version

if TYPE_CHECKING:
    import pytest

PLACE = "isEmpty in line 3 of job.py"
GIVEN = ((output("/more", "r", a="1"),), (output("/more", "s", a="1"),))


def asking(script: str, *outputs: object, given: tuple[object, ...] = (), stopped: bool = False) -> JobVersion:
    """A version that asks for rows, and writes `given` where it gets one."""
    rows = replace(version(script, *given), stopped=stopped)  # type: ignore[arg-type]
    return replace(version(script, *outputs), looks=(PLACE,), with_rows=rows)  # type: ignore[arg-type]


def line(number: int, text: str, *, begun: bool = True, handler: bool = False) -> Unrun:
    return Unrun("job.py", number, text, begun, handler)


def kinds(review: JobReview) -> list[str]:
    return [each.difference.kind for found in review.outputs for each in found.differences]


def test_what_is_written_only_where_there_are_rows_is_compared() -> None:
    old, new = (asking(f"{name}.py", given=GIVEN[n]) for n, name in enumerate(("old", "new")))
    review = review_job(None, old, new)
    assert (review.verdict, kinds(review)) == (JobVerdict.DEGRADED, ["ROWS"])
    assert review.notes[-1] == (
        f"new.py asks for rows ({PLACE}), and a dry run has none: both versions ran once without rows, and once with "
        "made-up rows."
    )
    assert review_job(None, old, replace(old, script="new.py")).verdict is JobVerdict.NONE


def test_a_difference_is_listed_once_though_its_text_has_what_is_made_up() -> None:
    def made(name: str, value: str) -> JobVersion:
        given = output(rows=f"{name}{value}", a="1"), output("/more", a="1")
        return asking(f"{name}.py", output(rows=name, a="1"), given=given)

    review = review_job(None, made("old", "1"), made("new", "1"))
    assert kinds(review) == ["ROWS"]


def test_another_difference_of_the_same_output_is_listed_too() -> None:
    old = asking("old.py", output(a="1", b="1"), given=(output(a="1", b="1"),))
    new = asking("new.py", output(a="2", b="1"), given=(output(a="2", b="3"),))
    assert kinds(review_job(None, old, new)) == ["MEANING", "MEANING"]


def test_an_output_that_one_version_writes_only_where_there_are_rows(subtests: pytest.Subtests) -> None:
    """It isn't removed."""
    for first, text in [(True, "written → not written"), (False, "not written where")]:
        with subtests.test(first=first):
            always, guarded = (
                asking(f"{name}.py", *some, given=(output(),)) for name, some in (("a", [output()]), ("b", []))
            )
            review = review_job(None, *((always, guarded) if first else (guarded, always)))
            assert (review.verdict, kinds(review)) == (JobVerdict.DEGRADED, ["ROWS"])
            assert text in review.outputs[0].differences[0].text
            assert "where there are no rows" in review.outputs[0].differences[0].text


def test_an_output_that_is_written_no_more_even_where_there_are_rows_is_removed() -> None:
    old, new = asking("old.py", output(), given=GIVEN[0]), asking("new.py", output(), given=())
    review = review_job(None, old, new)
    assert (review.verdict, kinds(review)) == (JobVerdict.BREAKING, ["OUTPUT_REMOVED"])


def test_what_fails_where_there_are_rows_is_unknown() -> None:
    old = asking("old.py", output(), given=(output(),))
    failing = replace(old, script="new.py", with_rows=version("new.py", problems=(("It fails.", "Correct it."),)))
    # What is behind that didn't run, and is no finding of its own.
    review = review_job(None, old, replace(failing, unrun=(line(9, "o . write . csv ( '/x' )"),)))
    assert review.verdict is JobVerdict.UNKNOWN
    (problem,) = review.problems
    assert (problem.script, problem.fix) == ("new.py", "Correct it.")
    assert problem.text == "In the run with made-up rows: It fails."


EMPTY = ("The script fails in line 3: TypeError: NoneType", "Have it stand an empty table.")


def test_what_both_fail_with_on_empty_tables_is_no_change() -> None:
    failing = version("old.py", problems=(EMPTY,)), version("new.py", problems=(EMPTY,))
    old, new = (
        replace(each, looks=(PLACE,), with_rows=version(each.script, output("/more", rows, a="1")))
        for each, rows in zip(failing, "rs", strict=True)
    )
    review = review_job(None, old, new)
    assert (review.verdict, review.problems, kinds(review)) == (JobVerdict.DEGRADED, (), ["ROWS"])
    assert "Without rows both versions fail: The script fails in line 3: TypeError: NoneType" in review.notes


def test_what_one_version_fails_with_on_empty_tables_is_unknown() -> None:
    old = asking("old.py", output(), given=(output(),))
    for new in (
        replace(old, script="new.py", problems=version("new.py", problems=(EMPTY,)).problems),
        replace(version("new.py", problems=(EMPTY,)), looks=(PLACE,)),
    ):
        review = review_job(None, old, new)
        assert (review.verdict, [problem.text for problem in review.problems]) == (JobVerdict.UNKNOWN, [EMPTY[0]])
    failing = replace(version("old.py", problems=(EMPTY,)), looks=(PLACE,))
    with_rows = replace(failing, with_rows=version("old.py", problems=(("It fails.", ""),)))
    assert review_job(None, with_rows, with_rows).verdict is JobVerdict.UNKNOWN
    assert review_job(None, failing, failing).verdict is JobVerdict.UNKNOWN


def test_a_version_that_ends_itself_alone_is_unknown() -> None:
    old = asking("old.py", output(), given=(output(),))
    review = review_job(None, old, asking("new.py", output(), given=(), stopped=True))
    assert [problem.script for problem in review.problems] == ["new.py"]
    assert kinds(review) == []
    both = asking("old.py", output(), given=(), stopped=True), asking("new.py", output(), given=(), stopped=True)
    assert review_job(None, *both).verdict is JobVerdict.NONE


def test_a_statement_that_runs_only_where_there_are_rows() -> None:
    old = asking("old.py", output(), given=(output(),))
    assert old.with_rows is not None
    new = replace(old, script="new.py", with_rows=replace(old.with_rows, ddl=("TRUNCATE t",)))
    assert [problem.text for problem in review_job(None, old, new).problems] == [
        "The new version now runs TRUNCATE t, which isn't compared."
    ]
    assert review_job(None, new, new).problems == ()


def test_calls_into_the_jvm_are_the_same_or_the_verdict_is_unknown() -> None:
    """A script can remove files by Hadoop's classes: `fs.delete(path, True)`."""
    call = Statement(
        "fs = spark._jvm.org.apache.hadoop.fs.FileSystem.get(conf)", frozenset({"fs"}), frozenset({"conf"})
    )
    old = asking("old.py", output(), given=(output(),))
    new = replace(old, script="new.py", statements=(*old.statements, call))
    review = review_job(None, old, new)
    assert (review.verdict, [each.script for each in review.problems]) == (JobVerdict.UNKNOWN, ["new.py"])
    assert "now runs fs = spark._jvm" in review.problems[0].text
    assert review_job(None, new, new).verdict is JobVerdict.NONE


def test_lines_that_differ_and_run_neither_way_are_unknown_and_the_same_lines_are_noted() -> None:
    plain = asking("old.py", output(), given=(output(),))
    same = (line(7, "big ( o )"), line(8, "o . write . csv ( '/x' )"), line(20, "x"), line(30, "y", begun=False))
    old = replace(plain, unrun=same)
    moved = tuple(replace(each, line=each.line + 1) for each in same)
    review = review_job(None, old, replace(plain, script="new.py", unrun=moved))
    assert review.verdict is JobVerdict.NONE
    assert review.notes[-1] == "Lines that ran in neither run aren't reviewed: lines 8 to 9, 21 of job.py."
    new = replace(plain, script="new.py", unrun=(*moved, line(10, "o . write . csv ( '/y' )")))
    review = review_job(None, old, new)
    assert review.verdict is JobVerdict.UNKNOWN
    (problem,) = review.problems
    assert problem.text == "These lines differ, but ran neither without rows nor with a made-up row: line 10 of job.py."
    assert [each.script for each in review_job(None, new, old).problems] == ["new.py"]


def test_what_differs_and_is_used_only_by_lines_that_run_neither_way(subtests: pytest.Subtests) -> None:
    """Nothing else shows that it differs."""
    cases = {
        "used there": (("LEAST = 1", "LEAST"), ("LEAST = 2", "LEAST"), False),
        "used elsewhere": (("OTHER = 1", "OTHER"), ("OTHER = 2", "OTHER"), True),
        "the same": (("LEAST = 1", "LEAST"), ("LEAST = 1", "LEAST"), True),
        "used by what is used there": (("BASE = 1", "BASE"), ("BASE = 2", "BASE"), False),
    }
    for case, (old_line, new_line, known) in cases.items():
        with subtests.test(case):
            plain = replace(
                asking("old.py", output(), given=(output(),)), unrun=(line(7, "o . where ( o . a > LEAST )"),)
            )
            steps = Statement("LEAST = BASE + 1", frozenset({"LEAST"}), frozenset({"BASE"}))
            old, new = (
                replace(plain, script=script, statements=(Statement(text, frozenset({name}), frozenset()), steps))
                for script, (text, name) in (("old.py", old_line), ("new.py", new_line))
            )
            review = review_job(None, old, new)
            assert (review.verdict is JobVerdict.NONE) is known
            if not known:
                assert "whose values may differ (LEAST): line 7 of job.py." in review.problems[0].text
            # Where something else differs it is a finding, and the lines are noted.
            other = replace(new, outputs=version("new.py", output(rows="s")).outputs)
            assert review_job(None, old, other).verdict is JobVerdict.DEGRADED


def test_a_job_that_asks_for_no_rows_has_a_note_of_lines_that_differ_and_didnt_run() -> None:
    old, new = (replace(version(f"{name}.py", output()), unrun=(line(4, name),)) for name in ("old", "new"))
    review = review_job(None, old, new)
    assert review.verdict is JobVerdict.NONE
    assert review.notes[1:] == (
        "Lines of old.py that didn't run differ, which isn't reviewed: line 4 of job.py.",
        "Lines of new.py that didn't run differ, which isn't reviewed: line 4 of job.py.",
    )
    assert len(review_job(None, old, replace(old, script="new.py")).notes) == 1


def test_how_errors_are_handled_is_noted_and_needs_no_rows() -> None:
    old = asking("old.py", output(), given=(output(),))
    review = review_job(None, old, replace(old, script="new.py", unrun=(line(4, "log ( e )", handler=True),)))
    assert review.verdict is JobVerdict.NONE
    assert "new.py handles errors differently, which isn't reviewed: line 4 of job.py." in review.notes


def test_many_places_and_lines_are_counted() -> None:
    old = replace(
        asking("old.py", output(), given=(output(),)),
        looks=tuple(f"count in line {number} of job.py" for number in range(9)),
        unrun=tuple(line(number, "x") for number in range(1, 50, 2)),
    )
    notes = review_job(None, old, old).notes
    assert "count in line 4 of job.py and 4 more)" in notes[-2]
    assert notes[-1].endswith("lines 1, 3, 5, 7, 9, 11, 13, 15 and 17 more of job.py.")
