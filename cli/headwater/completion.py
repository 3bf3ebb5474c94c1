"""Completion of names in the shell. It may say nothing, and never says what is wrong: a person is typing."""

from __future__ import annotations

import contextlib

_SECONDS = 2.0
_MOST = 30


def complete_dataset(incomplete: str) -> list[str]:
    """Names of datasets that begin so, or spellings with the namespace where none do."""
    with contextlib.suppress(Exception):
        from headwater.asking import asking
        from headwater_consumers.analysis.assets import AssetKind
        from headwater_consumers.analysis.search import search

        with asking(timeout_seconds=_SECONDS) as reader:
            hits = search(reader, incomplete, kinds=(AssetKind.DATASET,), limit=_MOST).items
        for names in ({hit.asset.name for hit in hits}, {hit.asset.spelling for hit in hits}):
            if begun := sorted(name for name in names if name.startswith(incomplete)):
                return begun
    return []
