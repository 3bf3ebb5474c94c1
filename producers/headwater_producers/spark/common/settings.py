"""CaptureSettings: all settings of capture, from arguments, Spark's properties and the environment.

`spark.headwater.jobName` is the setting `job_name`: each setting has one property, in Spark's own spelling, for
`spark-submit --conf` and `spark.conf.set`.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_schemas.kafka.settings import Address, ClientProperties
from headwater_schemas.topics import BROKER_DEFAULT, DEFAULT_MAX_MESSAGE_BYTES, DEFAULT_PARTITIONS, TopicPrefix
from headwater_schemas.variables import OTHER_VARIABLES

ENV_PREFIX: Final = "HEADWATER_"
PREFIX: Final = "spark.headwater."
# Separator of properties in one text: a control character that nobody writes in a name or value.
_BETWEEN: Final = "\x1e"


ErrorDetail = Literal["type", "message", "stack"]
"""Detail of a reported error. `type`: its class; `message`: class and message; `stack`: also the stack trace."""

_TABLES = {"kafka_client_properties": '{"client.rack": "a"}', "kafka_cluster_names": '{"b1:9092,b2:9092": "orders"}'}
"""Settings that are JSON objects in the environment and in Spark's properties, with an example of each."""


def _tags_in_text(tags: Any) -> Any:
    if not isinstance(tags, str):
        raise PydanticCustomError("job_tags", "write one text such as 'tier=1,pii'")
    return tags


def _in_capitals(text: Any) -> Any:
    return text.upper() if isinstance(text, str) else text


def _no_other_brokers(properties: dict[str, SecretStr]) -> dict[str, SecretStr]:
    if same := {"bootstrap.servers", "metadata.broker.list"} & set(properties):
        raise PydanticCustomError(
            "brokers", "{name} isn't for here: kafka_bootstrap_servers is the setting for brokers", {"name": min(same)}
        )
    return properties


class EmissionPolicy(StrEnum):
    """Delivery guarantee that a pipeline asks for. Durable: in its outbox, or acknowledged by Kafka.

    Attributes:
        WARN: undelivered lineage is lost when the job ends, with a warning. No outbox, unless a path is given.
        RETRY: undelivered lineage waits in the outbox, if necessary for the next start.
        FAIL_JOB: like RETRY; also, `close()` raises, or the process exits with 1, if not all lineage is durable.
        FAIL_CLOSED: like FAIL_JOB; also, without durable lineage foreachBatch waits, and any other query is stopped.
    """

    WARN = "warn"
    RETRY = "retry"
    FAIL_JOB = "fail_job"
    FAIL_CLOSED = "fail_closed"

    @property
    def fails(self) -> bool:
        """True if lineage that isn't durable fails the job."""
        return self in {EmissionPolicy.FAIL_JOB, EmissionPolicy.FAIL_CLOSED}


