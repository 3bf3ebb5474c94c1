"""Spelling of a namespace and a name in one word, as people and questions write it."""

from __future__ import annotations


def spelling(namespace: str, name: str) -> str:
    """Join a dataset's or job's namespace and name: `kafka://broker:9092/orders`, `s3://bucket/x`, `file:/tmp/x`."""
    if not name.startswith("/"):
        return f"{namespace}/{name}"
    return namespace + name if "://" in namespace else f"{namespace}:{name}"
