"""Expected output of the pipeline, computed again with pandas from the package's own files."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import data
import pandas as pd
from confluent_kafka import Consumer, TopicPartition

from support.waiting import patience

GROUP = ["hour", "origin", "carrier"]


def flights(days: int) -> pd.DataFrame:
    """The flights of January's first days, with the event time that the loader gives them."""
    rows = pd.read_csv(data.package_folder() / "flights.csv.zip")
    rows = rows[(rows.month == 1) & (rows.day <= days)]
    event_time = pd.to_datetime(rows.time_hour, utc=True) + pd.to_timedelta(rows.minute, unit="min")
    return rows.assign(event_time=event_time)


def raw(bootstrap_servers: str, topic: str) -> dict[int, list[tuple[bytes, bytes]]]:
    """Keys and values of each partition, in order."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "log_level": 2, "group.id": "look", "enable.auto.commit": False}
    )
    try:
        partitions = consumer.list_topics(topic, timeout=patience(20)).topics[topic].partitions
        parts = [TopicPartition(topic, number, 0) for number in partitions]
        left = sum(consumer.get_watermark_offsets(part, timeout=patience(20))[1] for part in parts)
        consumer.assign(parts)
        found: defaultdict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
        while left:
            message = consumer.poll(patience(20))
            assert message is not None
            assert message.error() is None
            number, key, value = message.partition(), message.key(), message.value()
            assert number is not None
            assert isinstance(key, bytes)
            assert isinstance(value, bytes)
            found[number].append((key, value))
            left -= 1
        return found
    finally:
        consumer.close()


def records(bootstrap_servers: str, topic: str) -> dict[int, list[tuple[str, dict[str, Any]]]]:
    """Keys and JSON values of each partition, in order."""
    return {
        number: [(key.decode(), json.loads(value)) for key, value in part]
        for number, part in raw(bootstrap_servers, topic).items()
    }


def check_departed(bootstrap_servers: str, expected: pd.DataFrame) -> None:
    """Each flight once, by its key, in event-time order within a partition, over several partitions."""
    found = records(bootstrap_servers, "flights.departed")
    assert len(found) > 1
    everything = [record for partition in found.values() for record in partition]
    assert all(key == f"{value['carrier']}{value['flight']}" for key, value in everything)
    for partition in found.values():
        times = [pd.Timestamp(value["event_time"]) for _, value in partition]
        assert times == sorted(times)
    wanted = sorted(zip(expected.event_time, expected.carrier, expected.flight, expected.origin, strict=True))
    values = [value for _, value in everything]
    assert wanted == sorted((pd.Timestamp(v["event_time"]), v["carrier"], v["flight"], v["origin"]) for v in values)


def check_enriched(bootstrap_servers: str, expected: pd.DataFrame) -> None:
    """No flight lost by the joins, none doubled, names and planes as the files have them."""
    values = [v for part in records(bootstrap_servers, "flights.enriched").values() for _, v in part]
    assert len(values) == len(expected)
    airlines = pd.read_csv(data.package_folder() / "airlines.csv").set_index("carrier")["name"].to_dict()
    seats = pd.read_csv(data.package_folder() / "planes.csv").set_index("tailnum")["seats"].to_dict()
    assert all(value["airline"] == airlines[value["carrier"]] for value in values)
    assert all(value.get("seats") == seats.get(value.get("tailnum")) for value in values)


def check_routes(home: Path, expected: pd.DataFrame) -> None:
    """The newest partition of the table counts every route."""
    newest = max((home / "routes").glob("batch_id=*"), key=lambda part: int(part.name.partition("=")[2]))
    table = pd.read_parquet(newest).set_index(["origin", "dest"]).sort_index()
    wanted = expected.groupby(["origin", "dest"]).agg(flights=("flight", "size"), miles=("distance", "sum"))
    assert table["flights"].to_dict() == wanted["flights"].to_dict()
    assert table["miles"].to_dict() == wanted["miles"].to_dict()


def check_delays(home: Path, expected: pd.DataFrame) -> int:
    """Every hour that was written is right, and all were that the watermark had passed; returns how many flights."""
    table = pd.read_parquet(home / "delays")
    table["hour"] = pd.to_datetime(table["hour"], utc=True)
    assert not table.duplicated(GROUP).any()
    # 2 hours of watermark behind the last flight; an hour is closed when the watermark has reached its end.
    closed = expected.event_time.max() - pd.Timedelta(hours=2) - pd.Timedelta(hours=1)
    hours = expected.assign(hour=expected.event_time.dt.floor("h"), late=expected.dep_delay > 15)
    hours = hours[hours.hour <= closed]
    wanted = hours.groupby(GROUP).agg(
        flights=("flight", "size"),
        departed=("dep_delay", "count"),
        delay_minutes=("dep_delay", "sum"),
        late=("late", "sum"),
    )
    found = table.set_index(GROUP).sort_index()
    for column in wanted.columns:
        # A group that never left has no sum of delays in Spark, and 0 in pandas.
        assert found[column].fillna(0).astype(int).to_dict() == wanted[column].astype(int).to_dict(), column
    return int(wanted["flights"].sum())


def check_report(home: Path, flights_in_delays: int) -> None:
    """Every flight of the hourly delays is in the report, once."""
    report = pd.read_parquet(home / "daily_report")
    assert not report.duplicated(["day", "origin", "carrier"]).any()
    assert report["flights"].sum() == flights_in_delays
    # Null where the station was silent in that hour.
    assert set(report["sky_at_max_delay"].dropna()) <= {"fair", "fog", "rain", "snow", "wind"}
    assert report["max_wind"].notna().mean() > 0.9
