"""Client callbacks of librdkafka: brokers unreachable, access refused, brokers reachable again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError

from headwater_consumers.materializer.errors import RetryCause
from headwater_schemas.errors import BrokerUnavailableError, FatalError
from headwater_schemas.kafka.errors import kafka_failure

if TYPE_CHECKING:
    from confluent_kafka import KafkaException

    from headwater_consumers.materializer.reporting import Notices


class ClientCallbacks:
    """librdkafka's `error_cb` and `stats_cb`, and the errors they lead to. Run within a poll, on the polling thread.

    Args:
        servers: where the cluster is, for messages.
        notices: log the trouble.

    Attributes:
        reachable: whether a broker was connected at the last callback.
    """

    def __init__(self, servers: str, notices: Notices) -> None:
        self._servers = servers
        self._notices = notices
        self._fatal: FatalError | None = None
        self._last_error: KafkaError | None = None
        self.reachable = False

    def raise_fatal(self) -> None:
        """Raise what no further poll would mend.

        Raises:
            FatalError: if there was any.
        """
        if self._fatal is not None:
            raise self._fatal

    def on_error(self, error: KafkaError) -> None:
        """For `error_cb`."""
        # With one of several brokers away nothing is amiss; when all are, the last one's error is the precise one.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - librdkafka's own name
            self._last_error = error
            self.recorded(error, "consuming")
            return
        self.reachable = False
        self.trouble(self._last_error or error)

    def on_stats(self, document: str) -> None:
        """For `stats_cb`."""
        brokers = json.loads(document).get("brokers", {}).values()
        self.reachable = any(broker.get("state") == "UP" for broker in brokers)

    def trouble(self, error: KafkaError) -> None:
        """Consuming failed, for now or for good."""
        failure = self.recorded(error, "consuming")
        if not isinstance(failure, FatalError):
            self._notices.trouble(RetryCause.BROKER, str(failure))

    def notice(self, error: KafkaException, doing: str) -> None:
        """Something failed that is tried again whatever it was."""
        self._notices.trouble(RetryCause.BROKER, str(self.classified(error, doing)))

    def recorded(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """The error of our tree for it. A fatal one is recorded for `raise_fatal`."""
        failure = self.classified(error, doing)
        if isinstance(failure, FatalError):
            self._fatal = failure
        return failure

    def classified(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """The error of our tree for it, to be raised by the caller."""
        return kafka_failure(error, servers=self._servers, doing=doing)
