"""The page at `/`: files that are built elsewhere and shipped beside this module, in `page/`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.staticfiles import StaticFiles


def page_files() -> StaticFiles | None:
    """What serves them; None where the page wasn't built."""
    folder = Path(str(files("headwater_consumers.api").joinpath("page")))
    return StaticFiles(directory=folder, html=True) if (folder / "index.html").is_file() else None
