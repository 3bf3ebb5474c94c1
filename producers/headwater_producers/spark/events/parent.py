"""Parent run: the orchestrator's run that started this application, as OpenLineage passes it on.

    spark.openlineage.parentJobNamespace, …parentJobName, …parentRunId              the task's run: the parent
    spark.openlineage.rootParentJobNamespace, …rootParentJobName, …rootParentRunId  the run at the top: the root
    OPENLINEAGE_PARENT_ID=<namespace>/<job>/<run id>, OPENLINEAGE_ROOT_PARENT_ID    the same, in the environment

Airflow's provider sets the properties or the variables. A property wins over a variable. Malformed values are left out,
with a warning. Sources: OpenLineage's Spark integration (job hierarchy) and dbt integration (variables).
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from headwater_schemas.events import JobRef, ParentRun

logger = logging.getLogger(__name__)

_PREFIX: Final = "spark.openlineage."


@dataclass(frozen=True, slots=True)
class Orchestration:
    """Orchestrator's runs that started the application.

    Attributes:
        parent: run of the orchestrator's task; equal to `root` if only the root is known. None: neither is known.
        root: run at the top of the tree; equal to `parent` if only the parent is known. None: neither is known.
    """

    parent: ParentRun | None = None
    root: ParentRun | None = None


NOBODY: Final = Orchestration()


def orchestration(properties: Mapping[str, str], environment: Mapping[str, str]) -> Orchestration:
    """Read the orchestrator's runs from Spark's properties, else from the environment."""
    parent = _of_properties(properties, "parent") or _of_variable(environment, "OPENLINEAGE_PARENT_ID")
    root = _of_properties(properties, "rootParent") or _of_variable(environment, "OPENLINEAGE_ROOT_PARENT_ID")
    # If only one of the runs is known, it is used for both.
    return Orchestration(parent or root, root or parent)


def _of_properties(properties: Mapping[str, str], role: str) -> ParentRun | None:
    names = [f"{_PREFIX}{role}{what}" for what in ("JobNamespace", "JobName", "RunId")]
    values = [properties.get(name, "") for name in names]
    return _parent(*values, origin=names[2]) if any(values) else None


def _of_variable(environment: Mapping[str, str], name: str) -> ParentRun | None:
    text = environment.get(name, "")
    if not text:
        return None
    # Three parts. A namespace may be a URL; Airflow's jobs and run ids have no slash.
    parts = text.rsplit("/", 2)
    return _parent(*parts, origin=name) if len(parts) == 3 else _parent("", "", "", origin=name)


def _parent(namespace: str, job: str, run_id: str, *, origin: str) -> ParentRun | None:
    try:
        run = str(uuid.UUID(run_id))
    except ValueError:
        run = ""
    if namespace and job and run:
        return ParentRun(run, JobRef(namespace, job))
    logger.warning("%s is ignored: a run has a namespace, a job and a run id, which is a UUID", origin)
    return None
