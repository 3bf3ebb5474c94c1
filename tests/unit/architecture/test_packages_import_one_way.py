"""No module and no folder imports, through others, one that imports it.

Imports for type checking and within functions are counted.
"""

from __future__ import annotations

from support.import_graph import PACKAGES, children, cycle, module_graph, modules

# `events.build` computes an event's id with `identity`, which is a function of the other events' modules.
MADE_OF_EACH_OTHER = {"headwater_schemas"}
FOLDERS = sorted(
    name for name, file in modules().items() if file.name == "__init__.py" and name not in MADE_OF_EACH_OTHER
)


def test_no_modules_import_each_other() -> None:
    assert {package: found for package in PACKAGES if (found := cycle(module_graph(package)))} == {}


def test_parts_of_a_package_are_in_no_cycle() -> None:
    assert {package: found for package in FOLDERS if (found := cycle(children(package)))} == {}


def test_all_packages_are_looked_at() -> None:
    assert all(module_graph(package) for package in PACKAGES)
    assert {"headwater", "headwater_consumers.materializer", "headwater_producers.spark"} <= set(FOLDERS)


def test_the_guard_sees_a_cycle() -> None:
    def graph(**imports: str) -> dict[str, frozenset[str]]:
        return {name: frozenset(others) for name, others in imports.items()}

    assert cycle(graph(a="b", b="c", c="b")) in (["b", "c", "b"], ["c", "b", "c"])
    assert cycle(graph(a="bc", b="c", c="")) == []
