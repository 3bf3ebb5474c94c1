"""Settings of the materializer, section `materializer` (`HEADWATER_MATERIALIZER_…`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from headwater_consumers.kafka.records import RECORD_MAX_BYTES
from headwater_consumers.materializer.limits import FUTURE_MAX_SECONDS, BatchPolicy, DeadLetterPolicy
from headwater_schemas.topics import is_legal_name


def _legal_topic(name: str) -> str:
    if not is_legal_name(name):
        raise PydanticCustomError(
            "topic", "a Kafka topic's name has 1 to 249 characters, each an ASCII letter, a digit, '.', '_' or '-'"
        )
    return name


class MaterializerSettings(BaseModel):
    """The consumer. The sections `kafka` and `neo4j` have the cluster and the database."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    group: Annotated[str, Field(min_length=1, max_length=255)] = "headwater-materializer"
    """The consumer group. Consumers of a group share the partitions."""

    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of processes that `headwater consume` runs. They share the partitions; a process without one is idle."""

    openlineage_topic: Annotated[str, AfterValidator(_legal_topic)] | None = None
    """A topic of OpenLineage events in JSON, as OpenLineage's Kafka transport writes them, which become events on the
    events topic. None: there is no such topic. The topic's consumer group is `<group>-openlineage`."""

    http_host: str = "127.0.0.1"
    """The address on which /metrics, /livez and /readyz are served; 0.0.0.0 in a container."""

    http_port: Annotated[int, Field(ge=0, le=65_535)] = 9464
    """The port of /metrics, /livez and /readyz. 0 takes a free port and logs it."""

    batch_max_records: Annotated[int, Field(ge=1, le=100_000)] = 4_000
    """The largest number of records in one transaction."""

    batch_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = 2_097_152
    """The largest size of keys and values in one transaction."""

    batch_target_seconds: Annotated[float, Field(ge=0.05, le=60)] = 2.0
    """Batches become smaller while transactions take longer than this."""

    queued_max_kilobytes: Annotated[int, Field(ge=1_024, le=2_097_151)] = 4_096
    """Maximum size of the records that the Kafka client fetches ahead."""

    record_max_bytes: Annotated[int, Field(ge=2_097_152, le=1_000_000_000)] = RECORD_MAX_BYTES
    """Maximum length of a record that is decoded. The dead letter of a longer record has only its coordinates. A zstd
    batch may decompress to twice this length; a larger batch can't be read, and becomes such a dead letter, too."""

    future_max_seconds: Annotated[float, Field(ge=0, le=31_536_000)] = FUTURE_MAX_SECONDS
    """Longest time that an event's times may be ahead of its record's timestamp. Later times are lowered to this limit,
    so that a wrong clock doesn't outrank later events forever. All consumers of one graph need the same value."""

    write_sessions: Annotated[int, Field(ge=1, le=8)] = 2
    """Number of sessions with Neo4j that write a batch at once. Each session writes a part of the batch, in a
    transaction of its own; the parts have no job or dataset in common."""

    write_timeout_seconds: Annotated[float, Field(ge=1, le=3_600)] = 60.0
    """After this time Neo4j ends a transaction, so that a suspended consumer's locks can't block other consumers."""

    drain_seconds: Annotated[float, Field(ge=0, le=300)] = 20.0
    """Time limit for the batch that is being written when partitions are revoked; at a stop, for all batches."""

    retry_max_seconds: Annotated[float, Field(ge=0.1, le=60)] = 10.0
    """The longest wait between two attempts while Kafka or Neo4j is unreachable."""

    dead_letter_max_ratio: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Pause when more than this share of the last records are dead letters. 1 never pauses."""

    dead_letter_window_records: Annotated[int, Field(ge=1)] = 1_000
    """Number of last records among which `dead_letter_max_ratio` counts dead letters."""

    dead_letter_min: Annotated[int, Field(ge=1)] = 100
    """Fewer dead letters than this in the window never pause the consumer."""

    def batch_policy(self) -> BatchPolicy:
        """Return the bounds of a batch."""
        return BatchPolicy(
            max_records=self.batch_max_records,
            max_bytes=self.batch_max_bytes,
            target_seconds=self.batch_target_seconds,
        )

    def dead_letter_policy(self) -> DeadLetterPolicy:
        """Return the limit of the share of dead letters."""
        return DeadLetterPolicy(
            max_ratio=self.dead_letter_max_ratio,
            window_records=self.dead_letter_window_records,
            min_letters=self.dead_letter_min,
        )
