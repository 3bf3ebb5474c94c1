"""A Kafka that checks who connects and what they may do: the embedded broker's jars with TLS, SASL, mTLS and ACLs."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from prometheus_client import CollectorRegistry

from headwater.stack import ports
from headwater.stack.jars import ensure_jars
from headwater.stack.java import java_runtime
from headwater.stack.process import GuardedProcess
from headwater_producers.outbox import Outbox
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.topics import TopicNames
from support.certificates import Certificate, certificate
from support.materializer.events import run_start
from support.oidc_issuer import AUDIENCE, KEYS, TOKEN, Issuer, issuer
from support.outbox import metrics
from support.running import records_on
from support.waiting import patience

ADMIN, PASSWORD, WRONG = "admin", "right-password", "another-password"
CLIENT_SECRET = "secret-of-the-client"

# Clients of three kinds, one expired certificate, and an open door for the test itself, whose user may do all.
_LISTENERS = {"SCRAM": "SASL_SSL", "OAUTH": "SASL_SSL", "MTLS": "SSL", "EXPIRED": "SSL", "OPEN": "PLAINTEXT"}

_OPERATIONS = {
    "Read": AclOperation.READ,
    "Write": AclOperation.WRITE,
    "Delete": AclOperation.DELETE,
    "Describe": AclOperation.DESCRIBE,
    "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS,
}

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
inter.broker.listener.name=OPEN
sasl.enabled.mechanisms=SCRAM-SHA-512,OAUTHBEARER
ssl.keystore.type=PEM
ssl.keystore.location={server}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.expired.ssl.keystore.type=PEM
listener.name.expired.ssl.keystore.location={expired}
listener.name.scram.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.scram.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.oauth.sasl.enabled.mechanisms=OAUTHBEARER
listener.name.oauth.oauthbearer.sasl.jaas.config=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;
listener.name.oauth.oauthbearer.sasl.server.callback.handler.class=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler
sasl.oauthbearer.jwks.endpoint.url={keys}
sasl.oauthbearer.expected.audience={audience}
sasl.oauthbearer.expected.issuer={issuer}
listener.name.mtls.ssl.client.auth=required
ssl.principal.mapping.rules=RULE:^.*CN=([^,]+).*$/$1/,DEFAULT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:{admin};User:ANONYMOUS
log.dirs={logs}
auto.create.topics.enable=false
log.retention.ms=-1
group.initial.rebalance.delay.ms=0
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
"""


