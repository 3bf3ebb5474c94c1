"""Files and texts that the page exports, compared with the answers that they are of."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from support.page import asked, dataset, drawn, without_errors

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.stack, pytest.mark.timeout(180)]

KAFKA = "kafka://embedded"
DEPARTED = dataset(KAFKA, "flights.departed", depth="all")
ANSWER = "graph?asset=flights.departed&depth=all&width=12&limit=58"
SCALE = 2
# Answers with the sizes of PNG and SVG, and the arrows at whose middle the PNG has another colour than the background.
READ_PNG = """async ([png, svg]) => {
    const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0))
    const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}))
    const pixels = new OffscreenCanvas(image.width, image.height).getContext('2d')
    pixels.drawImage(image, 0, 0)
    const picture = document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true)
    document.body.append(picture)
    const [left, top, width, height] = picture.getAttribute('viewBox').split(' ').map(Number)
    const pixel = ({x, y}) => pixels.getImageData(
        Math.floor((x - left) * image.width / width), Math.floor((y - top) * image.height / height), 1, 1).data.join()
    const background = pixel({x: left + 1, y: top + 1})
    // A dash or dot is somewhere within one period of them.
    const dashes = path => (path.getAttribute('stroke-dasharray') ?? '').split(' ').map(Number)
    const isDrawn = path => {
        const middle = path.getTotalLength() / 2, reach = dashes(path).reduce((sum, part) => sum + part) / 2
        for (let at = middle - reach; at <= middle + reach; at += 0.5)
            if (pixel(path.getPointAtLength(at)) !== background) return true
        return false
    }
    const arrows = [...picture.querySelectorAll('.arrow')]
    const found = {
        size: [image.width, image.height], svg: ['width', 'height'].map(side => Number(picture.getAttribute(side))),
        drawn: arrows.filter(isDrawn).map(path => path.dataset.arrow).sort(),
    }
    picture.remove()
    return found
}"""


@pytest.fixture
def page(chromium: Browser, served: str, read_demo: Driver) -> Iterator[Page]:
    with without_errors(chromium) as opened:
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened.goto(f"{served}/{DEPARTED}")
        drawn(opened)
        yield opened


def exported(page: Page, kind: str) -> bytes:
    """A file of the menu *Export*."""
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name=kind).click()
    return Path(saved.value.path()).read_bytes()


def arrows_of(svg: bytes) -> list[str]:
    return [html.unescape(each) for each in re.findall(r'data-arrow="([^"]*)"', svg.decode())]


def clipboard(page: Page) -> str:
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    return text


def test_files_have_every_arrow_of_the_answer(page: Page) -> None:
    arrows = sorted(edge["key"] for edge in asked(page, ANSWER)["edges"])
    assert len(arrows) > 5
    svg = exported(page, "SVG")
    assert sorted(arrows_of(svg)) == arrows
    read = page.evaluate(READ_PNG, [base64.b64encode(exported(page, "PNG")).decode(), svg.decode()])
    assert read["size"] == [SCALE * side for side in read["svg"]]
    assert read["drawn"] == arrows


def test_mermaid_and_json_are_the_answer(page: Page) -> None:
    answer = asked(page, ANSWER)
    known = {node["asset"]["key"]: node["asset"] for node in answer["nodes"]}
    lines = exported(page, "Mermaid").decode().splitlines()
    boxes = {key: title for line in lines for key, title in re.findall(r'^  (n\d+)\["(.*)"\]$', line)}
    drawn_arrows = [re.match(r"^  (n\d+) -\.?->(?:\|.*\|)? (n\d+)$", line) for line in lines]
    ends = sorted((boxes[found[1]], boxes[found[2]]) for found in drawn_arrows if found)
    assert lines[0] == "flowchart LR"
    assert len(boxes) + len(ends) + 1 == len(lines)
    assert sorted(boxes.values()) == sorted(asset["title"] or asset["name"] for asset in known.values())
    assert ends == sorted((known[edge["source"]]["title"], known[edge["target"]]["title"]) for edge in answer["edges"])
    saved = json.loads(exported(page, "JSON"))
    assert (saved["nodes"], saved["edges"]) == (answer["nodes"], answer["edges"])


def test_a_ticket_has_the_summary_of_the_impact(page: Page, served: str) -> None:
    with page.expect_response("**/impact/analyze?*") as asked_for:
        page.goto(f"{served}/{dataset(KAFKA, 'flights.departed', change='REMOVED', changedcol='value.carrier')}")
    page.locator("#impact").get_by_role("button", name="Copy for a ticket").click()
    expect(page.locator("#live")).to_have_text("Copied")
    assert clipboard(page) == asked_for.value.json()["summary"]


def test_bad_records_have_a_ticket_and_files_of_their_picture(page: Page, served: str) -> None:
    page.goto(f"{served}/#/blast?topic=flights.departed&partition=0&offset=0&end=5&view=graph")
    expect(page.locator("h1")).to_have_text("Bad records")
    answer = asked(page, "blast?topic=flights.departed&partition=0&offset=0&end=5&depth=all&limit=1000")
    page.get_by_role("button", name="Copy for a ticket").click()
    expect(page.locator("#live")).to_have_text("Copied")
    text = clipboard(page)
    assert text.splitlines()[0] == "Bad records: flights.departed 0:0..5"
    for one in answer["tainted"]:
        assert f"- {one['dataset']['namespace']}" in text
        assert one["dataset"]["name"] in text
    assert page.url in text
    drawn(page)
    hops = {
        f"{source['dataset']['key']}>{target['dataset']['key']}"
        for hop in answer["hops"]
        for source in hop["inputs"]
        for target in hop["outputs"]
    }
    files = {}
    for kind in ("SVG", "PNG"):
        with page.expect_download() as saved:
            page.locator(".rec-hops").get_by_role("button", name=kind).click()
        files[kind] = Path(saved.value.path()).read_bytes()
    assert set(arrows_of(files["SVG"])) == hops
    read = page.evaluate(READ_PNG, [base64.b64encode(files["PNG"]).decode(), files["SVG"].decode()])
    assert read["drawn"] == sorted(hops)
