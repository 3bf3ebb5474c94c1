"""The file of channels: mistakes with their lines, who gets which channel, and no address anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.errors import InputError
from headwater.incident.channels import EVERYBODY, Channels, load_channels
from headwater_analysis.incidents.answers import SentNotification
from headwater_analysis.incidents.recipients import Recipient
from headwater_schemas.events import NotificationChange
from support.incidents import AT

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "c4n4ry"
GOOD = """# Channels
link = "https://page.example/#/incident/{incident}"

[channels]
"#on-call" = "json://127.0.0.1:1/${SECRET}"
'team:lake' = [
  "json://127.0.0.1:2",
  "alertmanagers://u:p@127.0.0.1:3/prefix",
]
"delay \\"board\\"" = "json://127.0.0.1:4"
board = "json://127.0.0.1:5"

[defaults]
everybody = "json://127.0.0.1:6"
operators = ["alertmanager://127.0.0.1"]
"""


def load(tmp_path: Path, text: str, secret: str | None = CANARY) -> Channels:
    file = tmp_path / "channels.toml"
    file.write_text(text, "utf-8")
    return load_channels(file, {} if secret is None else {"SECRET": secret})


def recipient(*addresses: str, latest: str | None = None) -> Recipient:
    sent = None
    if latest is not None:
        sent = SentNotification(recipient="r", channel=latest, change=NotificationChange.OPENED, at=AT, digest="d")
    return Recipient(
        recipient="r",
        addresses=addresses,
        held=(),
        unlisted=0,
        cleared=(),
        latest=sent,
        change=NotificationChange.OPENED,
        digest="e",
    )


def test_a_recipient_gets_the_most_specific_channel(tmp_path: Path) -> None:
    channels = load(tmp_path, GOOD)

    def name_of(*addresses: str, latest: str | None = None) -> str | None:
        found = channels.channel_of(recipient(*addresses, latest=latest))
        return None if found is None else found.name

    assert name_of("#on-call", "board", "team:lake") == "#on-call"
    assert name_of("#other", 'delay "board"', "team:lake") == 'delay "board"'
    assert name_of("#other", "x", "team:lake") == "team:lake"
    assert name_of("x") == EVERYBODY
    # The channel of the latest message is only for those whose addresses aren't known any more.
    assert name_of("team:lake", latest="board") == "team:lake"
    assert name_of(latest="board") == "board"
    assert name_of(latest="gone") == EVERYBODY
    assert channels.operators is not None
    assert len(channels.channels["team:lake"]) == 2
    assert channels.channels["#on-call"][0].get_secret_value() == f"json://127.0.0.1:1/{CANARY}"


def test_without_defaults_there_may_be_no_channel(tmp_path: Path) -> None:
    channels = load(tmp_path, '[channels]\na = "json://127.0.0.1"\n')
    assert channels.channel_of(recipient("b")) is None
    assert (channels.operators, channels.page_of("INC-1")) == (None, None)


def test_the_address_of_a_page_escapes_the_id(tmp_path: Path) -> None:
    assert load(tmp_path, GOOD).page_of("a/b c\n") == "https://page.example/#/incident/a%2Fb%20c%0A"


MISTAKES = {
    "an unknown table": ("[defaults]", "[default]", 13, "default: unknown; did you mean `defaults`?"),
    "an unknown default": ("operators =", "operator =", 15, "defaults.operator: unknown; did you mean `operators`?"),
    "an unknown service": ("json://127.0.0.1:4", "nothing://x", 10, "no address of a service"),
    "no address": ("json://127.0.0.1:4", "", 10, "no address of a service"),
    "an alertmanager without a host": ("alertmanager://127.0.0.1", "alertmanager://", 15, "no address of a service"),
    "one of several": ("json://127.0.0.1:2", "nothing://x", 6, "channels.team:lake[0]: no address"),
    "a number": ('"json://127.0.0.1:5"', "5", 11, "channels.board: "),
    "no address in a list": ('"json://127.0.0.1:5"', "[]", 11, "channels.board: "),
    "an empty name": ("board =", '"" =', 11, "channels"),
    "a link without an id": ("/{incident}", "", 2, "link: {incident} is missing in it"),
    "a link that is none": ("https://page", "javascript://page", 2, "link: no address of a page"),
    "a link of two lines": ("https://page", "https://\\npage", 2, "link: no address of a page"),
}


def test_a_mistake_is_reported_with_line_and_key(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name, (before, after, line, message) in MISTAKES.items():
        with subtests.test(name):
            assert GOOD.count(before) == 1
            with pytest.raises(InputError) as refused:
                load(tmp_path, GOOD.replace(before, after))
            assert refused.value.message.startswith(f"{tmp_path}/channels.toml:{line}: ")
            assert message in refused.value.message


def test_a_missing_variable_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        load(tmp_path, GOOD, secret=None)
    assert refused.value.message == f"{tmp_path}/channels.toml:5: channels.#on-call[0]: the environment has no SECRET"
    with pytest.raises(InputError, match="the environment has no SECRET"):
        load(tmp_path, GOOD, secret="")


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no TOML"):
        load(tmp_path, "channels = [")
    with pytest.raises(InputError, match="can't be read: No such file"):
        load_channels(tmp_path / "none.toml", {})


def test_no_error_has_an_address(
    subtests: pytest.Subtests, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    broken = {
        "a service that is unknown": f'[channels]\na = "nothing://{CANARY}"\n',
        "a service that needs more": f'[channels]\na = "slack://{CANARY}"\n',
        "a variable": '[channels]\na = "${SECRET}"\n',
        "a list": f'[channels]\na = ["json://127.0.0.1/{CANARY}", "nothing://{CANARY}", 5]\n',
        "a table": f'[channels]\na = {{b = "{CANARY}"}}\n',
        "an unknown key": f'[defaults]\nall = "json://127.0.0.1/{CANARY}"\n',
        "no TOML": f'[channels]\na = "json://127.0.0.1/{CANARY}\n',
    }
    caplog.set_level(1)
    for name, text in broken.items():
        with subtests.test(name):
            with pytest.raises(InputError) as refused:
                load(tmp_path, text)
            assert CANARY not in f"{refused.value.message} {refused.value.fix}"
    assert CANARY not in repr(load(tmp_path, GOOD))
    out, err = capfd.readouterr()
    assert CANARY not in out + err + caplog.text
