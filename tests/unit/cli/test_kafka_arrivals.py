"""Clusters that are asked when records of a topic arrived, and cases in which none may be."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from headwater import kafka_arrivals
from headwater.kafka_arrivals import KafkaArrivals
from headwater_analysis.errors import ArrivalsUnknownError
from headwater_analysis.trace import ArrivedRecords
from headwater_schemas.events import DatasetRef
from headwater_schemas.kafka.settings import KafkaSettings

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

AT = datetime(2025, 1, 31, tzinfo=UTC)
FOUND = ArrivedRecords((), None, by_broker=True)
IDS = {"lineage:9092": "A", "other:9092": "A", "data:9092": "B"}
"""Brokers that answer, with the id of their cluster."""


@dataclass
class Brokers:
    """An AdminClient, as far as the choice of a cluster needs it."""

    config: dict[str, Any]

    def describe_cluster(self, *, request_timeout: float) -> Future[Any]:
        assert request_timeout > 0
        done: Future[Any] = Future()
        servers = self.config["bootstrap.servers"]
        nodes = [
            SimpleNamespace(host=each.split(":")[0], port=9092) for each, id_ in IDS.items() if id_ == IDS[servers]
        ]
        done.set_result(SimpleNamespace(cluster_id=IDS[servers], nodes=nodes))
        return done


def test_the_cluster_that_holds_the_topic(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    asked: list[str] = []

    def remember(client: AdminClient, *_: object) -> ArrivedRecords:
        asked.append(client.config["bootstrap.servers"])  # type: ignore[attr-defined]
        return FOUND

    monkeypatch.setattr(kafka_arrivals, "AdminClient", Brokers)
    monkeypatch.setattr(kafka_arrivals, "_asked", remember)
    plain: dict[str, Any] = {"bootstrap_servers": "lineage:9092"}
    secret = plain | {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_username": "u",
        "sasl_password": "p",
    }
    cases: list[tuple[str, dict[str, Any], str, set[str], bool, str | None]] = [
        ("the same brokers", plain, "lineage:9092", set(), False, "lineage:9092"),
        ("other brokers of the cluster", plain, "other:9092", set(), False, "lineage:9092"),
        ("the cluster's id", plain, "lineage:9092", {"A"}, False, "lineage:9092"),
        ("the same address, another cluster", plain, "lineage:9092", {"C"}, False, None),
        ("a name for the cluster", plain | {"cluster_name": "sales"}, "sales", set(), False, "lineage:9092"),
        (
            "a name of a cluster by its id",
            plain | {"cluster_names": {"A": "sales"}},
            "sales",
            set(),
            False,
            "lineage:9092",
        ),
        ("a name that nothing explains", plain, "sales", set(), True, None),
        ("brokers in the topic's name", plain, "data:9092", set(), True, "data:9092"),
        ("these, of the cluster that is known", plain, "data:9092", {"B"}, True, "data:9092"),
        ("these, of another by now", plain, "data:9092", {"C"}, True, None),
        ("a server follows no name", plain, "data:9092", set(), False, None),
        ("credentials are for one cluster", secret, "data:9092", set(), True, None),
        ("no Kafka is configured", {}, "data:9092", set(), True, "data:9092"),
        ("none, and a server", {}, "data:9092", set(), False, None),
    ]
    for title, settings, cluster, ids, follows, expected in cases:
        with subtests.test(title):
            asked.clear()
            find = KafkaArrivals(KafkaSettings(**settings), follows_names=follows)
            names = [DatasetRef(f"kafka://{cluster}", "orders")]
            if expected is None:
                with pytest.raises(ArrivalsUnknownError, match=r"unknown which records of kafka://.*/orders arrived"):
                    find(names, ids, AT, AT)
            else:
                assert find(names, ids, AT, AT) == FOUND
            assert asked == ([] if expected is None else [expected])