@dataclass(frozen=True)
class SecuredBroker:
    """A broker that runs.

    Attributes:
        folder: folder of its certificates.
        ports: port of each listener, by its name.
        authority: authority of all certificates.
        tokens: issuer of OAUTHBEARER's tokens.
    """

    folder: Path
    ports: dict[str, int]
    authority: Certificate
    tokens: Issuer

    def address(self, listener: str) -> str:
        """`host:port` of a listener."""
        return f"127.0.0.1:{self.ports[listener]}"

    @property
    def admin(self) -> dict[str, str]:
        """Settings of librdkafka by which a test may do all."""
        return {"bootstrap.servers": self.address("OPEN")}

    def scram(self, user: str = ADMIN, password: str = PASSWORD) -> dict[str, str]:
        """Headwater's settings of a user with a password, without the prefix of their variables."""
        return {
            "bootstrap_servers": self.address("SCRAM"),
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_username": user,
            "sasl_password": password,
            "ssl_ca_location": str(self.authority.file),
        }

    def mtls(self, client: Certificate, *, listener: str = "MTLS") -> dict[str, str]:
        """Settings of a client with a certificate, whose common name is the user."""
        return {
            "bootstrap_servers": self.address(listener),
            "security_protocol": "SSL",
            "ssl_ca_location": str(self.authority.file),
            "ssl_certificate_location": str(client.file),
            "ssl_key_location": str(client.key),
        }

    def oauth(self, user: str) -> dict[str, str]:
        """Settings of a client that gets tokens from the issuer. Its next tokens are this user's."""
        at = int(time.time())
        token = self.tokens.token(sub=user, iat=at, nbf=at - 60, exp=at + 3600)
        self.tokens.status = 200
        self.tokens.granted = {"access_token": token, "token_type": "Bearer", "expires_in": 3600}
        return {
            "bootstrap_servers": self.address("OAUTH"),
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "OAUTHBEARER",
            "ssl_ca_location": str(self.authority.file),
            "client_properties": json.dumps(
                {
                    "sasl.oauthbearer.method": "oidc",
                    "sasl.oauthbearer.client.id": user,
                    "sasl.oauthbearer.client.secret": CLIENT_SECRET,
                    "sasl.oauthbearer.token.endpoint.url": self.tokens.url + TOKEN,
                }
            ),
        }

    def allow(self, *rules: AclBinding) -> None:
        """Add ACLs."""
        admin = AdminClient({**self.admin})  # whose requests end with it
        for future in admin.create_acls(list(rules)).values():
            future.result(patience(30))

    @contextlib.contextmanager
    def without(self, rule: AclBinding) -> Iterator[None]:
        """Take an ACL away for the block."""
        exact = AclBindingFilter(
            rule.restype,
            rule.name,
            rule.resource_pattern_type,
            rule.principal,
            rule.host,
            rule.operation,
            rule.permission_type,
        )
        admin = AdminClient({**self.admin})
        for future in admin.delete_acls([exact]).values():
            assert len(future.result(patience(30))) == 1
        try:
            yield
        finally:
            self.allow(rule)

    def client(self, name: str, *, lasts: timedelta = timedelta(days=1)) -> Certificate:
        """A certificate of a client, signed by the authority."""
        return certificate(self.folder, name, self.authority, lasts=lasts)


def variables(kafka: dict[str, str]) -> dict[str, str]:
    """Variables of Headwater's settings of a client."""
    return {f"HEADWATER_KAFKA_{name.upper()}": value for name, value in kafka.items()}


def job_outbox(folder: Path, kafka: dict[str, str]) -> Outbox:
    """The outbox of a job with these settings."""
    given = {name: json.loads(value) if name == "client_properties" else value for name, value in kafka.items()}
    settings = PublisherSettings(**KafkaSettings.model_validate(given).model_dump())
    publisher = Publisher(settings, TopicNames(), metrics=PublisherMetrics(CollectorRegistry()))
    return Outbox(folder, publisher, metrics=metrics())


def lineage_on(broker: SecuredBroker) -> Iterator[LineageEvent]:
    """Events on the topic, in its order; records that are no events are left out."""
    decoder = Decoder()
    for record in records_on(broker.address("OPEN"), TopicNames().events):
        with contextlib.suppress(DecodeError):
            yield decoder.decode(record.value())


def on_topic(broker: SecuredBroker) -> list[str]:
    """Ids of the runs of the events on the topic, in its order."""
    return [event.run.run_id for event in lineage_on(broker) if event.run is not None]


def run_of(number: int) -> str:
    """Id of the run of `run_start(number)`."""
    event = run_start(number)
    assert event.run is not None
    return event.run.run_id


def spotless(output: str) -> str:
    """Return the text, in which no secret is."""
    assert [secret for secret in (PASSWORD, WRONG, CLIENT_SECRET) if secret in output] == []
    return output


