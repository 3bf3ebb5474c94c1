"""Artifacts that dbt wrote of `tests/integration/openlineage/dbt`, and the declarations made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from headwater_analysis.declaring.files import read_file

RECORDED = Path(__file__).parents[1] / "recordings" / "dbt-artifacts"
NAMESPACE = "duckdb:///data/shop/shop.duckdb"
_LEFT_OUT = ("macros", "docs")
"""Parts of a manifest that are left out: dbt's macros, nineteen of its twenty parts, and documentation blocks."""


def recorded(artifact: str, folder: str) -> str:
    """An artifact as it is kept: in one line as dbt has it, without macros, as if the project were in /data/shop."""
    document = json.loads(artifact.replace(folder, "/data/shop"))
    for name in _LEFT_OUT:
        document.pop(name, None)
    return json.dumps(document)


def declared(manifest: str, catalog: str) -> str:
    """Declarations of a project, as JSON."""
    found = read_file("manifest.json", manifest, namespace=NAMESPACE, catalog=catalog)
    rows = [_stated(msgspec.to_builtins(body)) for body in found.declarations.values()]
    document = {"set": found.name, "format": found.format, "declarations": sorted(rows, key=json.dumps)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _stated(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stated(each) for name, each in value.items() if each is not None and name != "set"}
    return [_stated(each) for each in value] if isinstance(value, list | tuple) else value
