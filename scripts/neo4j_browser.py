"""Neo4j Browser 5 in headless Chromium: sign in, run a query, see the graph that it draws.

Only this module knows the Browser's elements; the screenshot script and the tests use it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headless_chromium import STEP_SECONDS, open_page
from playwright.sync_api import Error as PlaywrightError

if TYPE_CHECKING:
    from playwright.sync_api import Page

STYLE = Path(__file__).parents[1] / "ops" / "neo4j-browser" / "headwater.grass"

# Settings: open on an empty page, send no reports, draw only what the query returned.
LOCAL_STORAGE = {
    "settings": {
        "theme": "light",
        "initCmd": "",
        "playImplicitInitCommands": False,
        "allowCrashReports": False,
        "allowUserStats": False,
        "showWheelZoomInfo": False,
        "autoComplete": False,
    },
    "udc": {"consentBannerShownCount": 1_000},
}

LOOP = 60  # height in pixels above the highest node, for an arrow from this node to itself
CLOSE = 0.6  # a node's distance from the centre while the view zooms in, as a share of its final distance

# The Browser draws with d3, which keeps each element's datum on the element.
_NODES = """nodes => nodes.map(({__data__: d}) =>
    ({id: d.id, label: d.labels[0] ?? "", name: String(d.propertyMap.name ?? "")}))"""
_ARROWS = "arrows => arrows.map(({__data__: d}) => ({source: d.source.id, target: d.target.id, type: d.type}))"
_DROP = """(page, [name, data]) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([Uint8Array.from(atob(data), c => c.charCodeAt(0))], name))
    for (const kind of ["dragenter", "dragover", "drop"])
        page.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer}))
}"""
_POSITIONS = "nodes => nodes.map(node => node.getAttribute('transform')).join()"


class NeoBrowserError(RuntimeError):
    """The Browser didn't do a step; the message has the step and the page's text."""


@dataclass(frozen=True, slots=True)
class Node:
    """A circle. Its `id` is valid only on this page."""

    id: str
    label: str
    name: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A relationship from the node `source` to the node `target`, by id."""

    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """Nodes and arrows on the canvas."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the page, in pixels from its top left."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, x: float, y: float) -> bool:
        """Return True for a point within the area, or in the strip above it that loops are drawn in."""
        return self.x <= x <= self.x + self.width and self.y - LOOP <= y <= self.y + self.height


def grass() -> dict[str, dict[str, str]]:
    """Read the kit's style as the Browser stores it: for each selector, values by property, without comments."""
    rules = re.findall(r"^([\w.]+) \{\n(.*?)^\}", STYLE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return {
        selector: {name: value.strip('"') for name, value in re.findall(r"^  ([\w-]+): (.*);$", body, re.MULTILINE)}
        for selector, body in rules
    }


def _towards(centre: tuple[float, float], place: tuple[float, float], share: float) -> tuple[float, float]:
    return centre[0] + (place[0] - centre[0]) * share, centre[1] + (place[1] - centre[1]) * share


@contextmanager
def open_browser(chromium: str, *, width: int = 1600, height: int = 900, styled: bool = True) -> Iterator[NeoBrowser]:
    """A page in a fresh Chromium, which ends with the `with` block.

    Args:
        width: Width of the page, in CSS pixels.
        height: Height of the page, in CSS pixels.
        styled: Whether the page has the kit's style from the start; otherwise it has the Browser's own style.
    """
    kept = LOCAL_STORAGE | ({"grass": grass()} if styled else {})
    storage = "".join(
        f"localStorage.setItem({json.dumps('neo4j.' + key)}, {json.dumps(json.dumps(value))});"
        for key, value in kept.items()
    )
    with open_page(chromium, width=width, height=height) as page:
        page.add_init_script(storage)
        yield NeoBrowser(page)


class NeoBrowser:
    """One page of Neo4j Browser."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def sign_in(self, browser_url: str, *, bolt_uri: str, user: str, password: str) -> None:
        """Open the Browser and connect it to the database.

        Args:
            browser_url: Address of the Browser, such as `http://127.0.0.1:7474/browser/`.
            bolt_uri: Address of the database, such as `bolt://127.0.0.1:7687`.
            password: The user's password; no error shows it.

        Raises:
            NeoBrowserError: The page didn't open, or the credentials were refused.
        """
        page = self._page
        scheme, _, address = bolt_uri.partition("://")
        with self._step("opening the sign-in form"):
            page.goto(browser_url)
            page.get_by_test_id("bolt-scheme-select").select_option(f"{scheme}://")
            page.get_by_test_id("boltaddress").fill(address)
            page.get_by_test_id("username").fill(user)
        try:
            page.get_by_test_id("password").fill(password)
        except PlaywrightError:
            # Not chained: playwright's error quotes the typed text.
            raise NeoBrowserError("Neo4j Browser: the sign-in form has no field for a password.") from None
        refused = page.get_by_test_id("frameStatusbar").filter(has_text=re.compile(r"Neo\.|Error|failed"))
        with self._step("signing in"):
            page.get_by_test_id("connect").click()
            page.get_by_text("You are connected as user").or_(refused).first.wait_for()
        if refused.is_visible():
            raise NeoBrowserError(f"Neo4j Browser: signing in: {refused.inner_text().strip()}")
        # The greeting's frame would stay under the result.
        page.get_by_test_id("frame").first.get_by_title("Close", exact=True).click()

    def drop(self, path: Path) -> None:
        """Drop a file on the page: a .grass becomes its style, a .zip of .cypher files its favourites."""
        with self._step(f"dropping {path.name}"):
            data = base64.b64encode(path.read_bytes()).decode()
            self._page.locator(".filedrop").first.evaluate(_DROP, [path.name, data])
            if path.suffix == ".grass":
                # The Browser answers by showing the style, in a frame that would stay under the result.
                frame = self._page.get_by_test_id("frame").first
                frame.get_by_text("relationship {").wait_for()
                frame.get_by_title("Close", exact=True).click()

    def open_favorite(self, folder: str, title: str) -> None:
        """Load a favourite into the editor by clicks in the drawer, and close the drawer."""
        page = self._page
        with self._step(f"opening the favourite {title!r}"):
            page.get_by_test_id("navigationFavorites").click()
            favorite = page.get_by_text(title, exact=True)
            if not favorite.is_visible():
                page.get_by_text(folder, exact=True).click()
            favorite.click()
            page.locator(".monaco-editor").first.get_by_text(title).wait_for()
            page.get_by_test_id("navigationFavorites").click()

    def open_guide(self, url: str) -> None:
        """Show a guide beside the editor.

        Raises:
            NeoBrowserError: The guide didn't open.
        """
        with self._step("opening the guide"):
            self._type(f":guide {url}")
            self._page.get_by_test_id("guideNextSlide").wait_for()

    def click_in_guide(self, title: str) -> str:
        """Turn the guide's pages to a question, click it, and return the editor's text."""
        page = self._page
        with self._step(f"clicking {title!r} in the guide"):
            question = page.locator("pre.runnable").filter(has_text=title)
            while not question.is_visible():
                page.get_by_test_id("guideNextSlide").click()
            question.click()
            page.locator(".monaco-editor").first.get_by_text(title).wait_for()
            return str(page.locator(".monaco-editor .view-lines").first.inner_text()).replace("\xa0", " ")

    def draw(self, cypher: str | None = None) -> Drawn:
        """Run a query that returns paths or nodes, fill the page with its graph, and wait until the layout rests.

        Args:
            cypher: The query; None runs the editor's text.

        Raises:
            NeoBrowserError: The query failed, or there is nothing to draw.
        """
        page = self._page
        with self._step("running the query"):
            self._type(cypher)
        with self._step("drawing the graph"):
            frame = page.get_by_test_id("frame").first
            failed = page.get_by_test_id("cypherFrameErrorMessage")
            page.locator("g.node").or_(failed).first.wait_for()
            if failed.is_visible():
                raise NeoBrowserError(f"Neo4j Browser: the query failed: {failed.inner_text()}")
            frame.get_by_title("Fullscreen", exact=True).click()
            self._rest()
            return Drawn(
                nodes=tuple(Node(**node) for node in page.locator("g.node").evaluate_all(_NODES)),
                arrows=tuple(Arrow(**arrow) for arrow in page.locator("g.relationship").evaluate_all(_ARROWS)),
            )

    def arrange(self, drawn: Drawn, places: Mapping[str, tuple[float, float]]) -> None:
        """Zoom until captions have their full size, and drag each node to its position with the mouse.

        The Browser's layout no longer moves dragged nodes.

        Args:
            drawn: Result of `draw`.
            places: By node id, x and y as fractions of the free canvas; (0, 0) is its top left.
        """
        with self._step("arranging the nodes"):
            # First drag all nodes close to the view's centre, so that none leaves the canvas while the view zooms in.
            canvas, free = self._canvas(), self._free_canvas()
            centre = (canvas.x + canvas.width / 2 - free.x) / free.width, 0.5
            near = CLOSE * min(1.0, self._scale())
            self._drag(drawn, {node: _towards(centre, place, near) for node, place in places.items()})
            nearer = self._page.get_by_label("zoom-in").first
            while self._scale() < 1 and nearer.is_enabled():
                nearer.click()
                self._rest()
            self._drag(drawn, places)

    def _drag(self, drawn: Drawn, places: Mapping[str, tuple[float, float]]) -> None:
        mouse, free = self._page.mouse, self._free_canvas()
        for position, node in enumerate(drawn.nodes):
            box = self._page.locator("g.node").nth(position).locator("circle.b-outline").bounding_box()
            middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) if box else (-1.0, -1.0)
            if not free.holds(*middle):
                raise NeoBrowserError(f"Neo4j Browser: {node.label} {node.name!r} is not in view.")
            x, y = places[node.id]
            mouse.move(*middle)
            mouse.down()
            mouse.move(free.x + x * free.width, free.y + y * free.height, steps=4)
            mouse.up()
        self._rest()
        # Move the mouse off the canvas through empty space, so that the overview doesn't describe the last node under
        # it.
        mouse.move(free.x + 5, free.y + 5, steps=4)
        mouse.move(5, 5, steps=4)
        self._page.get_by_test_id("vizInspector").get_by_text("Overview").wait_for()

    def captions(self) -> dict[str, float]:
        """Distance of each visible circle from the left edge in pixels, by the circle's text."""
        found = {}
        for circle in self._page.locator("g.node").all():
            if box := circle.bounding_box():
                found[(circle.text_content() or "").strip()] = box["x"] + box["width"] / 2
        return found

    def fills(self) -> dict[str, str]:
        """The colour of each label's circles, such as `#2F6FC4`."""
        circles = self._page.locator("g.node")
        found: dict[str, str] = circles.evaluate_all(
            "nodes => Object.fromEntries(nodes.map(node => [node.__data__.labels[0],"
            " node.querySelector('circle.b-outline').getAttribute('fill').toUpperCase()]))"
        )
        return found

    def close_frame(self) -> None:
        """Leave the graph that fills the page, and close it."""
        with self._step("closing the graph"):
            frame = self._page.get_by_test_id("frame").first
            frame.get_by_title("Close fullscreen").or_(frame.get_by_title("Close", exact=True)).first.click()
            if self._page.locator("g.node").count():
                frame.get_by_title("Close", exact=True).click()
            # Otherwise old nodes would make the next query look drawn.
            self._page.locator("g.node").first.wait_for(state="detached")

    def save(self, path: Path) -> None:
        """Write the page as a PNG."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._page.screenshot(path=path)

    def _type(self, text: str | None) -> None:
        """Type a query into the editor, if given, and run it."""
        page = self._page
        if text is not None:
            page.locator(".monaco-editor").first.click()
            # Not key by key: the editor would close brackets automatically.
            page.keyboard.insert_text(text)
        page.get_by_test_id("editor-Run").click()

    def _scale(self) -> float:
        circle = self._page.locator("g.node circle.b-outline").first
        box = circle.bounding_box()
        return box["width"] / (2 * float(circle.get_attribute("r") or 1)) if box else 1.0

    def _canvas(self) -> Area:
        box = self._page.locator("svg.neod3viz").bounding_box()
        if box is None:
            raise NeoBrowserError("Neo4j Browser: there is no canvas.")
        return Area(box["x"], box["y"], box["width"], box["height"])

    def _free_canvas(self) -> Area:
        """Part of the canvas on which nodes are visible: the overview lies over its right side."""
        canvas, overview = self._canvas(), self._page.get_by_test_id("vizInspector").bounding_box()
        right = overview["x"] if overview else canvas.x + canvas.width
        return Area(canvas.x, canvas.y + LOOP, right - canvas.x, canvas.height - LOOP)

    def _rest(self) -> None:
        # The force layout cools down over some 300 frames; it rests when two checks half a second apart agree.
        before, now = "", self._page.locator("g.node").evaluate_all(_POSITIONS)
        for _ in range(int(STEP_SECONDS * 2)):
            if now == before:
                return
            self._page.wait_for_timeout(500)
            before, now = now, self._page.locator("g.node").evaluate_all(_POSITIONS)
        raise NeoBrowserError(f"Neo4j Browser: the layout still moved after {STEP_SECONDS:.0f} s.")

    @contextmanager
    def _step(self, step: str) -> Iterator[None]:
        try:
            yield
        except PlaywrightError as error:
            raise NeoBrowserError(f"Neo4j Browser: {step}: {str(error).partition(chr(10))[0]}") from error
