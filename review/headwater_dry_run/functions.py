"""Digest of a Python function: of its code, and of the functions and values it uses."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

_PLAIN: Final = (int, float, complex, str, bytes, bool, type(None))
_DEEPEST: Final = 20


def function_digest(function: Callable[..., Any]) -> str:
    """Return a digest of a function's code, independent of its location and name."""
    return hashlib.sha256(repr(_described(function, _Described(), 0)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def code_of(function: Callable[..., Any]) -> set[CodeType]:
    """Return all code that the digest covers."""
    seen = _Described()
    _described(function, seen, 0)
    return seen.codes


class _Described(set[int]):
    """Identities of the functions and values under description, to end recursion.

    Attributes:
        codes: code objects described so far.
    """

    def __init__(self) -> None:
        super().__init__()
        self.codes: set[CodeType] = set()


def _described(value: Any, seen: _Described, depth: int) -> Any:
    if isinstance(value, _PLAIN):
        return (type(value).__name__, repr(value))
    if depth > _DEEPEST or id(value) in seen:
        return type(value).__name__
    seen.add(id(value))
    try:
        return _parts(value, seen, depth + 1)
    finally:
        # Equal functions have equal descriptions, even if they are different objects.
        seen.discard(id(value))


def _parts(value: Any, seen: _Described, depth: int) -> Any:
    if isinstance(value, functools.partial):
        return ("partial", *(_described(each, seen, depth) for each in (value.func, value.args, value.keywords)))
    wrapped = getattr(value, "__wrapped__", None)
    if isinstance(value, FunctionType):
        return _function(value, seen, depth)
    if isinstance(wrapped, FunctionType):
        return _function(wrapped, seen, depth)
    if isinstance(value, CodeType):
        return _code(value, seen, depth)
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        return _collection(value, seen, depth)
    method = getattr(value, "__func__", None)
    if isinstance(method, FunctionType):
        return ("method", _described(method, seen, depth), _described(value.__self__, seen, depth))
    return _object(value, seen, depth)


def _object(value: Any, seen: _Described, depth: int) -> Any:
    if isinstance(value, ModuleType):
        return ("module", value.__name__)
    if isinstance(value, type):
        return _class(value, seen, depth)
    state = getattr(value, "__dict__", None)
    return (type(value).__qualname__, _class(type(value), seen, depth), _described(state, seen, depth))


def _collection(value: Any, seen: _Described, depth: int) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_described(each, seen, depth) for each in value))
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, *sorted(repr(_described(each, seen, depth)) for each in value))
    return ("dict", *((repr(name), _described(each, seen, depth)) for name, each in value.items()))


def _class(value: type, seen: _Described, depth: int) -> Any:
    module = getattr(value, "__module__", "")
    own = [(name, each) for name, each in sorted(vars(value).items()) if isinstance(each, FunctionType)]
    # A library's class is identified by its name; a class of the script by its methods.
    installed = "site-packages" in str(getattr(own[0][1].__code__, "co_filename", "")) if own else True
    if installed:
        return (module, value.__qualname__)
    return (value.__qualname__, *((name, _described(each, seen, depth)) for name, each in own))


def _function(function: FunctionType, seen: _Described, depth: int) -> Any:
    code = function.__code__
    used = [(name, function.__globals__[name]) for name in _names(code) if name in function.__globals__]
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    return (
        _code(code, seen, depth, function.__doc__),
        _described(function.__defaults__, seen, depth),
        _described(function.__kwdefaults__, seen, depth),
        tuple((name, _described(each, seen, depth)) for name, each in used),
        tuple(_described(each, seen, depth) for each in cells),
    )


def _code(code: CodeType, seen: _Described, depth: int, doc: str | None = None) -> Any:
    seen.codes.add(code)
    constants = code.co_consts
    if doc is not None and constants and constants[0] == doc:
        constants = constants[1:]
    return (code.co_code, tuple(_described(each, seen, depth) for each in constants), code.co_names, code.co_argcount)


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
