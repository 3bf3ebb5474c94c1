"""Write `schemas/headwater_schemas/secret_shapes.json` from the rules of gitleaks (MIT).

    uv run scripts/secret_shapes.py PATH/TO/gitleaks/config/gitleaks.toml VERSION

Only rules that recognise a secret by its shape are used; `headwater_schemas/redaction.py` recognises secrets by names.
Patterns of Go are converted to Python's syntax. Why gitleaks: docs/decisions/secrets-by-their-shape.md.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

TARGET: Final = Path(__file__).parents[1] / "schemas" / "headwater_schemas" / "secret_shapes.json"
_SOURCE: Final = "https://github.com/gitleaks/gitleaks, config/gitleaks.toml"

_BY_NAME: Final = r"[\w.-]{0,50}?"  # in every rule of gitleaks that searches for a name before the secret
_LEFT_OUT: Final = {
    "curl-auth-header": "redaction.py has it, in linear time",
    "curl-auth-user": "redaction.py has it, in linear time",
    "facebook-access-token": "15 digits and a percent sign are anything",
    "private-key": "redaction.py has it, also of a key that is cut off",
    "sidekiq-sensitive-url": "redaction.py has users of all addresses",
    "sourcegraph-access-token": "40 hexadecimal digits are a commit of Git",
    "twilio-api-key": "begins inside words; redaction.py has it where it doesn't",
    "vault-service-token": "`s.` and 24 letters are a column",
}
_BEHIND: Final = (r"(?:[\x60'\"\s;]|\\[nr]|$)", r"(?:[\x60'\"\s;]|\\[nr]|$|\b)")
_NO_MORE: Final = "(?![A-Za-z0-9_])"  # replaces these ends of gitleaks' patterns


def shapes(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rules that are used, with their patterns in Python's syntax."""
    return [
        {
            "id": rule["id"],
            "keywords": sorted(rule["keywords"]),
            "pattern": pattern_of(rule["regex"]),
            "entropy": rule.get("entropy", 0),
        }
        for rule in rules
        if "regex" in rule and "path" not in rule and rule["id"] not in _LEFT_OUT and _BY_NAME not in rule["regex"]
    ]


def pattern_of(go: str) -> str:
    """Convert a pattern of Go to Python: a flag applies to a group, and the text behind a secret is a lookahead."""
    for behind in _BEHIND:
        go = go.replace(behind.replace('\\"', '"'), _NO_MORE)
    go = go.replace("[[:alnum:]]", "[A-Za-z0-9]").replace(r"\z", r"\Z").replace(r"[\/|\#|\?|:]", "[/#?:]")
    while (found := re.search(r"\(\?i\)", go)) is not None:
        end = _end_of_group(go, found.end())
        go = f"{go[: found.start()]}(?i:{go[found.end() : end]}){go[end:]}"
    re.compile(go)
    return go


def _end_of_group(pattern: str, start: int) -> int:
    """Index of the end of the group around `start`: its closing bracket, or the pattern's end."""
    depth, index, in_set = 0, start, False
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 1
        elif in_set:
            in_set = character != "]"
        elif character == "[":
            in_set = True
        elif character == "(":
            depth += 1
        elif character == ")":
            if depth == 0:
                return index
            depth -= 1
        index += 1
    return index


def main(source: str, version: str) -> None:
    """Write the file."""
    taken = shapes(tomllib.loads(Path(source).read_text())["rules"])
    licence = (Path(source).parents[1] / "LICENSE").read_text()
    document = {"source": _SOURCE, "version": version, "licence": licence, "left_out": _LEFT_OUT, "shapes": taken}
    TARGET.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
