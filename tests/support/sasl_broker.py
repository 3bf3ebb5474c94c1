"""A Kafka that asks for a password: the embedded broker's jars with SASL/PLAIN on. The stack's own asks for none."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

from headwater.stack import ports
from headwater.stack.jars import ensure_jars
from headwater.stack.java import java_runtime
from headwater.stack.process import GuardedProcess
from support.waiting import patience

USER, GUEST, PASSWORD = "admin", "guest", "right-password"

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=SASL_PLAINTEXT://127.0.0.1:{kafka},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{kafka}
listener.security.protocol.map=SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
required username="{user}" password="{password}" user_{user}="{password}" user_{guest}="{password}";
log.dirs={logs}
auto.create.topics.enable=false
log.retention.ms=-1
offsets.topic.replication.factor=1
"""


_ACLS = """\
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:{user};User:ANONYMOUS
"""
"""The controller's listener asks for no password."""


def client_of(bootstrap: str, user: str = USER) -> dict[str, str]:
    """Settings of librdkafka for a user of it."""
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": PASSWORD,
    }


@contextlib.contextmanager
def sasl_broker(folder: Path, *, acls: bool = False) -> Iterator[str]:
    """Run one with its data in `folder`, and give its `host:port`; with `acls` it checks them, and `GUEST` has none."""
    chosen = ports.choose(ports.ANY)
    java = [str(java_runtime().executable), "-Xmx256m", "-cp", os.pathsep.join(map(str, ensure_jars("kafka")))]
    properties = folder / "server.properties"
    properties.write_text(
        _PROPERTIES.format(
            kafka=chosen.kafka,
            controller=chosen.controller,
            logs=folder / "data",
            user=USER,
            guest=GUEST,
            password=PASSWORD,
        )
        + (_ACLS.format(user=USER) if acls else "")
    )
    cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    arguments = ["format", f"--cluster-id={cluster_id}", "--config", str(properties)]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", *arguments], check=True, capture_output=True, timeout=patience(120)
    )
    broker = GuardedProcess("Kafka", [*java, "kafka.Kafka", str(properties)], output=folder / "kafka.log", delete=None)
    try:
        broker.wait_until(lambda: _listens(chosen.kafka), timeout_seconds=patience(120), cancelled=lambda: False)
        yield f"127.0.0.1:{chosen.kafka}"
    finally:
        broker.stop()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
