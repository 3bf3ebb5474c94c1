"""The API as a page, `/docs`, in a real headless Chromium."""

from __future__ import annotations

import pytest
from headless_chromium import new_page
from playwright.sync_api import Browser, expect

from support.api import client_of, fake_graph

pytestmark = pytest.mark.timeout(180)


@pytest.mark.nightly
def test_an_operation_is_shown_and_nothing_is_loaded_from_elsewhere(chromium: Browser) -> None:
    with client_of(fake_graph()) as client, new_page(chromium) as page:
        errors: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))

        page.goto(f"{client.base_url}/docs")
        page.locator(".opblock-summary", has_text="/api/v1/search").click()
        operation = page.locator(".opblock.is-open")
        expect(operation).to_contain_text("by name, owner, tag and column, the best first")
        expect(operation).to_contain_text("next_cursor")

        here = f"{client.base_url}/"
        assert [url for url in asked if not url.startswith((here, "data:", "blob:"))] == []
        assert {"openapi.json", "swagger-ui-bundle.js"} <= {url.removeprefix(here) for url in asked}
        # Chromium logs there what the page's security policy refuses.
        assert errors == []
