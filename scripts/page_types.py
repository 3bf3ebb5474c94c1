"""Types of the HTTP API's answers for the page: `web/src/app/answers.ts`, from the API's OpenAPI document.

    uv run scripts/page_types.py

One interface for each object and one union for each enumeration. A test compares the file with the API.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headwater_server.app import openapi_document

FILE = Path(__file__).parents[1] / "web" / "src" / "app" / "answers.ts"
_HEAD = "// Types of the HTTP API's answers. Made by scripts/page_types.py; docs of each field are in /openapi.json.\n"
_ABSENT = frozenset({"incidents"})
"""Members of answers that are absent if they would be empty, which is nearly always."""
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript(document: dict[str, Any]) -> str:
    """Return the TypeScript of all schemas of an OpenAPI document, in their order."""
    parts = [_HEAD]
    for name, schema in document["components"]["schemas"].items():
        if "properties" in schema:
            fields = "".join(
                f"  {field}{'?' * (field in _ABSENT)}: {_type(of)};\n" for field, of in schema["properties"].items()
            )
            parts.append(f"export interface {name} {{\n{fields}}}\n")
        else:
            parts.append(f"export type {name} = {_type(schema)};\n")
    return "\n".join(parts)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    match schema.get("type"):
        case "array":
            of = _type(schema["items"]) if "items" in schema else "unknown"
            return f"({of})[]" if " | " in of else f"{of}[]"
        case "object":
            return "Record<string, unknown>"
        case str() as name:
            return _PLAIN[name]
    return "unknown"


if __name__ == "__main__":
    FILE.write_text(typescript(openapi_document()), encoding="utf-8")
