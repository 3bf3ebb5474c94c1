"""What librdkafka tells of the cluster besides records: that it is away, that it refuses us, that it answers again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError

from headwater_consumers.materializer import kafka_errors
from headwater_consumers.materializer.errors import BrokerUnavailableError, FatalError, RetryCause

if TYPE_CHECKING:
    from confluent_kafka import KafkaException

    from headwater_consumers.materializer.notices import Notices


class KafkaNews:
    """Callbacks for librdkafka, and what they come to. They run within a poll, on the thread that polls.

    Args:
        servers: where the cluster is, for messages.
        notices: hears of trouble.

    Attributes:
        reachable: whether a broker was connected when last heard of.
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
        # With one of several brokers away nothing is amiss; when all are, the last one's error says more than this one.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - librdkafka's own name
            self._last_error = error
            self.kept(error, "consuming")
            return
        self.reachable = False
        self.trouble(self._last_error or error)

    def on_stats(self, document: str) -> None:
        """For `stats_cb`."""
        brokers = json.loads(document).get("brokers", {}).values()
        self.reachable = any(broker.get("state") == "UP" for broker in brokers)

    def trouble(self, error: KafkaError) -> None:
        """Consuming failed, for now or for good."""
        meant = self.kept(error, "consuming")
        if not isinstance(meant, FatalError):
            self._notices.trouble(RetryCause.BROKER, str(meant))

    def notice(self, error: KafkaException, doing: str) -> None:
        """Something failed that is tried again whatever it was."""
        self._notices.trouble(RetryCause.BROKER, str(self.classified(error, doing)))

    def kept(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """An error in our tree. A fatal one is kept for `raise_fatal`."""
        meant = self.classified(error, doing)
        if isinstance(meant, FatalError):
            self._fatal = meant
        return meant

    def classified(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """An error in our tree, for whoever raises it."""
        meant = kafka_errors.classify(error, servers=self._servers, doing=doing)
        return meant if isinstance(meant, FatalError | BrokerUnavailableError) else BrokerUnavailableError(str(meant))
