"""The API as a page, `/docs`: the OpenAPI document, rendered once, with no script and nothing from elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from headwater_server.documented import success_of

# Of an example's answer; /openapi.json has all of it.
_MOST_EXAMPLE_LINES = 60
_CODE = re.compile(r"`([^`]+)`")
_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#f6f8fa, #151b23);
  --text: light-dark(#1f2328, #f0f6fc); --dim: light-dark(#59636e, #9198a1); --accent: light-dark(#0969da, #4493f8) }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: light-dark(#fff, #0d1117) }
main { display: grid; grid-template-columns: 250px minmax(0, 1fr); max-width: 1250px; margin: auto }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 20px 12px; box-sizing: border-box }
nav { font-size: 13px }
nav b { display: block; margin: 14px 0 2px; color: var(--dim) } nav a { display: block; overflow-wrap: anywhere }
article { padding: 20px 24px 60px; border-left: 1px solid var(--line) }
a { color: var(--accent); text-decoration: none } a:hover { text-decoration: underline }
section { border-top: 1px solid var(--line); padding: 6px 0 18px; margin-top: 18px }
h2 { font-size: 17px; overflow-wrap: anywhere } h2 i { font-style: normal; color: var(--accent); margin-right: 8px }
h3 { font-size: 14px; margin: 14px 0 4px } p { margin: 4px 0 }
table { border-collapse: collapse; width: 100%; font-size: 13.5px }
th, td { text-align: left; vertical-align: top; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line) }
td:first-child { white-space: nowrap } code, pre { font: 12.5px/1.45 ui-monospace, monospace }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 10px; overflow: auto }
pre { max-height: 420px }
.dim { color: var(--dim) } @media (max-width: 800px) { main { display: block } nav { position: static; height: auto } }
"""


def reference_page(document: Mapping[str, Any]) -> str:
    """The page, as HTML: every operation and schema of an OpenAPI document."""
    return "".join(_page(document))


def _page(document: Mapping[str, Any]) -> Iterator[str]:
    info = document["info"]
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    yield (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{escape(info["title"])} API</title><link rel="icon" href="icon.svg"><style>{_STYLE}</style><main><nav>'
        '<a href="./">The lineage page</a><a href="openapi.json">openapi.json</a>'
    )
    tag = None
    for _, path, operation in operations:
        if tag != (tag := operation["tags"][0]):
            yield f"<b>{escape(tag)}</b>"
        yield f'<a href="#{_anchor(operation)}">{escape(path.removeprefix("/api/v1"))}</a>'
    yield '<b>schemas</b><a href="#schemas">all of them</a></nav><article>'
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>{_prose(info['description'])}"
    for method, path, operation in operations:
        yield from _operation(method, path, operation)
    yield '<section id="schemas"><h2>Schemas</h2></section>'
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield from _schema(name, schema)
    yield "</article></main></html>"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{_anchor(operation)}"><h2><i>{method}</i>{escape(path)}</h2>'
    yield _prose(operation.get("description", ""))
    if parameters := operation.get("parameters"):
        yield "<h3>Parameters</h3><table>"
        for parameter in parameters:
            must = " <b>required</b>" if parameter.get("required") else ""
            where = f'<span class="dim"> in the {parameter["in"]}{must}</span>'
            yield (
                f"<tr><td><code>{escape(parameter['name'])}</code>{where}<td>{_type(parameter['schema'])}"
                f"<td>{_inline(parameter.get('description', ''))}"
            )
        yield "</table>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        yield f"<h3>Body</h3><p>{_type(body['schema'])}</p>"
    answer = success_of(operation)["content"].get("application/json", {})
    if "schema" in answer:
        yield f"<h3>Answer</h3><p>{_type(answer['schema'])}</p>"
    if "example" in answer:
        yield f"<h3>Example</h3><pre>{escape(_request(method, path, operation, body))}</pre>"
        lines = json.dumps(answer["example"], indent=2, ensure_ascii=False).splitlines()
        left_out = [f"… {len(lines) - _MOST_EXAMPLE_LINES} more lines"] if len(lines) > _MOST_EXAMPLE_LINES else []
        yield f"<pre>{escape(chr(10).join([*lines[:_MOST_EXAMPLE_LINES], *left_out]))}</pre>"
    success = success_of(operation)
    problems = ((status, each) for status, each in operation["responses"].items() if each is not success)
    for status, each in problems:
        yield f'<p class="dim">{escape(status)} {_inline(each["description"])}</p>'
    yield "</section>"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="schema-{escape(name)}"><h2>{escape(name)}</h2>{_prose(schema.get("description", ""))}'
    if "enum" in schema:
        yield f"<p>{' '.join(f'<code>{escape(str(each))}</code>' for each in schema['enum'])}</p>"
    if properties := schema.get("properties"):
        yield "<table>"
        for field, each in properties.items():
            yield f"<tr><td><code>{escape(field)}</code><td>{_type(each)}<td>{_inline(each.get('description', ''))}"
        yield "</table>"
    yield "</section>"


def _type(schema: Mapping[str, Any]) -> str:
    """`[Lineage](#schema-Lineage)`, `string | null`, `integer, 1 to 1000` … as HTML."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    if branches := schema.get("anyOf") or schema.get("allOf"):
        return " | ".join(_type(each) for each in branches)
    if "enum" in schema or "const" in schema:
        return " | ".join(f"<code>{escape(str(each))}</code>" for each in schema.get("enum") or [schema["const"]])
    kind = schema.get("type", "any")
    if kind == "array":
        items = schema.get("items") or (schema.get("prefixItems") or [{}])[0]
        return f"list of {_type(items)}"
    text = escape(schema.get("format", kind))
    if "minimum" in schema and "maximum" in schema:
        text += f", {schema['minimum']:,} to {schema['maximum']:,}"
    return text


def _request(method: str, path: str, operation: Mapping[str, Any], body: Mapping[str, Any] | None) -> str:
    query = {}
    for parameter in operation.get("parameters", ()):
        if "example" not in parameter:
            continue
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(str(parameter["example"]), safe=":"))
        else:
            query[parameter["name"]] = parameter["example"]
    text = f"{method} {path}{'?' + urlencode(query, doseq=True) if query else ''}"
    if body is not None and "example" in body:
        text += f"\nContent-Type: application/json\n\n{json.dumps(body['example'], indent=2)}"
    return text


def _anchor(operation: Mapping[str, Any]) -> str:
    return escape(operation["operationId"])


def _prose(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.split("\n\n") if part)


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text))
