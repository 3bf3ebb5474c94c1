"""What has no storage: Spark's memory, console, noop and rate sources and sinks, and data made in the driver."""

from __future__ import annotations

from headwater_schemas.events.common import DatasetRef


def in_memory(engine: str, application: str, name: str) -> DatasetRef:
    """A dataset that lives only within an application, kept apart from any other application's of the same name.

    Example: `in_memory("spark", "flights", "console")` is `memory://spark/flights`, `console`.

    Args:
        engine: what holds it, e.g. `spark`.
        application: a name that is the same in every run (never Spark's application id).
        name: the table, view, source or sink.
    """
    return DatasetRef(f"memory://{engine}/{application}", name)
