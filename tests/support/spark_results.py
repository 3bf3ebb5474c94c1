"""What the tests under tests/spark found on each Spark: recorded by `support.other_spark`, shown in docs.

One JSON file for each minor version in `tests/recordings/spark-versions/`. A run replaces what it tried of a feature,
and leaves the rest as it was.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "recordings" / "spark-versions"

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
    (r"sources\.test_sources_and_sinks.*\[RDDs", "RDDs"),
    (r"sources\.test_sources_and_sinks.*\[Python", "Python data sources"),
    (r"sources", "Files, tables, JDBC, partitions"),
    (r"streaming\..*(k|K)afka", "Kafka: streams"),
    (r"streaming", "Streams of other sources and sinks"),
    (r"capture\.test_foreach_batch", "foreachBatch"),
    (r"capture\.test_(streaming_runs|gaps|watermarks|event_time|triggers|memory)", "Streaming runs"),
    (r"capture\.test_spark_connect", "Spark Connect: refused"),
    (r"capture", "Batch runs, sessions, scripts, emission"),
    (r"reconcile", "Reconciling"),
)


@dataclass(slots=True)
class Found:
    """The tests of one feature: how many passed, which couldn't be tried on this Spark, and which failed."""

    passed: int
    absent: list[str]
    failed: list[str]


def record(version: str, junit: Path) -> None:
    """Takes the results of a run from pytest's report.

    Args:
        version: of PySpark.
        junit: as `--junitxml` writes it.
    """
    found: dict[str, Found] = {}
    for case in ET.parse(junit).iter("testcase"):
        where = case.attrib["classname"].removeprefix("tests.spark.")
        name = f"{where}: {case.attrib['name']}"
        feature = next((title for shape, title in FEATURES if re.match(shape, name)), None)
        if feature is None:
            continue
        of_feature = found.setdefault(feature, Found(0, [], []))
        if case.find("failure") is not None or case.find("error") is not None:
            of_feature.failed.append(name)
        elif case.find("skipped") is not None:
            of_feature.absent.append(name)
        else:
            of_feature.passed += 1
    release = ".".join(version.split(".")[:2])
    path = FOLDER / f"{release}.json"
    before = json.loads(path.read_text(encoding="utf-8"))["features"] if path.exists() else {}
    made = {
        title: {"passed": each.passed, "absent": sorted(each.absent), "failed": sorted(each.failed)}
        for title, each in found.items()
    }
    features = {title: (before | made)[title] for _, title in FEATURES if title in before | made}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"pyspark": version, "features": features}, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def table() -> str:
    """Version × feature, in Markdown."""
    results = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    lines = [f"\n| | {' | '.join(each['pyspark'] for each in results.values())} |\n|---|{'---|' * len(results)}\n"]
    for title in dict.fromkeys(title for _, title in FEATURES):
        cells = [_cell(each["features"].get(title)) for each in results.values()]
        lines.append(f"| {title} | {' | '.join(cells)} |\n")
    return "".join([*lines, "\n"])


def failures() -> str:
    """What fails, by version, in Markdown."""
    lines = []
    for path in sorted(FOLDER.glob("*.json")):
        results = json.loads(path.read_text(encoding="utf-8"))
        names = [name for each in results["features"].values() for name in each["failed"]]
        lines += [f"- {results['pyspark']}: `{name}`\n" for name in names]
    return "\n" + ("".join(lines) or "None.\n") + "\n"


def _cell(found: dict[str, object] | None) -> str:
    if found is None:
        return "not tried"
    failed, absent = found["failed"], found["absent"]
    assert isinstance(failed, list)
    assert isinstance(absent, list)
    parts = [str(found["passed"])] if found["passed"] else []
    parts += [f"{len(absent)} absent"] if absent else []
    parts += [f"{len(failed)} fail"] if failed else []
    return ", ".join(parts)
