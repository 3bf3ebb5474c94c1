"""Writes docs/settings.md from the settings' types: every setting with its file key, its variable and its default.

    uv run scripts/settings_page.py            write it
    uv run scripts/settings_page.py --check    exit with 1 if it differs from the types

The description of a setting is its docstring: below the field, or in its class's section "Attributes".
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr

from headwater.settings import OTHER_VARIABLES, Settings, environment_name
from headwater_producers.spark.common.settings import ENV_PREFIX, CaptureSettings, property_name
from headwater_schemas.kafka.settings import KafkaSettings
from headwater_schemas.registry import RegistrySettings

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"

HEAD = """\
# Every setting

`uv run scripts/settings_page.py` writes this page from the settings' types. Don't edit it by hand.

A command takes a setting from the first of these that has it:

1. a flag of the command;
2. the environment: `group` in section `[materializer]` is the variable `HEADWATER_MATERIALIZER_GROUP`;
3. a file: the one that `HEADWATER_CONFIG` names, else `headwater.toml` in the working directory;
4. the stack that is running in this data folder, for addresses and the password;
5. the default.

An unknown name is an error that names the nearest known one.

A captured job reads [its own settings](#captured-jobs). Under `headwater run` the sections `kafka`, `topic` and
`registry` apply to it too.
"""

CAPTURE = """\
## Captured jobs

A job takes a setting from the first of these that has it: an argument of `attach` (or `headwater run --set
NAME=VALUE`), a Spark property, the variable. [Capture](capture.md#settings) and [Outbox](outbox.md) describe what each
setting does.
"""

OTHERS = """\
## Only in the environment
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for section, info in Settings.model_fields.items():
        model = info.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            parts.append(f"## `[{section}]`\n\n{_first_line(model)}\n")
            parts.append(_section(section, model))
    parts += [CAPTURE, _capture(), OTHERS, _others()]
    return "\n".join(parts)


def _section(section: str, model: type[BaseModel]) -> str:
    texts = meanings(model)
    rows = [
        (
            f"`{name}`",
            f"`{environment_name(f'{section}.{name}')}`",
            _default(field),
            _values(field),
            texts.get(name, ""),
        )
        for name, field in model.model_fields.items()
    ]
    return _table(("key", "variable", "default", "values", ""), rows)


def capture_meanings() -> dict[str, str]:
    """Description of each setting of capture; connection settings have the commands' descriptions."""
    shared = {"kafka": meanings(KafkaSettings), "registry": meanings(RegistrySettings)}
    own = meanings(CaptureSettings)
    found = {}
    for name in CaptureSettings.model_fields:
        section, _, key = name.partition("_")
        found[name] = shared.get(section, {}).get(key) or own.get(name, "")
    return found


def _capture() -> str:
    texts = capture_meanings()
    rows = [
        (
            f"`{name}`",
            f"`{property_name(name)}`",
            f"`{ENV_PREFIX}{name.upper()}`",
            _default(field),
            _values(field),
            texts[name],
        )
        for name, field in CaptureSettings.model_fields.items()
    ]
    return _table(("setting", "Spark property", "variable", "default", "values", ""), rows)


def _others() -> str:
    return _table(("variable", ""), [(f"`{name}`", meaning) for name, meaning in OTHER_VARIABLES.items()])


def _table(headings: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [headings, tuple("---" for _ in headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def _first_line(model: type[BaseModel]) -> str:
    return inspect.cleandoc(model.__doc__ or "").split("\n\n", 1)[0].replace("\n", " ")


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Description of each field, by its docstring or its class's section "Attributes"."""
    found: dict[str, str] = {}
    section = re.search(r"^Attributes:\n(.*)", inspect.cleandoc(model.__doc__ or ""), re.DOTALL | re.MULTILINE)
    for entry in re.split(r"\n(?=    \S)", section[1]) if section else ():
        names, _, text = " ".join(entry.split()).partition(": ")
        for name in names.split(", "):
            found[name] = _sentence(text)
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101  the source of a class is one definition
    for field, after in zip(definition.body, definition.body[1:], strict=False):
        if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
            continue
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            found[field.target.id] = _sentence(" ".join(str(after.value.value).split()))
    return found


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].removesuffix(".")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value in ("", {}):
        return ""
    if isinstance(value, enum.Enum):
        value = value.value
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _values(field: FieldInfo) -> str:
    kind, limits = _kind(field.annotation), []
    for limit in field.metadata:
        if isinstance(limit, Ge):
            limits.append(f"from {limit.ge}")
        elif isinstance(limit, Gt):
            limits.append(f"over {limit.gt}")
        elif isinstance(limit, Le):
            limits.append(f"to {limit.le}")
        elif isinstance(limit, Lt):
            limits.append(f"below {limit.lt}")
    return " ".join([kind, *limits])


def _kind(annotation: Any) -> str:
    plain = {
        bool: "`true`, `false`",
        int: "number",
        float: "number",
        SecretStr: "secret",
        Path: "path",
        str: "text",
        datetime: "time",
    }
    if annotation in plain:
        return plain[annotation]
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(_kind(each) for each in get_args(annotation) if each is not type(None))
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{each}`" for each in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return ", ".join(f"`{each.value}`" for each in annotation)
    if get_origin(annotation) is dict:
        return "table; as a variable JSON"
    arguments = get_args(annotation)
    return _kind(arguments[0]) if arguments else str(annotation)


def main(arguments: list[str]) -> int:
    """Write or check the page."""
    if arguments == ["--check"]:
        return int(PAGE.read_text(encoding="utf-8") != page())
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
