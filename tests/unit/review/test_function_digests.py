"""Digests of functions: what changes them, and what doesn't."""

from __future__ import annotations

import logging
import sys
import textwrap
from types import ModuleType
from typing import Any

import pytest

from headwater_dry_run.functions import code_of, function_digest


def script(text: str, **given: Any) -> Any:
    """Return the function `f` of a script, as the dry run executes one."""
    names: dict[str, Any] = {"__name__": "__main__", **given}
    exec(compile(textwrap.dedent(text), "job.py", "exec"), names)
    return names["f"]


SAME = [
    ("another name of the function", "def f(x):\n    return x + 1", "def g(x):\n    return x + 1\nf = g"),
    ("a docstring", "def f(x):\n    return x", "def f(x):\n    'Text.'\n    return x"),
    (
        "a logger of the standard library",
        "import logging\nlog = logging.getLogger('a')\ndef f(x):\n    log.info(x)\n    return x",
        "import logging\nlog = logging.getLogger('a')\nlog.setLevel(0)\ndef f(x):\n    log.info(x)\n    return x",
    ),
    (
        "equal values that are shared, or not",
        "a = [1]\nboth = [a, a]\ndef f(x):\n    return both",
        "both = [[1], [1]]\ndef f(x):\n    return both",
    ),
]
OTHER = [
    ("a constant", "def f(x):\n    return x + 1", "def f(x):\n    return x + 2"),
    ("a global value", "n = 1\ndef f(x):\n    return x + n", "n = 2\ndef f(x):\n    return x + n"),
    ("a default", "def f(x, y=1):\n    return x + y", "def f(x, y=2):\n    return x + y"),
    (
        "a pattern",
        "import re\nP = re.compile('a')\ndef f(x):\n    return P.match(x)",
        "import re\nP = re.compile('b')\ndef f(x):\n    return P.match(x)",
    ),
    (
        "a decimal",
        "import decimal\nD = decimal.Decimal('0.5')\ndef f(x):\n    return x > D",
        "import decimal\nD = decimal.Decimal('0.6')\ndef f(x):\n    return x > D",
    ),
    (
        "a function that it calls",
        "def g(x):\n    return 1\ndef f(x):\n    return g(x)",
        "def g(x):\n    return 2\ndef f(x):\n    return g(x)",
    ),
    (
        "a static method",
        "class C:\n    @staticmethod\n    def m(x):\n        return 1\ndef f(x):\n    return C.m(x)",
        "class C:\n    @staticmethod\n    def m(x):\n        return 2\ndef f(x):\n    return C.m(x)",
    ),
    (
        "a property",
        "class C:\n    @property\n    def m(self):\n        return 1\nc = C()\ndef f(x):\n    return c.m",
        "class C:\n    @property\n    def m(self):\n        return 2\nc = C()\ndef f(x):\n    return c.m",
    ),
    (
        "a constant of a class",
        "class C:\n    n = 1\ndef f(x):\n    return C.n",
        "class C:\n    n = 2\ndef f(x):\n    return C.n",
    ),
    (
        "a value in a slot",
        "class C:\n    __slots__ = ('n',)\nc = C()\nc.n = 1\ndef f(x):\n    return c.n",
        "class C:\n    __slots__ = ('n',)\nc = C()\nc.n = 2\ndef f(x):\n    return c.n",
    ),
    (
        "a base class",
        "class B:\n    def m(self):\n        return 1\nclass C(B):\n    pass\nc = C()\ndef f(x):\n    return c.m()",
        "class B:\n    def m(self):\n        return 2\nclass C(B):\n    pass\nc = C()\ndef f(x):\n    return c.m()",
    ),
]


@pytest.mark.parametrize(("case", "one", "other"), SAME)
def test_equal_digests(case: str, one: str, other: str) -> None:
    assert function_digest(script(one)) == function_digest(script(other)), case


@pytest.mark.parametrize(("case", "one", "other"), OTHER)
def test_other_digests(case: str, one: str, other: str) -> None:
    assert function_digest(script(one)) != function_digest(script(other)), case


def test_code_of_libraries_is_left_out() -> None:
    function = script("import logging\ndef f(x):\n    return logging.getLogger(x)")
    assert {code.co_filename for code in code_of(function)} == {"job.py"}
    assert code_of(logging.getLogger) == set()


def test_shared_values_are_looked_at_once() -> None:
    """Fifteen levels of two references each."""
    deep: list[Any] = [1]
    for _ in range(15):
        deep = [deep, deep]
    function_digest(script("def f(x):\n    return deep", deep=deep))


def test_a_module_of_the_script_counts_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = []
    for number in (1, 2):
        module = ModuleType("helper_of_job")
        module.__file__ = "/work/job/helper_of_job.py"
        names = vars(module)
        exec(f"class H:\n    def m(self):\n        return {number}", names)
        monkeypatch.setitem(sys.modules, "helper_of_job", module)
        digests.append(function_digest(script("def f(x):\n    return h.m()", h=names["H"]())))
    assert digests[0] != digests[1]


def test_values_that_lead_to_themselves() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert function_digest(script("def f(x):\n    return loop", loop=loop))
