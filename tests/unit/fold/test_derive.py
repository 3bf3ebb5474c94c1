"""Which versions of datasets follow from what was used."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_consumers.facts.model import RelType
from headwater_consumers.facts.nodes import UseKey
from headwater_consumers.graph import keys
from headwater_consumers.graph.derive import FILES, versions_used


@pytest.mark.parametrize(
    ("position", "version"),
    [
        ({"position": "files", "manifest_digest": "ab"}, (FILES, "ab")),
        ({"position": "files", "file_count": 3}, None),
        ({"position": "kafka", "manifest_digest": "ab"}, None),
        ({"position": "table_snapshot", "format": "delta", "snapshot_id": "7"}, ("delta", "7")),
        (None, None),
    ],
)
@pytest.mark.parametrize(("use", "link"), [(RelType.CONSUMED, RelType.READ), (RelType.PRODUCED, RelType.WROTE)])
def test_a_position_names_a_version_where_it_is_a_snapshot_or_a_set_of_files(
    position: Any, version: tuple[str, str] | None, use: RelType, link: RelType
) -> None:
    found = list(versions_used("acme", {UseKey(use, "dataset-key", 0): {"position": ("stamp", position)}}))
    assert found == ([] if version is None else [(link, keys.version_key("acme", "dataset-key", *version))])
