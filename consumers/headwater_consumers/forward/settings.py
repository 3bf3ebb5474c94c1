"""Settings of forwarding, section `forward` (`HEADWATER_FORWARD_…`)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class MicroBatches(StrEnum):
    """Choice of the micro-batches that share a document."""

    EACH = "EACH"
    COALESCED = "COALESCED"
    SPACED = "SPACED"


class Compression(StrEnum):
    """Compression of posted documents."""

    NONE = "NONE"
    GZIP = "GZIP"


class ForwardSettings(BaseModel):
    """Forwarding of events as OpenLineage documents. The section `kafka` has the cluster of the events topic."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    group: Annotated[str, Field(min_length=1, max_length=255)] = "headwater-forward-openlineage"
    """The consumer group, whose offsets record the progress. Give each collector a group of its own."""

    token: SecretStr = SecretStr("")
    """The bearer token for the collector's URL. Put it into the environment rather than into a file that others can
    read."""

    token_file: Path | None = None
    """A file with the bearer token, read again with each connection. It wins over `token`."""

    ca_location: Path | None = None
    """PEM file of the certificate authorities to trust for the URL; None: the system's."""

    certificate_location: Path | None = None
    """PEM file of this client's certificate, for mutual TLS."""

    key_location: Path | None = None
    """PEM file of the private key, if the key isn't in the certificate's file."""

    key_password: SecretStr = SecretStr("")
    """The password of the private key."""

    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 10.0
    """Maximum time for the collector to accept a connection, and to answer a document."""

    retry_max_seconds: Annotated[float, Field(ge=0.1, le=300)] = 30.0
    """The longest wait between two attempts while the collector is unavailable. If the collector requests a longer
    pause (`Retry-After`), the wait is as long as requested, at most 300 s."""

    compression: Compression = Compression.NONE
    """GZIP: documents that are posted to a URL are compressed. A collector that doesn't accept gzip answers 415, which
    ends the command."""

    posts_in_parallel: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of documents posted to a URL at once, each on a connection of its own. Documents of one job, and so of one
    run, stay in order."""

    micro_batches: MicroBatches = MicroBatches.EACH
    """EACH: a document of type RUNNING for every micro-batch. COALESCED: one document, with all offsets, for
    micro-batches that were published together and have contiguous offsets. SPACED: one document, with all offsets, for
    contiguous micro-batches of a query within `micro_batches_minutes`."""

    micro_batches_minutes: Annotated[float, Field(gt=0, le=1_440)] = 10.0
    """With SPACED: the minutes between two documents of a streaming query. Offsets of micro-batches that wait for their
    document aren't committed before it is delivered."""

    health_host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """Address on which `--port` is served; 0.0.0.0 for a Prometheus on another machine."""

    plans_max_bytes: Annotated[int, Field(ge=0, le=17_179_869_184)] = 67_108_864
    """Memory for column lineages that later events cite. The least recently cited lineages are dropped first."""

    plans_newest_offsets: Annotated[int, Field(ge=0)] = 100_000
    """Number of offsets before the committed one, in each partition, that are read at the start for the column lineages
    in them."""
