"""The worked example of two sensors: its scripts run, and the incident has every alert made from a bad reading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from headwater.stack.info import CLUSTER_NAME
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.stack]

SCRIPTS = Path(__file__).parents[3] / "docs" / "examples" / "sensors"
HEADWATER = str(Path(sys.executable).with_name("headwater"))
WINDOW = timedelta(minutes=5)
BEGIN, END = (datetime(2026, 6, 1, hour, tzinfo=UTC) for hour in (14, 15))


def records(bootstrap_servers: str, topic: str, partitions: int) -> list[tuple[int, int, dict[str, Any]]]:
    """Partition, offset and value of each record of a topic."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": "looks", "enable.auto.commit": False})
    found = []
    for partition in range(partitions):
        _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=patience(30))
        consumer.assign([TopicPartition(topic, partition, 0)])
        for _ in range(end):
            [record] = consumer.consume(1, timeout=patience(30))
            found.append((partition, record.offset() or 0, json.loads(record.value() or b"")))
    consumer.close()
    return found


def offsets_of(parts: Iterable[Any], topic: str) -> set[tuple[int, int]]:
    """Partitions and offsets in the parts of a topic."""
    spans = [span for part in parts if part["dataset"]["name"] == topic for span in part["offsets"]]
    return {(span["partition"], offset) for span in spans for offset in range(span["start"], span["end"])}


def is_bad(value: dict[str, Any], time: str) -> bool:
    return bool(value["site"] == 1 and BEGIN <= datetime.fromisoformat(value[time]) < END)


@pytest.mark.timeout(1_200)
def test_the_alerts_of_a_bad_thermometer(stack: StackUnderTest, clean_database: Driver, tmp_path: Path) -> None:
    servers = stack.bootstrap_servers
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")} | {
        "HEADWATER_DATA_DIR": str(tmp_path / "data"),
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": servers,
        "HEADWATER_KAFKA_CLUSTER_NAME": CLUSTER_NAME,
        "HEADWATER_NEO4J_URI": stack.neo4j_uri,
        "HEADWATER_NEO4J_USER": stack.neo4j_user,
        "HEADWATER_NEO4J_PASSWORD": stack.neo4j_password,
        "HEADWATER_TOPIC_PREFIX": "sensors",
        "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
    }

    def headwater(*arguments: str) -> str:
        done = subprocess.run(
            [HEADWATER, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=patience(400),
            check=False,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def shown(*scope: str) -> Any:
        """The reach of an incident of this scope; it is published, and consumed afterwards."""
        opened = json.loads(headwater("incident", "open", "Off", *scope, "--wait", "0", "--json"))
        headwater("consume", "--until-caught-up")
        return json.loads(headwater("incident", "show", opened["incident"], "--json"))["reach"]

    for topic, partitions in (("thermometers", "4"), ("barometers", "4"), ("alerts", "1")):
        headwater("topic", "create", topic, "--partitions", partitions)
    run = ("run", "--with", "kafka")
    for hours in (("12", "15"), ("15", "18")):
        headwater(*run, str(SCRIPTS / "measure.py"), servers, *hours)
        headwater(*run, str(SCRIPTS / "correlate.py"), servers)
    headwater("consume", "--until-caught-up")

    readings = records(servers, "thermometers", 4)
    bad = {(partition, offset) for partition, offset, value in readings if is_bad(value, "at")}
    alerts = records(servers, "alerts", 1)
    concerned = {(partition, offset) for partition, offset, value in alerts if is_bad(value, "since")}
    assert len(bad) == 60
    assert len(concerned) >= 4

    span = ("--event-time", "--since", f"{BEGIN:%Y-%m-%dT%H:%MZ}", "--until", f"{END:%Y-%m-%dT%H:%MZ}")
    in_time = shown("--dataset", "thermometers", *span)
    assert bad <= offsets_of(in_time["scope"][0]["parts"], "thermometers")
    first, last = min(bad)[1], max(bad)[1] + 1
    in_offsets = shown("--dataset", "thermometers", "--offsets", f"0:{first}..{last}")
    for reach in (in_time, in_offsets):
        reached = [part for each in reach["blast"]["tainted"] for part in each["parts"]]
        assert concerned <= offsets_of(reached, "alerts")
        assert len(offsets_of(reached, "alerts")) < len(alerts), "the watermark bounds it"
        assert [each["is_over"] for each in reach["spreading"]] == [True]

    partition, offset, value = next(each for each in alerts if is_bad(each[2], "since"))
    since = datetime.fromisoformat(value["since"])
    back = json.loads(headwater("trace", "alerts", str(partition), str(offset), "--back", "--depth", "all", "--json"))
    used = [part for hop in back["hops"] for part in hop["inputs"]]
    for topic in ("thermometers", "barometers"):
        made_from = {
            (partition, offset)
            for partition, offset, reading in records(servers, topic, 4)
            if reading["site"] == 1 and since <= datetime.fromisoformat(reading["at"]) < since + WINDOW
        }
        assert len(made_from) == 5
        assert made_from <= offsets_of(used, topic)
    writers = {hop["step"]["job"]["name"] for hop in back["hops"]}
    assert writers == {"correlate.correlate", "measure.thermometers", "measure.barometers"}
