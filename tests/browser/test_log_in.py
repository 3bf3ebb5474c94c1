"""Log-in and log-out of a person in a real Chromium, at a real OIDC provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from headless_chromium import new_page
from playwright.sync_api import expect

from headwater_analysis.reader import reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from support.api import client_with_login
from support.oidc_issuer import be_patient
from support.oidc_provider import PAGE, running_provider

if TYPE_CHECKING:
    from neo4j import Driver
    from playwright.sync_api import Browser

    from support.stack import StackUnderTest

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(180)]


def test_a_person_logs_in_and_out(
    chromium: Browser, stack: StackUnderTest, read_demo: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)
    target = Neo4jTarget(stack.neo4j_uri, stack.neo4j_user, stack.neo4j_password, "neo4j")
    graph = Graph(reading_driver(target), target, AnalysisSettings(), ServeSettings(port=0))
    with running_provider() as provider:
        client_id, secret = PAGE
        login = {"oidc_issuer": provider.issuer, "oidc_client_id": client_id, "oidc_client_secret": secret}
        with client_with_login(graph, **login) as client, new_page(chromium) as page:
            own = str(client.base_url).rstrip("/")
            provider.control(redirects=[own])
            page.goto(f"{own}/#/search?q=dwh")
            # There, it is asked for nothing, and back.
            expect(page.locator("#who")).to_contain_text("ann")
            assert page.url == f"{own}/#/search?q=dwh"
            (cookie,) = [each for each in page.context.cookies(own) if each["name"] == "headwater_session"]
            assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
            assert "headwater" not in page.evaluate("document.cookie")

            # Another site's page, with the cookie: the provider's, on another port of the same host.
            page.goto(provider.issuer + "/.well-known/openid-configuration")
            page.evaluate(
                "url => fetch(url, {method: 'POST', mode: 'no-cors', credentials: 'include'}).catch(() => null)",
                f"{own}/logout",
            )
            page.goto(own)
            expect(page.locator("#who")).to_contain_text("ann")

            page.click("#logout")
            page.get_by_role("button", name="Log out").click()
            expect(page.get_by_role("alert")).to_contain_text("You are logged out.")
            assert [each["name"] for each in page.context.cookies(own) if each["name"] == "headwater_session"] == []
            provider.control(user="bob")
            page.get_by_role("link", name="Log in").click()
            expect(page.locator("#who")).to_contain_text("bob")
            assert page.url == f"{own}/"
