"""Page of `headwater serve` in Chromium: its addresses, and real clicks on its canvas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from axe_playwright_python.sync_playwright import Axe
from headless_chromium import new_page
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Browser, Page


def dataset(namespace: str, name: str, tab: str = "", **query: str) -> str:
    """Address of a dataset within the page."""
    path = "/".join(quote(each, safe=":") for each in (namespace, name))
    asked = "&".join(f"{key}={quote(value, safe=':,/')}" for key, value in query.items())
    return f"#/dataset/{path}" + (f"/{tab}" if tab else "") + (f"?{asked}" if asked else "")


@contextmanager
def without_errors(chromium: Browser, **options: Any) -> Iterator[Page]:
    """Page of Chromium that must not report a single error of its own, such as what its security policy refuses."""
    with new_page(chromium, **options) as page:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        yield page
        assert not errors, errors


def go(page: Page, address: str) -> None:
    """Change the address within the page, as a link does."""
    page.evaluate("address => { location.hash = address }", address)


def asked(page: Page, path: str) -> Any:
    """Answer of the API."""
    return page.evaluate("async path => (await fetch(`api/v1/${path}`)).json()", path)


def drawn(page: Page, boxes: int | None = None) -> None:
    """Wait until a picture is drawn, of so many boxes."""
    which = '#canvas[data-drawn]:not([data-drawn="0"])' if boxes is None else f'#canvas[data-drawn="{boxes}"]'
    page.locator(which).wait_for(state="attached")


def titles(page: Page) -> dict[str, str]:
    """Keys of boxes by title."""
    found: dict[str, str] = page.evaluate(
        "() => Object.fromEntries(window.headwater.picture.boxes.map(box => [box.title, box.key]))"
    )
    return found


def places(page: Page) -> dict[str, dict[str, float]]:
    """Middle of each box on the canvas, by title."""
    _stands_still(page)
    found: dict[str, dict[str, float]] = page.evaluate(
        "() => { const {picture, canvas} = window.headwater; return Object.fromEntries(picture.boxes.map("
        "box => [box.title, canvas.cy.getElementById(box.key).renderedPosition()])) }"
    )
    return found


def _stands_still(page: Page) -> None:
    """Wait until the picture no longer moves to bring something into view."""
    page.wait_for_function("() => !window.headwater.canvas.cy.animated()")


def _move(page: Page, point: str, argument: Any) -> None:
    _stands_still(page)
    where: dict[str, float] = page.evaluate(
        f"""argument => {{
            const {{picture, canvas}} = window.headwater, cy = canvas.cy
            const key = title => picture.boxes.find(box => box.title === title).key
            const {{x, y}} = ({point})(argument, cy, key), pan = cy.pan(), zoom = cy.zoom()
            const box = cy.container().getBoundingClientRect()
            return {{x: box.x + x * zoom + pan.x, y: box.y + y * zoom + pan.y}}
        }}""",
        argument,
    )
    page.mouse.move(where["x"], where["y"])


def _click(page: Page, point: str, argument: Any) -> None:
    _move(page, point, argument)
    page.mouse.down()
    page.mouse.up()


NAME = "(title, cy, key) => cy.getElementById(`name:${key(title)}`).position()"


def hover_box(page: Page, title: str) -> None:
    """Move the mouse onto a box's name."""
    _move(page, NAME, title)


def click_box(page: Page, title: str) -> None:
    """Click a box with the mouse."""
    _click(page, NAME, title)


def click_more(page: Page, title: str, side: str) -> None:
    """Click the number at a box's corner; `side` is `up` or `down`."""
    _click_corner(page, "more", title, side)


def click_less(page: Page, title: str, side: str) -> None:
    """Click the mark at a box's corner that takes away what was expanded; `side` is `up` or `down`."""
    _click_corner(page, "less", title, side)


def _click_corner(page: Page, kind: str, title: str, side: str) -> None:
    point = "([kind, title, side], cy, key) => cy.getElementById(`${kind}:${side}:${key(title)}`).position()"
    _click(page, point, [kind, title, side])


def click_arrow(page: Page, source: str, target: str) -> None:
    """Click an arrow with the mouse, in its middle."""
    _click(page, "([a, b], cy, key) => cy.getElementById(`${key(a)}>${key(b)}`).midpoint()", [source, target])


def search(page: Page, text: str) -> None:
    """Type into the search field by keyboard, and take the first hit."""
    page.keyboard.press("/")
    page.keyboard.type(text)
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("Enter")


def violations(page: Page) -> list[tuple[str, str]]:
    """Violations of WCAG 2.2 AA that axe finds: each rule, with the beginning of the element that breaks it."""
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
    return [(each["id"], node["html"][:160]) for each in found.response["violations"] for node in each["nodes"]]


def axe_finds_nothing(page: Page, served: str, addresses: Mapping[str, str], at: str) -> None:
    """Look with axe at the answer of each address, by its name; `at` tells pages of other sizes and colours apart."""
    for name, address in addresses.items():
        page.goto("about:blank")
        page.goto(f"{served}/{address}")
        expect(page.locator("h1").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        # It is the answer that is looked at, not the form that asks for it or a word of what went wrong.
        expect(page.locator(".waiting, .trouble")).to_have_count(0)
        assert violations(page) == [], f"{name} at {at}"
