"""Folders of outboxes: one for each target topic of each cluster.

    <root>/<cluster>-<digest>/        cluster name, or first broker; digest of cluster and topic

All senders to one topic of one cluster share a folder, and relay the events that dead processes of all jobs left there.
Lineage of one cluster is never sent to another: their folders differ.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_schemas.topics import TopicNames


def outbox_folder(settings: CaptureSettings) -> Path:
    """Return the path of the outbox folder of these settings; the folder needn't exist.

    Raises:
        RuntimeError: no path is set, and the user has no home folder.
    """
    servers = settings.require_bootstrap_servers()
    cluster = settings.kafka_cluster_name or ",".join(sorted(part.strip() for part in servers.split(",")))
    digest = hashlib.sha256(repr((cluster, TopicNames(settings.topic_prefix).events)).encode()).hexdigest()[:12]
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", cluster.split(",")[0])[:64]
    # No shell has expanded the `~` of a Spark property.
    root = settings.outbox_path.expanduser() if settings.outbox_path is not None else default_root()
    return root / f"{name}-{digest}"


def default_root() -> Path:
    """Return `HEADWATER_DATA_DIR`/outbox, else a folder in the user's folder for state."""
    if chosen := os.environ.get("HEADWATER_DATA_DIR"):
        return Path(chosen).expanduser().absolute() / "outbox"
    if base := os.environ.get("XDG_STATE_HOME"):
        return Path(base) / "headwater" / "outbox"
    kept = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    return Path.home() / kept / "headwater" / "outbox"
