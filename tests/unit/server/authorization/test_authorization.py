"""Compilation of policies to what an identity may see, and when it is renewed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.errors import GraphUnreachableError
from headwater_analysis.reader import Reader
from headwater_analysis.visibility import Visible
from headwater_graph.keys import dataset_key
from headwater_server.authorization import AccessFileError, Authorization, Policies
from headwater_server.authorization import authorization as module
from headwater_server.authorization.assets import compiled
from headwater_server.identity import SERVER, Identity, IdentitySource
from support.api import client_of, fake_graph
from support.waiting import eventually

OPEN = 'permit(principal, action == Action::"read", resource);'
NONE = 'forbid(principal, action == Action::"read", resource);'
FLIGHTS = 'permit(principal in Group::"flights", action == Action::"read", resource);'


def row(namespace: str, name: str, *tags: str) -> dict[str, Any]:
    key = dataset_key("default", namespace, name)
    none = {"type": None, "classification": [None], "sensitivity": [], "owners": []}
    return {"key": key, "namespace": namespace, "name": name, "tags": list(tags), **none}


@dataclass
class Estate:
    """Reader of a graph of datasets alone."""

    datasets: Sequence[Mapping[str, Any]]
    tenant: str = "default"
    pages: list[str] = field(default_factory=list)
    away: bool = False
    held: threading.Event | None = None

    def read(self, question: Callable[[Any], Any]) -> Any:
        if self.held is not None:
            self.held.wait()
        if self.away:
            raise GraphUnreachableError("it doesn't answer")
        return question(self)

    def rows(self, name: str, *, after: str, limit: int) -> list[Mapping[str, Any]]:
        self.pages.append(name)
        known = sorted(self.datasets, key=lambda each: str(each["key"])) if name == "access/datasets" else []
        return [each for each in known if each["key"] > after][:limit]


def visible_to(identity: Identity, text: str, estate: Estate) -> Visible:
    return compiled(Policies(text), identity, cast("Reader", estate))


def ann(*groups: str, subject: str = "ann") -> Identity:
    return Identity(IdentitySource.OIDC, subject, groups=frozenset(groups))


def sees(visible: Visible, each: Mapping[str, Any]) -> bool:
    """Tell whether a statement's condition holds for a dataset."""
    in_scope = f"dataset:{each['namespace']}" in visible.scopes and each["key"] not in visible.hidden
    return in_scope or each["key"] in visible.also