class CaptureSettings(BaseSettings):
    """Settings of capture: facts that a job declares about itself, and where its lineage goes.

    Each field can be given to `attach` by name, as the Spark property `spark.headwater.<fieldInCamelCase>`, or in the
    environment as `HEADWATER_<FIELD IN CAPITALS>`; the first of these wins. Build one with `CaptureSettings.load`: its
    errors name the setting and the fix.

    Attributes:
        job_name: name of the application's job. Default: `spark.app.name`.
        job_namespace: OpenLineage's job namespace.
        tenant: tenant whose graph gets the lineage.
        job_owner: owner of the job, e.g. `team:flights`.
        job_criticality: criticality of the job, e.g. `tier-1`.
        job_code_version: version of the job's code. Default: the git commit of the script's checkout, with `-dirty` if
            it has uncommitted changes; None outside of a checkout.
        job_config_version: version or digest of the job's configuration. Default: a digest of the Spark properties that
            the job has set.
        job_script: the program or notebook that was started. Default: the script's path in its checkout.
        job_repository: URL of the repository with the job's code. Default: `origin` of the script's checkout.
        job_branch: branch of this repository. Default: the branch that is checked out.
        job_image: the container image that the job runs in, with the image's digest. Default: the driver's on
            Kubernetes.
        job_service: the account with which the job accesses other systems. Default: see `common.account`.
        job_campaign: the backfill or other campaign that the job runs for.
        job_nominal_start, job_nominal_end: the period that the job runs for, in ISO 8601; the end is exclusive.
            Default: the orchestrator's; see `events.data_interval`.
        job_tags: `key=value` or `key`, comma-separated in the environment.
        capture_enabled: False: `attach` does nothing at all, and costs nothing.
        capture_reads: recording of queries that only read (`collect`, `show`, `toPandas`). `inputs`: the datasets that
            they read are possible inputs of later writes whose own inputs aren't known. `runs`: like `inputs`, and the
            queries are recorded as runs. `off`: nothing is recorded.
        capture_queue_size: maximum number of callbacks that wait for the worker; further callbacks are dropped, and
            counted.
        capture_queue_max_bytes: maximum JVM memory that these callbacks hold, by an estimate: each keeps its query's
            plans alive. Default: an eighth of the driver's heap.
        capture_drain_timeout_seconds: maximum time that the end of the script waits for the delivery of lineage.
        capture_stall_seconds: maximum time that the end of the script waits while Kafka acknowledges nothing, if there
            is an outbox.
        capture_foreach_batch_wait_seconds: maximum time that an interval waits for Spark to report the writes inside
            its foreachBatch function; a write reported later is sent as an addition to the same interval.
        capture_topic_wait_seconds: maximum time that a batch write to Kafka waits for its topic's end offsets; 0: the
            write doesn't wait, and has offsets only if they came before the write began.
        capture_heartbeat_seconds: time between heartbeats, which report that the application, its streaming queries and
            its writes are running; 0: no heartbeats.
        capture_commit_marks: whether commits to Delta and Iceberg tables carry the id of the application's run, so that
            commits of a killed driver can be attributed to its run. The id is in Delta's `userMetadata` (unless the job
            sets it itself) and in the summary of Iceberg's snapshots.
        capture_literals: whether the texts of expressions contain the literals of the job's code.
        capture_sql: whether a run has the text of its SQL statement, without credentials.
        capture_errors: detail in which a failed run reports its error: `type`, only the class; `message`, also the
            message; `stack`, also the stack trace. Credentials and lines of code are always removed.
        capture_max_plan_bytes: a plan whose JSON is larger isn't read; its column lineage is marked incomplete.
        coalesce_max_batches: maximum number of consecutive micro-batches that share one IntervalEvent; 1: each has its
            own event.
        coalesce_max_seconds: maximum time that a micro-batch waits for later ones. A micro-batch waits only if the
            previous one ended less than this time earlier, so micro-batches of slower queries are sent at once.
        metrics_port: port on which the driver serves its metrics for Prometheus, at `/metrics`; 0: any free port, which
            is logged. Default: metrics aren't served.
        metrics_host: the address on which metrics are served; `0.0.0.0`: all addresses of the machine.
        metrics_pushgateway: `host:port` or URL of a Prometheus Pushgateway, which takes the driver's metrics once, at
            the end of the application. For jobs that are too short to be scraped. Default: none.
        reconcile_max_batches: maximum number of micro-batches, the last ones in the checkpoint, that are backfilled at
            a query's start; 0: none.
        kafka_bootstrap_servers: brokers to publish to.
        kafka_cluster_name: replaces the broker list in the namespaces of Kafka datasets.
        kafka_cluster_names: names of several clusters that a job uses, by cluster id or by brokers.
        kafka_security_protocol, kafka_sasl_mechanism, kafka_sasl_username, kafka_sasl_password, kafka_ssl_ca_location,
        kafka_ssl_certificate_location, kafka_ssl_key_location, kafka_ssl_key_password, kafka_client_properties:
            see `headwater_schemas.kafka.KafkaSettings`.
        registry_url, registry_username, registry_password, registry_timeout_seconds: a schema registry to register the
            schema with; see `headwater_schemas.registry.RegistrySettings`.
        emission_policy: what happens to the job if lineage isn't durable; see `EmissionPolicy`.
        emission_wait_seconds: under `fail_closed`, time after which the query of an interval that isn't durable is
            stopped. A query with foreachBatch isn't stopped: its next micro-batch waits.
        outbox_enabled: False keeps events in memory only.
        outbox_path: the folder of the outbox. Default: the user's folder for state; see `outbox_folder`.
        outbox_max_bytes: maximum size of the outbox.
        outbox_when_full: the events that are dropped when the outbox is full.
        refuse_tainted_inputs: whether a write fails before it begins if what it would read holds bad data of an open
            incident; needs `gate_url`.
        gate_url: `http(s)://host:port` of `headwater serve`, which is asked before a write.
        gate_token: bearer token for this server, with the scope `read`.
        gate_token_file: file with this token, read for each question to the server; it wins over `gate_token`.
        gate_ca_location: PEM file of the certificate authorities to trust. Default: the system's.
        gate_max_severity: the mildest severity of an incident that holds a write, `SEV1` to `SEV5`; an incident without
            a severity always does. Default: every incident.
        gate_timeout_seconds: maximum time for the questions about all inputs of one write together.
        gate_unavailable: what happens to a write whose inputs can't be checked: `continue`: the write goes on, with a
            warning; `refuse`: the write fails.
        topic_prefix: first part of the name of Headwater's topics.
        topic_partitions, topic_replication_factor: configuration of missing topics, which capture creates.
        topic_max_message_bytes: maximum size of an event, also of the events topic if capture creates it. The schema
            must fit into this size, too.
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, frozen=True, extra="forbid", hide_input_in_errors=True, env_ignore_empty=True
    )

    job_name: str | None = None
    job_namespace: str = "default"
    tenant: str = "default"
    job_owner: str | None = None
    job_criticality: str | None = None
    job_code_version: str | None = None
    job_config_version: str | None = None
    job_script: str | None = None
    job_repository: str | None = None
    job_branch: str | None = None
    job_image: str | None = None
    job_service: str | None = None
    job_campaign: str | None = None
    job_nominal_start: datetime | None = None
    job_nominal_end: datetime | None = None
    job_tags: Annotated[str, BeforeValidator(_tags_in_text)] = ""
    capture_enabled: bool = True
    capture_reads: Literal["off", "inputs", "runs"] = "inputs"
    capture_queue_size: int = Field(default=1_000, ge=1)
    capture_queue_max_bytes: int | None = Field(default=None, ge=1)
    capture_drain_timeout_seconds: float = Field(default=15.0, ge=0)
    capture_stall_seconds: float = Field(default=3.0, ge=0)
    capture_foreach_batch_wait_seconds: float = Field(default=5.0, ge=0)
    capture_topic_wait_seconds: float = Field(default=0.5, ge=0)
    capture_heartbeat_seconds: float = Field(default=60.0, ge=0)
    capture_commit_marks: bool = False
    capture_literals: bool = True
    capture_sql: bool = False
    capture_errors: ErrorDetail = "stack"
    capture_max_plan_bytes: int = Field(default=32 * 1024 * 1024, ge=1)
    coalesce_max_batches: int = Field(default=64, ge=1, le=10_000)
    coalesce_max_seconds: float = Field(default=1.0, gt=0)
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    metrics_host: str = "127.0.0.1"
    metrics_pushgateway: Address | None = None
    reconcile_max_batches: int = Field(default=100, ge=0)
    kafka_bootstrap_servers: Address | None = None
    kafka_cluster_name: str | None = None
    kafka_cluster_names: dict[str, str] | None = None
    kafka_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"] | None = None
    kafka_sasl_username: str | None = None
    kafka_sasl_password: SecretStr | None = None
    kafka_ssl_ca_location: Path | None = None
    kafka_ssl_certificate_location: Path | None = None
    kafka_ssl_key_location: Path | None = None
    kafka_ssl_key_password: SecretStr | None = None
    kafka_client_properties: Annotated[ClientProperties, AfterValidator(_no_other_brokers)] | None = None
    registry_url: Address | None = Field(default=None, pattern=r"^https?://")
    registry_username: str | None = None
    registry_password: SecretStr | None = None
    registry_timeout_seconds: float = Field(default=10.0, gt=0)
    emission_policy: EmissionPolicy = EmissionPolicy.RETRY
    emission_wait_seconds: float = Field(default=30.0, ge=0)
    outbox_enabled: bool = True
    outbox_path: Path | None = None
    outbox_max_bytes: int = Field(default=256 * 1024 * 1024, ge=1_024 * 1_024)
    outbox_when_full: Literal["drop_newest", "drop_oldest"] = "drop_newest"
    refuse_tainted_inputs: bool = False
    gate_url: Address | None = Field(default=None, pattern=r"^https?://")
    gate_token: SecretStr | None = None
    gate_token_file: Path | None = None
    gate_ca_location: Path | None = None
    gate_max_severity: (
        Annotated[Literal["SEV1", "SEV2", "SEV3", "SEV4", "SEV5"], BeforeValidator(_in_capitals)] | None
    ) = None
    gate_timeout_seconds: float = Field(default=2.0, gt=0)
    gate_unavailable: Literal["continue", "refuse"] = "continue"
    topic_prefix: TopicPrefix = "lineage"
    topic_partitions: int = Field(default=DEFAULT_PARTITIONS, ge=1)
    topic_replication_factor: int = Field(default=BROKER_DEFAULT, ge=BROKER_DEFAULT)
    topic_max_message_bytes: int = Field(default=DEFAULT_MAX_MESSAGE_BYTES, ge=65_536, le=1_000_000_000)

    @classmethod
    def load(
        cls, properties: Mapping[str, str] | None = None, given_to: str = "attach", /, **overrides: Any
    ) -> CaptureSettings:
        """Load settings from the environment, with Spark's properties and then `overrides` on top.

        A variable `HEADWATER_…`, or a property `spark.headwater.…`, that no part of Headwater knows is refused.

        Args:
            properties: Spark properties whose names begin with `spark.headwater.`.

        Raises:
            CaptureSettingsError: an unknown or ill-formed setting, with the nearest known name.
        """
        unknown = sorted(set(overrides) - set(cls.model_fields))
        if unknown:
            raise CaptureSettingsError(_unknown(unknown[0], list(cls.model_fields)))
        known = environment_names() | OTHER_VARIABLES
        strange = sorted(name for name in os.environ if name.startswith(ENV_PREFIX) and name not in known)
        if strange:
            raise CaptureSettingsError(f"in the environment: {_unknown(strange[0], sorted(known))}")
        submitted, odd = settings_named(properties or {}, cls.model_fields)
        if odd is not None:
            near = difflib.get_close_matches(setting_meant(odd), cls.model_fields, n=1, cutoff=0.5)
            hint = property_name(near[0]) if near else ", ".join(sorted(map(property_name, cls.model_fields)))
            raise CaptureSettingsError(f"unknown Spark property {odd}; {'did you mean' if near else 'known:'} {hint}")
        try:
            return cls(**_parsed({**submitted, **overrides}))
        except SettingsError:
            raise CaptureSettingsError(
                f"{_no_json_in_environment()}, from the environment: it is no JSON; "
                'write it like {"client.rack": "a"}'
            ) from None
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            field = str(first["loc"][0]) if first["loc"] else "settings"
            origin = f"the environment ({ENV_PREFIX}{field.upper()})"
            if field in overrides:
                origin = given_to
            elif field in submitted:
                origin = f"the Spark property {property_name(field)}"
            raise CaptureSettingsError(f"{field}, from {origin}: {first['msg']}") from None

    def merged(self, **overrides: Any) -> CaptureSettings:
        """Return these settings with `overrides` on top; the environment isn't read again."""
        return CaptureSettings.load(**{**self.model_dump(exclude_unset=True), **overrides})

    def require_bootstrap_servers(self) -> str:
        """Return the brokers to publish to.

        Raises:
            CaptureSettingsError: no brokers are set.
        """
        if self.kafka_bootstrap_servers is None:
            raise CaptureSettingsError(
                f"no Kafka to send lineage to: set {ENV_PREFIX}KAFKA_BOOTSTRAP_SERVERS=host:port, the Spark property "
                f"{property_name('kafka_bootstrap_servers')} or attach's kafka_bootstrap_servers "
                f"(or turn capture off with {ENV_PREFIX}CAPTURE_ENABLED=false)"
            )
        return self.kafka_bootstrap_servers

    def require_gate_url(self) -> str:
        """Return the address of the server that is asked before a write.

        Raises:
            CaptureSettingsError: no address is set.
        """
        if self.gate_url is None:
            raise CaptureSettingsError(
                f"refuse_tainted_inputs has no server to ask: set {ENV_PREFIX}GATE_URL=http://host:port of `headwater "
                f"serve`, the Spark property {property_name('gate_url')} or attach's gate_url"
            )
        return self.gate_url

    @property
    def tags(self) -> tuple[tuple[str, str | None], ...]:
        """`job_tags` as sorted pairs of key and value."""
        pairs = (part.strip().partition("=") for part in self.job_tags.split(",") if part.strip())
        return tuple(sorted({(key.strip(), value.strip() if sep else None) for key, sep, value in pairs}, key=str))


