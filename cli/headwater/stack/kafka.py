"""One Kafka broker in KRaft mode: its configuration, formatting and start.

The broker listens on the loopback interface without authentication, so every user of the machine can use it; for the
reasons see `docs/decisions/the-embedded-kafka-has-no-password.md`. Only its owner can read its files.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.stack.java import java_runtime
from headwater.stack.paths import PRIVATE_UMASK, private_folder, write_private
from headwater.stack.ports import LOOPBACK, Ports
from headwater.stack.process import GuardedProcess

# A long limit: a server that ends is noticed at once, and a start on 2 busy cores has taken 100 s.
START_SECONDS = 240.0

# One node is broker and controller. The offsets topic needs no 50 partitions without a cluster. Nothing is deleted by
# age: the timestamps of the demo's records are the flights' times, which are years ago.
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://{host}:{kafka},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{advertised}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
auto.create.topics.enable=false
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
"""

_LOG4J = """\
status = error
appender.stdout.type = Console
appender.stdout.name = stdout
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %-5p %c: %m%n
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = stdout
logger.server.name = org.apache.kafka.common.utils.AppInfoParser
logger.server.level = info
"""


class KafkaBroker:
    """Broker whose data is in one folder. The first `start()` formats the folder; the data stays there.

    Clients are sent to `advertised_port`, by default the port of the broker.
    """

    def __init__(
        self,
        folder: Path,
        ports: Ports,
        jars: Sequence[Path],
        *,
        java_options: Sequence[str],
        delete: bool,
        advertised_port: int | None = None,
    ) -> None:
        self._folder = folder
        self._ports = ports
        self._advertised = advertised_port or ports.kafka
        self._jars = jars
        self._java_options = java_options
        self._delete = delete
        self._process: GuardedProcess | None = None

    @property
    def bootstrap_servers(self) -> str:
        """Address for clients, `host:port`."""
        return f"{LOOPBACK}:{self._advertised}"

    @property
    def started(self) -> bool:
        """True if `start()` has started a process."""
        return self._process is not None

    @property
    def process(self) -> GuardedProcess:
        """The running JVM."""
        if self._process is None:
            raise HeadwaterError("Kafka has not been started.")
        return self._process

    def start(self) -> None:
        """Start the JVM; `wait()` returns when it accepts requests."""
        private_folder(self._folder)
        properties = self._folder / "server.properties"
        text = _PROPERTIES.format(
            logs=self._folder / "data",
            host=LOOPBACK,
            kafka=self._ports.kafka,
            advertised=self._advertised,
            controller=self._ports.controller,
        )
        write_private(properties, text)
        write_private(self._folder / "log4j2.properties", _LOG4J)
        if not (self._folder / "data" / "meta.properties").exists():
            self._format(properties)
        self._process = GuardedProcess(
            "Kafka",
            [*self._java(), "kafka.Kafka", str(properties)],
            output=self._folder / "kafka.log",
            private=True,
            delete=self._folder if self._delete else None,
        )

    def wait(self, cancelled: Callable[[], bool]) -> None:
        """Wait until the broker answers a client."""
        self.process.wait_until(
            lambda: answers(self.bootstrap_servers), timeout_seconds=START_SECONDS, cancelled=cancelled
        )

    def _java(self) -> list[str]:
        return [
            str(java_runtime().executable),
            *self._java_options,
            "-XX:+ExitOnOutOfMemoryError",
            f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}",
            "-cp",
            os.pathsep.join(map(str, self._jars)),
        ]

    def _format(self, properties: Path) -> None:
        cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # A cluster id that begins with a dash would be read as an option.
        arguments = ["format", f"--cluster-id={cluster_id}", "--config", str(properties)]
        done = subprocess.run(
            [*self._java(), "kafka.tools.StorageTool", *arguments],
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
            umask=PRIVATE_UMASK,
        )
        if done.returncode != 0:
            raise HeadwaterError(f"Kafka's data folder could not be formatted: {(done.stderr or done.stdout).strip()}")


def answers(bootstrap_servers: str, *, timeout_seconds: float = 2.0) -> bool:
    """Return True if a broker at this address answers a metadata request."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    # Without a logger librdkafka writes "connection refused" to stderr for every attempt.
    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 0})
    try:
        return bool(admin.list_topics(timeout=timeout_seconds).brokers)
    except KafkaException:
        return False