@contextlib.contextmanager
def secured_broker(
    folder: Path, users: Iterable[str] = (), authority: Certificate | None = None
) -> Iterator[SecuredBroker]:
    """Run one with its data in `folder`.

    Args:
        folder: folder of its data and certificates.
        users: users with the password `PASSWORD`, besides `ADMIN`. They may do nothing until an ACL allows it.
        authority: authority of its certificates, by default one of its own.
    """
    authority = authority or certificate(folder, "authority", authority=True)
    servers = {
        name: _with_key(certificate(folder, name, authority, server=True, lasts=lasts))
        for name, lasts in (("server", timedelta(days=1)), ("expired-server", timedelta(days=-1)))
    }
    found = _ports()
    listeners = {name: port for name, port in found.items() if name != "CONTROLLER"}
    properties = folder / "server.properties"
    with issuer() as tokens:
        properties.write_text(
            _PROPERTIES.format(
                controller=found["CONTROLLER"],
                listeners=",".join(f"{name}://127.0.0.1:{port}" for name, port in listeners.items()),
                protocols=",".join(f"{name}:{protocol}" for name, protocol in _LISTENERS.items()),
                server=servers["server"],
                expired=servers["expired-server"],
                authority=authority.file,
                keys=tokens.url + KEYS,
                issuer=tokens.url,
                audience=AUDIENCE,
                admin=ADMIN,
                logs=folder / "data",
            )
        )
        java = [
            str(java_runtime().executable),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={tokens.url + KEYS}",
            "-cp",
            os.pathsep.join(map(str, ensure_jars("kafka"))),
        ]
        cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        arguments = ["format", f"--cluster-id={cluster_id}", f"--config={properties}"]
        arguments += [f"--add-scram=SCRAM-SHA-512=[name={user},password={PASSWORD}]" for user in (ADMIN, *users)]
        subprocess.run(
            [*java, "kafka.tools.StorageTool", *arguments], check=True, capture_output=True, timeout=patience(120)
        )
        output = folder / "kafka.log"
        broker = GuardedProcess("Kafka", [*java, "kafka.Kafka", str(properties)], output=output, delete=None)
        try:
            broker.wait_until(
                lambda: all(map(_listens, listeners.values())), timeout_seconds=patience(120), cancelled=lambda: False
            )
            yield SecuredBroker(folder, listeners, authority, tokens)
        finally:
            broker.stop()


def _with_key(server: Certificate) -> Path:
    """File with key and certificate, as Kafka's PEM keystores have them."""
    both = server.file.with_suffix(".keystore.pem")
    both.write_bytes(server.key.read_bytes() + server.file.read_bytes())
    return both


def _ports() -> dict[str, int]:
    names = [*_LISTENERS, "CONTROLLER"]
    found: dict[str, int] = {}
    while len(found) < len(names):
        chosen = ports.choose(ports.ANY)
        for port in (chosen.kafka, chosen.controller, chosen.bolt, chosen.http):
            if port not in found.values() and len(found) < len(names):
                found[names[len(found)]] = port
    return found


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class DocumentedAcl:
    """A line of docs/kafka-security.md that allows a user something.

    Attributes:
        user: the user.
        operation: operation, as kafka-acls.sh spells it.
        binding: the same as confluent_kafka has it.
    """

    user: str
    operation: str
    binding: AclBinding

    @property
    def resource(self) -> str:
        """Name of the topic or group."""
        return str(self.binding.name)


def documented_acls() -> list[DocumentedAcl]:
    """ACLs of the commands of the page, one for each operation."""
    page = (Path(__file__).parents[2] / "docs" / "kafka-security.md").read_text(encoding="utf-8")
    return [acl for line in page.splitlines() if line.startswith("kafka-acls.sh") for acl in _acls_of(line)]


def _acls_of(command: str) -> Iterator[DocumentedAcl]:
    parser = argparse.ArgumentParser()
    parser.add_argument("--add", action="store_true", required=True)
    parser.add_argument("--allow-principal", required=True)
    parser.add_argument("--operation", action="append", required=True)
    parser.add_argument("--topic")
    parser.add_argument("--group")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--resource-pattern-type", default="literal")
    given = parser.parse_args(shlex.split(command)[1:])
    kinds = {ResourceType.TOPIC: given.topic, ResourceType.GROUP: given.group}
    [(kind, name)] = [each for each in kinds.items() if each[1]] or [(ResourceType.BROKER, "kafka-cluster")]
    for operation in given.operation:
        binding = AclBinding(
            kind,
            name,
            ResourcePatternType[given.resource_pattern_type.upper()],
            given.allow_principal,
            "*",
            _OPERATIONS[operation],
            AclPermissionType.ALLOW,
        )
        yield DocumentedAcl(given.allow_principal.removeprefix("User:"), operation, binding)