def environment_names() -> frozenset[str]:
    """Return the names of all environment variables that capture reads."""
    return frozenset(f"{ENV_PREFIX}{name.upper()}" for name in CaptureSettings.model_fields)


def _parsed(given: dict[str, Any]) -> dict[str, Any]:
    """Parse the settings of `_TABLES` that were given as JSON text."""
    parsed = dict(given)
    for name, example in _TABLES.items():
        if isinstance(text := given.get(name), str):
            try:
                parsed[name] = json.loads(text)
            except ValueError:
                raise CaptureSettingsError(f"{name} is no JSON; write it like {example}") from None
    return parsed


def _no_json_in_environment() -> str:
    """Return the environment variable that should hold a JSON object and isn't valid JSON."""
    for name in _TABLES:
        variable = f"{ENV_PREFIX}{name.upper()}"
        try:
            json.loads(os.environ.get(variable) or "{}")
        except ValueError:
            return variable
    return f"{ENV_PREFIX}{next(iter(_TABLES)).upper()}"


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(sorted(known))}"
    return f"unknown setting {name}{hint}"


def headwater_properties(spark: Any) -> dict[str, str]:
    """Return the session's `spark.headwater.…` properties.

    On a platform that creates the session itself, only such properties can be set.
    """
    return {name: value for name, value in session_properties(spark).items() if name.startswith(PREFIX)}


