"""Decisions about every asset of a tenant: visible scopes, such as a namespace's datasets, with exceptions."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from headwater_analysis.errors import NotFoundError
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.visibility import Visible
from headwater_server.authorization.policies import AccessDecision, Policies, Resource
from headwater_server.identity import Identity, IdentitySource

log = logging.getLogger("headwater.serve")

_PAGE = 2_000
_MOST_IDENTITIES = 1_000
_STATEMENTS = {"dataset": "access/datasets", "job": "access/jobs", "consumer": "access/consumers"}
_TEXTS = ("namespace", "name", "type")
_SETS = ("tags", "classification", "sensitivity", "owners")
_PROBE = "\x00no asset has this name"


def compiled(policies: Policies, identity: Identity, reader: Reader) -> Visible:
    """Decide about every asset of a tenant.

    A scope, such as the datasets of a namespace, is visible as a whole if most of its assets are visible, and if an
    asset without labels and with an unknown name would be visible, too. A new dataset of such a scope is visible at
    once; a new dataset of another scope, from the next compilation on.

    Args:
        reader: unrestricted reader of the identity's tenant.
    """
    seen: dict[str, list[str]] = defaultdict(list)
    unseen: dict[str, list[str]] = defaultdict(list)
    probes: dict[str, Resource] = {}
    for page in _pages(reader, *_STATEMENTS):
        decided = policies.decide(identity, "read", [resource for _, _, resource in page])
        for (key, scope, resource), decision in zip(page, decided, strict=True):
            (seen if decision.allowed else unseen)[scope].append(key)
            probes.setdefault(scope, _probe(resource))
            for error in decision.errors:
                log.warning("Access to %s %s is denied: %s", resource.kind, key, error)
    open_ = {
        scope
        for (scope, _), decision in zip(
            probes.items(), policies.decide(identity, "read", list(probes.values())), strict=True
        )
        if decision.allowed and len(seen[scope]) >= len(unseen[scope])
    }
    return Visible(
        scopes=frozenset(open_),
        hidden=frozenset(key for scope in open_ for key in unseen[scope]),
        also=frozenset(key for scope, keys in seen.items() if scope not in open_ for key in keys),
    )


def every_job_visible(policies: Policies, identity: Identity, reader: Reader, visible: Visible) -> bool:
    """Return True if all jobs are visible, and a job with an unknown namespace and name would be visible, too.

    Args:
        reader: unrestricted reader of the identity's tenant.
        visible: visible assets of the asker (`compiled`).
    """
    unknown = {"tenant": reader.tenant, "namespace": _PROBE, "name": _PROBE, "type": "", "tags": [], "owners": []}
    (decision,) = policies.decide(identity, "read", [Resource("Job", unknown)])
    return decision.allowed and all(
        key in visible.also or (scope in visible.scopes and key not in visible.hidden)
        for page in _pages(reader, "job")
        for key, scope, _ in page
    )


def _pages(reader: Reader, *kinds: str) -> Iterator[list[tuple[str, str, Resource]]]:
    """Yield pages with the key, scope and resource of each asset of these kinds (dataset, job, consumer)."""
    for kind in kinds:
        name = _STATEMENTS[kind]
        after = ""
        while True:

            def page(tx: Transaction, name: str = name, after: str = after) -> list[dict[str, Any]]:
                return [dict(row) for row in tx.rows(name, after=after, limit=_PAGE)]

            rows = reader.read(page)
            if rows:
                yield [_resource(kind, reader.tenant, row) for row in rows]
                after = str(rows[-1]["key"])
            if len(rows) < _PAGE:
                break


def _resource(kind: str, tenant: str, row: Mapping[str, Any]) -> tuple[str, str, Resource]:
    attributes: dict[str, Any] = {"tenant": tenant}
    attributes |= {name: row[name] or "" for name in _TEXTS if name in row}
    attributes |= {name: sorted({str(each) for each in row[name] if each}) for name in _SETS if name in row}
    return str(row["key"]), f"{kind}:{attributes.get('namespace', '')}", Resource(kind.capitalize(), attributes)


def _probe(resource: Resource) -> Resource:
    """Make an asset of the same scope, without labels and with a name that no asset has."""
    unknown = {name: [] if isinstance(value, list) else value for name, value in resource.attributes.items()}
    return Resource(resource.kind, {**unknown, "name": _PROBE, "type": ""})


@lru_cache(maxsize=_MOST_IDENTITIES)
def may_see_everything(policies: Policies, identity: Identity, tenant: str) -> AccessDecision:
    """Decide about the whole graph, cached by identity: each question needs this for its filter and for the audit."""
    if identity.source is IdentitySource.SERVER:
        return AccessDecision(allowed=True, policies=())
    (decision,) = policies.decide(identity, "everything", [Resource("Graph", {"tenant": tenant})])
    return decision


def decided_about(policies: Policies, identity: Identity, reader: Reader, kind: str, key: str) -> AccessDecision:
    """Decide about one asset. An identity that may see everything sees it, whatever the policies of `read`.

    Args:
        reader: unrestricted reader of the identity's tenant.
        kind: dataset, job or consumer.

    Raises:
        NotFoundError: no such asset has this key.
    """
    before = f"{int(key, 16) - 1:032x}"
    rows = reader.read(lambda tx: [dict(row) for row in tx.rows(_STATEMENTS[kind], after=before, limit=1)])
    if not rows or rows[0]["key"] != key:
        raise NotFoundError(f"No {kind} has the key {key}.")
    if (everything := may_see_everything(policies, identity, reader.tenant)).allowed:
        return everything
    _, _, resource = _resource(kind, reader.tenant, rows[0])
    (decision,) = policies.decide(identity, "read", [resource])
    return decision
