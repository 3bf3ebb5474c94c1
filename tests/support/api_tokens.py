"""A file of API tokens with one secret, which clients in other processes are given before the server starts."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from headwater_server.identity import Scope

TOKEN = "hw_" + "7e" * 32


def tokens_file(file: Path, *scopes: Scope) -> str:
    """Write a file whose only token has the secret `TOKEN`, and return its path."""
    token = {
        "name": "tests",
        "sha256": hashlib.sha256(TOKEN.encode()).hexdigest(),
        "scopes": list(scopes),
        "created": "2026-11-28T00:00:00Z",
    }
    file.write_text(json.dumps({"version": 1, "tokens": [token]}), encoding="utf-8")
    return str(file)
