"""The examples of the OpenAPI document, `api/examples/<operation>.json`: a request, and what the demo's graph says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import headwater_server
from support.run_rules import rewrite

if TYPE_CHECKING:
    import httpx

FOLDER = Path(headwater_server.__file__).parent / "examples"


def operations(document: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Operation id ⇒ method and path."""
    return {
        operation["operationId"]: (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def read(operation: str) -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads((FOLDER / f"{operation}.json").read_text(encoding="utf-8"))
    return recorded


def write(operation: str, recorded: Mapping[str, Any]) -> None:
    text = json.dumps(recorded, indent=2, ensure_ascii=False)
    rewrite(FOLDER / f"{operation}.json", f"{text}\n")


def ask(client: httpx.Client, method: str, path: str, recorded: Mapping[str, Any]) -> httpx.Response:
    for name, value in recorded["path"].items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    return client.request(method, path, params=recorded["query"], json=recorded["body"])
