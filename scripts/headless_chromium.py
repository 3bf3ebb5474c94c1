"""A page in a headless Chromium that reaches only the loopback address.

Every other host fails to resolve: Neo4j Browser, for example, would load fonts, analytics and a feedback widget
from the internet, and neither a picture nor a test may depend on those. Chromium is the system's own: the Python
package playwright only controls it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
INSTALL_CHROMIUM = "apt install chromium"
STEP_SECONDS = 30.0

CHROMIUM_FLAGS = [
    "--no-sandbox",  # root in a container has no user namespace to sandbox with, and the only page is our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]


def find_chromium() -> str | None:
    """Path of the system's Chromium, or None."""
    return next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)


@contextmanager
def running_chromium(chromium: str) -> Iterator[Browser]:
    """A fresh Chromium, which ends with the `with` block."""
    with sync_playwright() as playwright:
        process = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        try:
            yield process
        finally:
            process.close()


@contextmanager
def new_page(
    chromium: Browser,
    *,
    width: int = 1600,
    height: int = 900,
    colors: Literal["light", "dark"] = "light",
    zone: str | None = None,
) -> Iterator[Page]:
    """An empty page that shares nothing with others of the same Chromium: no cache, no cookies.

    Args:
        width: Width of the page, in CSS pixels.
        height: Height of the page, in CSS pixels.
        colors: Colour scheme that the page sees as the user's preference.
        zone: Time zone of the user, as `Pacific/Auckland`; None: that of this machine.
    """
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=colors, timezone_id=zone)
    page.set_default_timeout(STEP_SECONDS * 1000)
    try:
        yield page
    finally:
        page.close()


@contextmanager
def open_page(
    chromium: str,
    *,
    width: int = 1600,
    height: int = 900,
    colors: Literal["light", "dark"] = "light",
) -> Iterator[Page]:
    """An empty page in a Chromium of its own; the arguments are those of `running_chromium` and `new_page`."""
    with running_chromium(chromium) as process, new_page(process, width=width, height=height, colors=colors) as page:
        yield page
