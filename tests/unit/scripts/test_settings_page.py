"""docs/settings.md is what the settings' types say."""

from __future__ import annotations

from typing import Any

import pytest
import settings_page

from headwater.settings import Settings, environment_name, setting_names
from headwater_producers.spark.common.settings import environment_names

pytestmark = pytest.mark.nightly


def test_the_page_is_of_the_types() -> None:
    written = settings_page.PAGE.read_text(encoding="utf-8")
    assert written == settings_page.page(), "settings have changed: uv run scripts/settings_page.py"


def test_every_variable_is_on_it() -> None:
    written = settings_page.page()
    names = {*map(environment_name, setting_names()), *environment_names()}
    assert [name for name in sorted(names) if f"`{name}`" not in written] == []


def test_every_setting_of_a_command_has_a_meaning(subtests: pytest.Subtests) -> None:
    models: list[Any] = [info.annotation for info in Settings.model_fields.values()]
    for model in models:
        with subtests.test(model=model):
            texts = settings_page.meanings(model)
            assert [name for name in model.model_fields if not texts.get(name)] == []


def test_every_setting_of_capture_has_a_meaning() -> None:
    assert [name for name, meaning in settings_page.capture_meanings().items() if not meaning] == []
