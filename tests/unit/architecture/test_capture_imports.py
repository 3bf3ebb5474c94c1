"""Capture's folders: which may import which, imports for type checking and within functions counted."""

from __future__ import annotations

from support.import_graph import cycle, grouped, imported, module_graph

SPARK = "headwater_producers.spark"
PRODUCERS = module_graph("headwater_producers")

MAY_NOT_IMPORT = {
    # folder of `spark/`: those that it may not import
    "plan": {"jvm", "connectors", "execution", "streaming", "left_writes", "driver", "events"},
    "jvm": {"connectors", "execution", "streaming", "left_writes", "driver", "events"},
    "connectors": {"execution", "streaming", "left_writes", "driver"},
    "streaming": {"left_writes", "driver", "running"},
    "events": {"streaming", "left_writes", "driver", "running", "connectors", "execution", "jvm"},
    "common": {"events", "plan", "streaming", "left_writes", "driver", "running", "connectors", "execution", "jvm"},
    "left_writes": {"driver", "running", "execution"},
    "driver": {"running"},
}


def folder(module: str) -> str:
    """The part of the producers that a module is in: a folder of capture, or a package beside it."""
    parts = module.split(".")
    return ".".join(parts[:3] if module.startswith(f"{SPARK}.") else parts[:2])


def test_no_folders_import_each_other() -> None:
    graph = grouped(PRODUCERS, folder)
    # Only what is above all of capture imports its facade.
    assert {name for name, others in graph.items() if SPARK in others} <= {f"{SPARK}.running"}
    assert cycle(graph) == []


def test_a_folder_imports_nothing_above_it() -> None:
    above = {f"{SPARK}.{name}": folders for name, folders in MAY_NOT_IMPORT.items()}
    assert above.keys() <= set(map(folder, PRODUCERS))
    faults = [
        f"{module} imports {other}"
        for module in PRODUCERS
        for other in imported(module)
        if folder(other).removeprefix(f"{SPARK}.") in above.get(folder(module), ())
    ]
    assert not faults, "\n".join(faults)
