from __future__ import annotations

from pathlib import Path

import pytest

from headwater.demo.folder import DemoFolder
from headwater.errors import ConfigurationError


def test_a_demo_finds_an_empty_folder_and_the_ports_of_the_last_one(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path)
    (tmp_path / "kafka" / "data").mkdir(parents=True)
    (tmp_path / "neo4j.password").write_text("old")
    (tmp_path / "ports.json").write_text("{}")
    (tmp_path / "flights").symlink_to(tmp_path / "kafka")
    folder.empty()
    assert {entry.name for entry in tmp_path.iterdir()} == {"ports.json", "flights", "logs", "work"}
    assert folder.home.is_dir()
    assert not folder.home.is_symlink()
    assert folder.settings_file.read_text() == ""


def test_two_demos_do_not_share_a_folder(tmp_path: Path) -> None:
    folder = DemoFolder(tmp_path / "demo")
    with folder.taken():
        with pytest.raises(ConfigurationError, match="Another demo is running") as error, folder.taken():
            pytest.fail("it was taken")
        assert "HEADWATER_DATA_DIR" in error.value.fix
    with folder.taken():
        pass


def test_it_lies_in_the_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
    assert DemoFolder.default().root == tmp_path / "demo"
