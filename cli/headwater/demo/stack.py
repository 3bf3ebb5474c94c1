"""The demo's own Kafka and Neo4j: never the ones that `headwater up` runs, so that no data of the user's is touched."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from headwater.stack import EmbeddedStack, state
from headwater.stack.lifecycle import bring_down, kept_up

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.demo.folder import DemoFolder
    from headwater.stack import StackInfo


@contextlib.contextmanager
def demo_stack(folder: DemoFolder, *, keep: bool) -> Iterator[StackInfo]:
    """A fresh stack for the block.

    Args:
        folder: Taken by the caller; emptied here, after a stack that the last demo kept was ended.
        keep: Leave it up after the block, unless the block raises or this process is killed.
    """
    bring_down(folder.root)
    folder.empty()
    if not keep:
        with EmbeddedStack(folder.root, wanted=state.remembered_ports(folder.root), quick=True) as stack:
            # The same addresses when the user brings this folder up to look around.
            state.remember_ports(folder.root, stack.ports)
            yield stack.info
        return
    with kept_up(folder.root, quick=True) as info:
        yield info
