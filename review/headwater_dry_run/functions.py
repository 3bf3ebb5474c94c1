"""Digest of a Python function: of its code, and of the functions and values that it uses.

Functions and classes of installed packages and of the standard library count by name, and instances of these classes by
`repr`. Everything of the script itself counts by its code and its values.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None))
_DEEPEST: Final = 20
_LIBRARIES: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]+")


def function_digest(function: Callable[..., Any]) -> str:
    """Return a digest of a function's code, independent of its location and name."""
    return _Digests().of(function)[:16]


def code_of(function: Callable[..., Any]) -> set[CodeType]:
    """Return all code that the digest covers."""
    digests = _Digests()
    digests.of(function)
    return digests.codes


class _Digests:
    """Digests of the values that one function leads to.

    Attributes:
        codes: code objects found so far.
    """

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()
        self._open: set[int] = set()
        self._cuts = 0
        # The value is stored, too, so that no other object gets its id.
        self._done: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        if isinstance(value, _PLAIN):
            return _digest((type(value).__name__, repr(value)))
        if id(value) in self._done:
            return self._done[id(value)][1]
        if len(self._open) > _DEEPEST or id(value) in self._open:
            self._cuts += 1
            return _digest((type(value).__name__,))
        self._open.add(id(value))
        cuts = self._cuts
        try:
            found = _digest(self._parts(value))
        finally:
            self._open.discard(id(value))
        if self._cuts == cuts:
            # A digest that was cut at a value in progress depends on the path to this value, so it isn't cached.
            self._done[id(value)] = value, found
        return found

    def _all(self, values: Iterable[Any]) -> list[str]:
        return [self.of(value) for value in values]

    def _parts(self, value: Any) -> Iterable[str]:
        wrapped = getattr(value, "__wrapped__", None)
        method = getattr(value, "__func__", None)
        match value:
            case functools.partial():
                return ["partial", *self._all((value.func, value.args, value.keywords))]
            case FunctionType():
                return self._function(value)
            case _ if isinstance(wrapped, FunctionType):
                return self._function(wrapped)
            case CodeType():
                return self._code(value)
            case list() | tuple() | set() | frozenset() | dict():
                return [type(value).__name__, *self._collection(value)]
            case _ if isinstance(method, FunctionType):
                return ["method", self.of(method), self.of(getattr(value, "__self__", None))]
            case ModuleType():
                return ["module", value.__name__]
            case type():
                return self._class(value)
            case _:
                return self._object(value)

    def _collection(self, value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for name, each in value.items() for text in (self.of(name), self.of(each))]
        digests = self._all(value)
        return sorted(digests) if isinstance(value, (set, frozenset)) else digests

    def _object(self, value: Any) -> Iterable[str]:
        if _is_installed(_file_of(type(value))):
            return ["object", type(value).__qualname__, _ADDRESS.sub("", repr(value))]
        slots = [
            (name, getattr(value, name, None))
            for owner in type(value).__mro__
            for name, each in vars(owner).items()
            if isinstance(each, MemberDescriptorType)
        ]
        state = {**getattr(value, "__dict__", {}), **dict(slots)}
        return ["object", self.of(type(value)), self.of(state)]

    def _class(self, value: type) -> Iterable[str]:
        if _is_installed(_file_of(value)):
            return ["class", value.__module__, value.__qualname__]
        found = ["class", value.__qualname__, *self._all(base for base in value.__bases__ if base is not object)]
        for name, each in sorted(vars(value).items()):
            match each:
                case FunctionType() | list() | tuple() | dict() | set() | frozenset() if not _is_dunder_value(
                    name, each
                ):
                    found += [name, self.of(each)]
                case classmethod() | staticmethod():
                    found += [name, self.of(each.__func__)]
                case property():
                    found += [name, *self._all((each.fget, each.fset, each.fdel))]
                case _ if isinstance(each, _PLAIN) and not name.startswith("__"):
                    found += [name, self.of(each)]
        return found

    def _function(self, function: FunctionType) -> Iterable[str]:
        code = function.__code__
        if _is_installed(code.co_filename):
            return ["function", function.__module__ or "", function.__qualname__]
        used = [(name, function.__globals__[name]) for name in _names(code) if name in function.__globals__]
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        return [
            "function",
            *self._code(code, function.__doc__),
            *self._all((function.__defaults__, function.__kwdefaults__)),
            *(text for name, each in used for text in (name, self.of(each))),
            *self._all(cells),
        ]

    def _code(self, code: CodeType, doc: str | None = None) -> Iterable[str]:
        self.codes.add(code)
        constants = code.co_consts
        if constants and constants[0] == doc:  # both are None for a function without a docstring
            constants = constants[1:]
        return ["code", code.co_code.hex(), *self._all(constants), repr(code.co_names), str(code.co_argcount)]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _is_dunder_value(name: str, value: Any) -> bool:
    """Return whether a member of a class is bookkeeping of Python or of `dataclasses`."""
    return name.startswith("__") and not isinstance(value, FunctionType)


def _file_of(class_: type) -> str:
    """Return the file that defines a class; empty for a class of the script itself, and if the file is unknown."""
    if class_.__module__ == "builtins":
        return "<builtin>"
    module = sys.modules.get(class_.__module__)
    if module is None or class_.__module__ == "__main__":
        return ""
    # A built-in module has no file.
    return getattr(module, "__file__", None) or "<builtin>"


def _is_installed(file: str) -> bool:
    return file.startswith(("<frozen", "<builtin", *_LIBRARIES)) or "site-packages" in file or "dist-packages" in file


def _names(code: CodeType) -> list[str]:
    found = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += _names(constant)
    return sorted(set(found))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  asking is what raises
    except ValueError:
        return False
    return True
