"""Names of classes: one meaning each, in all packages."""

from __future__ import annotations

import ast

from support.import_graph import modules, parsed


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = {}
    for module in modules():
        for node in parsed(module).body:
            # A private class is seen in its module alone; a trace of capture in a job's log names it, too.
            if isinstance(node, ast.ClassDef) and (node.name[0] != "_" or module.startswith("headwater_producers.")):
                found.setdefault(node.name, []).append(module)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}
