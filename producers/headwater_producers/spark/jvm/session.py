"""Active session of the JVM's thread that answers ours.

Tables of some formats, Delta's among them, ask Spark for the active session when they are looked at. On a thread
without a query that is the application's default session, which may lack the extensions and catalogs of the table's
session.
"""

from __future__ import annotations

from typing import Any

from headwater_producers.spark.jvm.versions import jvm_sessions


class ActiveSession:
    """Switch of the calling thread's active session; to be used by one thread.

    Only where each Python thread has a JVM thread of its own, which is PySpark's default (`PYSPARK_PIN_THREAD`): else
    the job's next call might come by on the thread that was changed.
    """

    def __init__(self) -> None:
        self._session: Any = None

    def become(self, session: Any) -> None:
        """Make a `SparkSession` active; a round trip where it isn't yet."""
        if session is self._session:
            return
        self._session = session
        if type(session.sparkContext._gateway).__name__ == "ClientServer":
            jvm_sessions(session._jvm).setActiveSession(session._jsparkSession)
