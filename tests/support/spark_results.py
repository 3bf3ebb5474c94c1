"""Results of the tests under tests/spark on each Spark: recorded by `support.other_spark`, shown in docs.

One JSON file for each minor version in `tests/recordings/spark-versions/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "recordings" / "spark-versions"

RESULTS = ("passed", "absent", "failed")
"""Results of a test; absent: it couldn't be tried on this Spark."""

# By the beginning of a test's path below tests/spark and its name; the first that fits.
FEATURES: tuple[tuple[str, str], ...] = (
    (r"plan\.test_sql_cases", "Columns: SQL"),
    (r"plan\.test_frame_cases", "Columns: DataFrames"),
    (r"plan\.test_streaming|plan\.test_writes|plan\.test_inserts", "Columns: writes and streams"),
    (r"plan|tpch", "Columns: against independent answers"),
    (r"sources\.test_sources_and_sinks.*\[(Delta|Maintenance)", "Delta"),
    (r"sources\.test_sources_and_sinks.*\[Iceberg|sources\.test_iceberg", "Iceberg"),
    (r"sources\.test_kafka_batch", "Kafka: batch"),
    (r"sources\.test_hive", "Hive tables"),
    (r"sources\.test_sources_and_sinks.*\[RDDs|sources\.test_rdds", "RDDs"),
    (r"sources\.test_sources_and_sinks.*\[Python", "Python data sources"),
    (r"sources", "Files, tables, JDBC, partitions"),
    (r"streaming\..*(k|K)afka", "Kafka: streams"),
    (r"streaming", "Streams of other sources and sinks"),
    (r"capture\.test_foreach_batch", "foreachBatch"),
    (r"capture\.test_(streaming_runs|gaps|watermarks|event_time|triggers|memory)", "Streaming runs"),
    (r"capture\.test_spark_connect", "Spark Connect: refused"),
    (r"capture", "Batch runs, sessions, scripts, emission"),
    (r"reconcile", "Reconciling"),
    (r"dry_run", "Review of jobs"),
)


def record(version: str, junit: Path) -> None:
    """Takes the results of a run from pytest's report: each test's, in place of what was known of it.

    Args:
        version: of PySpark.
        junit: as `--junitxml` writes it.
    """
    path = FOLDER / f"{'.'.join(version.split('.')[:2])}.json"
    known: dict[str, tuple[str, str]] = {}
    if path.exists():
        features = json.loads(path.read_text(encoding="utf-8"))["features"].values()
        known = {name: (result, each["since"]) for each in features for result in RESULTS for name in each[result]}
    today = datetime.now(UTC).date().isoformat()
    for case in ET.parse(junit).iter("testcase"):
        if not case.attrib.get("classname"):
            continue  # no test: a module that wasn't collected, a run that was interrupted
        where = case.attrib["classname"].removeprefix("tests.spark.")
        known[f"{where}: {case.attrib['name']}"] = _result(case), today
    known = {name: each for name, each in known.items() if _is_there(name)}
    features = {title: {"since": None, **{result: [] for result in RESULTS}} for _, title in FEATURES}
    for name, (result, since) in sorted(known.items()):
        title = next((title for shape, title in FEATURES if re.match(shape, name)), None)
        if title is not None:
            features[title][result].append(name)
            features[title]["since"] = min(features[title]["since"] or since, since)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"pyspark": version, "features": features}, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def _is_there(name: str) -> bool:
    """True while such a test exists, whatever its parameters are by now: results of a renamed one are dropped."""
    module, _, test = name.partition(": ")
    path = ROOT / "tests" / "spark" / f"{module.replace('.', '/')}.py"
    return path.exists() and f"def {test.partition('[')[0]}(" in path.read_text(encoding="utf-8")


def _result(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "absent" if case.find("skipped") is not None else "passed"


def table() -> str:
    """Version × feature, in Markdown. Behind what wasn't tried on the last day of all is the day that it was."""
    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    lines = [f"\n| | {' | '.join(each['pyspark'] for each in results.values())} |\n|---|{'---|' * len(results)}\n"]
    latest = max(_days(results.values()), default="")
    for title in dict.fromkeys(title for _, title in FEATURES):
        # Of a feature that the recording is older than, nothing was tried.
        cells = [_cell(each["features"].get(title, {}), latest) for each in results.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |\n")
    return "".join([*lines, "\n"])


def failures() -> str:
    """Failing tests by version, in Markdown."""
    lines = []
    for path in sorted(FOLDER.glob("*.json")):
        results = json.loads(path.read_text(encoding="utf-8"))
        names = [name for each in results["features"].values() for name in each["failed"]]
        lines += [f"- {results['pyspark']}: `{name}`\n" for name in names]
    return "\n" + ("".join(lines) or "None.\n") + "\n"


def last_day() -> str:
    """Day of the latest recording, in Markdown."""
    found = _days(json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json"))
    return f"\nThe numbers are of {_shown(max(found), '%-d %B %Y')}, where no other day is behind them.\n\n"


def _days(recordings: Iterable[dict[str, Any]]) -> list[str]:
    return [each["since"] for found in recordings for each in found["features"].values() if each["since"]]


def _shown(day: str, form: str = "%-d %b") -> str:
    return date.fromisoformat(day).strftime(form)


def _cell(found: dict[str, Any], latest: str) -> str:
    words = {"passed": "", "absent": " absent", "failed": " fail"}
    counts = ", ".join(f"{len(found[result])}{words[result]}" for result in RESULTS if found.get(result))
    if not counts:
        return "not tried"
    # Of a feature whose tests weren't all run again, the oldest.
    return counts if found["since"] == latest else f"{counts} ({_shown(found['since'])})"