def session_properties(spark: Any) -> dict[str, str]:
    """Return all properties of a session: properties of the application, overridden by the session's `spark.conf`."""
    # One string instead of a round trip for each of some hundred entries. A Scala map's entry is `key -> value`.
    entries = str(spark._jsparkSession.conf().getAll().mkString(_BETWEEN)).split(_BETWEEN)
    pairs = (entry.partition(" -> ") for entry in entries)
    return dict(spark.sparkContext.getConf().getAll()) | {name: value for name, _, value in pairs if name}


def property_name(setting: str) -> str:
    """Return a setting's Spark property: `job_name` ⇒ `spark.headwater.jobName`."""
    first, *others = setting.split("_")
    return PREFIX + first + "".join(word.capitalize() for word in others)


def settings_named(found: Mapping[str, str], known: Mapping[str, object]) -> tuple[dict[str, str], str | None]:
    """Return the settings in these properties, and the first property that isn't a setting."""
    names = {property_name(setting): setting for setting in known}
    strange = min((name for name in found if name not in names), default=None)
    return {names[name]: value for name, value in found.items() if name in names}, strange


def setting_meant(name: str) -> str:
    """Convert a property's name to the spelling of settings, known or not: `spark.headwater.jobNme` ⇒ `job_nme`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name.removeprefix(PREFIX)).lower()
