"""What a person calls a node whose name is long: the caption of its circle in Neo4j Browser."""

from __future__ import annotations


def dataset_title(name: str) -> str:
    """The last step of a path, any other name whole.

    /data/flights/daily_report ⇒ daily_report
    s3 key warehouse/orders/   ⇒ orders
    flights.departed           ⇒ flights.departed
    /                          ⇒ /
    """
    return name.rstrip("/").rpartition("/")[2] or name
