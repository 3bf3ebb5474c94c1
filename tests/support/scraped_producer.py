"""A process with all metrics of a producer, exposed as a Spark driver's are: in `prometheus_client`'s default registry.

    python -m support.scraped_producer SERVERS TOPIC_PREFIX FOLDER

Says the port of its `/metrics`. For each number that it reads it puts so many events into its outbox, and says
`relayed` once Kafka has them. It ends with its input.
"""

from __future__ import annotations

import sys
from pathlib import Path

from prometheus_client import start_http_server

from headwater_producers.outbox import Outbox
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.spark.common.metrics import shared_metrics
from headwater_schemas.topics import TopicNames
from support.outbox import record


def main() -> None:
    servers, prefix, folder = sys.argv[1:]
    shared_metrics()
    publisher = Publisher(PublisherSettings(bootstrap_servers=servers), TopicNames(prefix))
    with Outbox(Path(folder), publisher) as outbox:
        server, _ = start_http_server(0, addr="127.0.0.1")
        say(str(server.server_port))
        for line in sys.stdin:
            for number in range(int(line)):
                outbox.put(record(f"e{number}"))
            say("relayed" if outbox.await_relayed(60) == 0 else "not relayed")


def say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
