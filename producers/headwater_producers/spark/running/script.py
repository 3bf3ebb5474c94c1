"""Script run as `python job.py` would run it: `__main__`, `sys.argv`, `sys.path`, tracebacks, exit status.

The interpreter handles exceptions, so exit status, `sys.exit` and Ctrl-C work as usual. Only the runner's
frames, below the script's frames, are removed from the printed traceback.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from headwater_producers.spark.driver import shutdown


def run_script(script: str, source: bytes, arguments: Sequence[str]) -> None:
    """Run a script; return after its last line. Raises the script's own errors."""
    path = Path(script)
    file = str(path.absolute())
    sys.argv = [script, *arguments]
    if not sys.flags.safe_path:
        # The first entry was the folder of the script that started this process.
        sys.path[0] = str(path.resolve().parent)
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=file,
        __builtins__=__builtins__,
        __cached__=None,
        __annotations__={},
        __loader__=importlib.machinery.SourceFileLoader("__main__", file),
    )
    # Pickling, multiprocessing and `import __main__` look here.
    sys.modules["__main__"] = main
    sys.excepthook = without_our_frames(sys.excepthook)
    try:
        _execute(compile(source, file, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as left:
        # Only this handler sees a SystemExit that the script raises itself.
        shutdown.script_raised(left)
        raise


def _execute(code: CodeType, names: dict[str, Any]) -> None:
    exec(code, names)  # noqa: S102  this is what it is for


def without_our_frames(hook: Callable[..., object]) -> Callable[..., None]:
    """Call the excepthook with a traceback that begins with the script."""

    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown = trace
        while shown is not None and shown.tb_frame.f_code is not _execute.__code__:
            shown = shown.tb_next
        # A script that doesn't compile has no frame.
        shown = shown.tb_next if shown is not None else (None if isinstance(error, SyntaxError) else trace)
        hook(kind, error.with_traceback(shown), shown)

    return excepthook