NAMES = st.sampled_from(["a", "b", "ab", "c", "d"])
ROWS = st.lists(
    st.builds(lambda namespace, name, tags: row(namespace, name, *tags), NAMES, NAMES, st.lists(NAMES, max_size=2)),
    max_size=20,
    unique_by=lambda each: each["key"],
)
TEXTS = st.lists(
    st.builds(
        lambda effect, condition: f"{effect}(principal, action, resource is Dataset) when {{ {condition} }};",
        st.sampled_from(["permit", "permit", "forbid"]),
        st.sampled_from(
            ['resource.name like "a*"', 'resource.tags.contains("b")', 'resource.namespace == "c"', "true"],
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(TEXTS, ROWS)
def test_what_is_compiled_decides_as_the_policies_do(texts: list[str], rows: list[dict[str, Any]]) -> None:
    text = "\n".join(texts)
    visible = visible_to(ann(), text, Estate(rows))
    for each in rows:
        alone = visible_to(ann(), text, Estate([each]))
        assert sees(visible, each) is sees(alone, each)


def test_a_namespace_of_which_most_is_visible_is_a_scope_with_exceptions() -> None:
    text = f'{OPEN} forbid(principal, action, resource is Dataset) when {{ resource.tags.contains("pii") }};'
    rows = [row("file", "a"), row("file", "b"), row("file", "c", "pii"), row("x", "d", "pii")]
    visible = visible_to(ann(), text, Estate(rows))
    assert visible == Visible(scopes=frozenset({"dataset:file"}), hidden=frozenset({rows[2]["key"]}))


def test_a_namespace_of_which_single_datasets_are_permitted_is_none() -> None:
    text = 'permit(principal, action, resource is Dataset) when { resource.name like "public*" };'
    rows = [row("file", "public_a"), row("file", "public_b")]
    visible = visible_to(ann(), text, Estate(rows))
    assert visible == Visible(scopes=frozenset(), also=frozenset(each["key"] for each in rows))


def test_all_pages_are_decided_about() -> None:
    rows = [row("file", str(n)) for n in range(4_500)]
    estate = Estate(rows)
    text = 'permit(principal, action, resource is Dataset) when { resource.name like "*7" };'
    assert len(visible_to(ann(), text, estate).also) == 450
    assert estate.pages.count("access/datasets") == 3


@pytest.fixture
def clock() -> list[float]:
    """Seconds, in a list of one."""
    return [0.0]


def authorization(tmp_path: Path, text: str = FLIGHTS, clock: Sequence[float] = (0.0,)) -> tuple[Authorization, Path]:
    file = tmp_path / "access.cedar"
    file.write_text(text)
    return Authorization(file, refresh_seconds=10, clock=lambda: clock[0]), file


def ask(made: Authorization, identity: Identity, estate: Estate) -> Visible | None:
    return made.visible(identity, cast("Reader", estate))


def test_those_with_the_same_groups_share_a_compilation(tmp_path: Path) -> None:
    made, _ = authorization(tmp_path)
    estate = Estate([row("file", "a")])
    assert ask(made, ann("flights"), estate) is ask(made, ann("flights", subject="bob"), estate)
    assert ask(made, ann(), estate) == Visible(frozenset())
    assert estate.pages.count("access/datasets") == 2


@pytest.mark.parametrize("user", ['User::"oidc:bob"', 'User :: "oidc:bob"', 'User // he\n::"oidc:bob"'])
def test_who_is_named_has_an_own_one(tmp_path: Path, user: str) -> None:
    made, _ = authorization(tmp_path, f'permit(principal == {user}, action == Action::"read", resource);')
    estate = Estate([row("file", "a")])
    assert ask(made, ann(subject="bob"), estate) == Visible(frozenset({"dataset:file"}))
    assert ask(made, ann(), estate) == Visible(frozenset())


def test_tenants_share_nothing(tmp_path: Path) -> None:
    made, _ = authorization(tmp_path, f'{OPEN} forbid(principal, action, resource) when {{ resource.tenant == "b" }};')
    rows = [row("file", "a")]
    assert ask(made, ann(), Estate(rows, tenant="a")) == Visible(frozenset({"dataset:file"}))
    assert ask(made, ann(), Estate(rows, tenant="b")) == Visible(frozenset())


def test_who_may_see_everything_is_not_filtered_and_needs_no_graph(tmp_path: Path) -> None:
    made, _ = authorization(tmp_path, 'permit(principal in Group::"ops", action == Action::"everything", resource);')
    assert ask(made, ann("ops"), Estate([], away=True)) is None
    assert ask(made, SERVER, Estate([], away=True)) is None
    assert made.everything(ann("ops"), "default").allowed
    assert not made.everything(ann(), "default").allowed


def test_labels_count_after_the_refresh(tmp_path: Path, clock: list[float]) -> None:
    made, _ = authorization(
        tmp_path,
        'permit(principal, action, resource is Dataset) when { resource.tags.contains("x") };',
        clock,
    )
    estate = Estate([row("file", "a")])
    assert ask(made, ann(), estate) == Visible(frozenset())
    estate.datasets = [row("file", "a", "x")]
    clock[0] = 9.9
    assert ask(made, ann(), estate) == Visible(frozenset())
    clock[0] = 10.1
    eventually(lambda: ask(made, ann(), estate) != Visible(frozenset()), 10)


def test_nobody_waits_for_a_renewal(tmp_path: Path, clock: list[float]) -> None:
    made, _ = authorization(tmp_path, OPEN, clock)
    estate = Estate([row("file", "a")])
    first = ask(made, ann(), estate)
    estate.held = threading.Event()
    clock[0] = 11
    assert ask(made, ann(), estate) is first
    assert ask(made, ann(), estate) is first
    estate.held.set()
    eventually(lambda: estate.pages.count("access/datasets") == 2, 10)


def test_what_is_too_old_is_not_used(tmp_path: Path, clock: list[float]) -> None:
    made, _ = authorization(
        tmp_path,
        f'{OPEN} forbid(principal, action, resource is Dataset) when {{ resource.tags.contains("x") }};',
        clock,
    )
    estate = Estate([row("file", "a")])
    assert ask(made, ann(), estate) == Visible(frozenset({"dataset:file"}))
    estate.datasets = [row("file", "a", "x")]
    # Nobody has asked for a while, so nothing was renewed.
    clock[0] = 20.1
    assert ask(made, ann(), estate) == Visible(frozenset())
    estate.away = True
    clock[0] = 40.3
    with pytest.raises(GraphUnreachableError):
        ask(made, ann(), estate)


def test_a_renewal_that_fails_keeps_the_last(
    tmp_path: Path, clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    made, _ = authorization(tmp_path, OPEN, clock)
    estate = Estate([row("file", "a")])
    first = ask(made, ann(), estate)
    estate.away = True
    clock[0] = 11
    assert ask(made, ann(), estate) is first
    eventually(lambda: "can't be compiled again" in caplog.text, 10)
    assert ask(made, ann(), estate) is first


def test_the_first_question_fails_with_the_graph(tmp_path: Path) -> None:
    made, _ = authorization(tmp_path, OPEN)
    with pytest.raises(GraphUnreachableError):
        ask(made, ann(), Estate([], away=True))


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    made, file = authorization(tmp_path, OPEN)
    estate = Estate([row("file", "a")])
    assert ask(made, ann(), estate) == Visible(frozenset({"dataset:file"}))
    file.write_text(f"{OPEN} {NONE}")
    assert ask(made, ann(), estate) == Visible(frozenset())


def test_a_broken_file_keeps_the_last_policies(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made, file = authorization(tmp_path, OPEN)
    estate = Estate([row("file", "a")])
    first = ask(made, ann(), estate)
    file.write_text("permit(")
    for _ in range(2):
        assert ask(made, ann(), estate) is first
    assert made.broken is not None
    assert caplog.text.count("last valid policies stay in use") == 1
    file.unlink()
    assert ask(made, ann(), estate) is first
    file.write_text(NONE)
    assert ask(made, ann(), estate) == Visible(frozenset())
    assert made.broken is None


def test_the_metric_of_the_file_needs_no_question(tmp_path: Path) -> None:
    made, file = authorization(tmp_path, OPEN)
    with client_of(replace(fake_graph(), authorization=made)) as client:
        for text, up in ((OPEN, 1), ("permit(", 0), (NONE, 1)):
            file.write_text(text)
            assert f"headwater_serve_access_file_up {up}.0" in client.get("/metrics").text
    with client_of(fake_graph()) as client:
        assert "headwater_serve_access_file_up 1.0" in client.get("/metrics").text


def test_a_file_that_was_never_valid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AccessFileError, match=r"access\.cedar"):
        authorization(tmp_path, "permit(")


def test_compilations_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_COMPILED", 2)
    made, _ = authorization(tmp_path)
    estate = Estate([])
    for group in ("a", "b", "c", "a"):
        ask(made, ann(group), estate)
    assert estate.pages.count("access/datasets") == 4
