"""Files of policies: what is refused, who decides, and that a decision about many is that about each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_server.authorization import AccessFileError, Policies, Resource
from headwater_server.identity import Identity, IdentitySource

if TYPE_CHECKING:
    from collections.abc import Sequence

FLIGHTS = """
@id("flights")
permit(principal in Group::"flights", action == Action::"read", resource is Dataset)
when { resource.namespace == "kafka://b:9092" };

// Not even the team sees what is personal.
@id("personal")
forbid(principal, action == Action::"read", resource is Dataset)
when { resource.sensitivity.contains("PII") }
unless { principal == User::"oidc:privacy" };
"""


def dataset(name: str = "flights", namespace: str = "kafka://b:9092", *sensitivity: str, **more: object) -> Resource:
    lists: dict[str, object] = {"tags": [], "classification": [], "owners": []}
    given = {"tenant": "default", "namespace": namespace, "name": name, "type": "", "sensitivity": list(sensitivity)}
    return Resource("Dataset", {**lists, **given, **more})


def asker(*groups: str, subject: str = "ann") -> Identity:
    return Identity(IdentitySource.OIDC, subject, groups=frozenset(groups))


def test_a_policy_permits_and_another_forbids() -> None:
    decided = Policies(FLIGHTS).decide(
        asker("flights"), "read", [dataset(), dataset("guests", "kafka://b:9092", "PII")]
    )
    assert [(each.allowed, each.policies) for each in decided] == [(True, ("flights",)), (False, ("personal",))]


def test_what_none_permits_is_denied() -> None:
    policies = Policies(FLIGHTS)
    assert [each.allowed for each in policies.decide(asker(), "read", [dataset()])] == [False]
    assert [each.policies for each in policies.decide(asker("flights"), "read", [dataset("t", "file")])] == [()]


def test_a_user_is_named_with_the_way_it_logs_in() -> None:
    policies = Policies(FLIGHTS)
    guests = [dataset("guests", "kafka://b:9092", "PII")]
    assert [each.allowed for each in policies.decide(asker("flights", subject="privacy"), "read", guests)] == [True]
    token = Identity(IdentitySource.TOKEN, "privacy", groups=frozenset({"flights"}))
    assert [each.allowed for each in policies.decide(token, "read", guests)] == [False]
    assert policies.names_users
    assert not Policies(FLIGHTS.partition("// Not")[0]).names_users


def test_a_policy_that_fails_denies() -> None:
    text = (
        'permit(principal, action, resource); forbid(principal, action, resource) when { resource.tags.contains("x") };'
    )
    (decision,) = Policies(text).decide(asker(), "read", [Resource("Dataset", {"tenant": "default"})])
    assert not decision.allowed
    assert "tags" in decision.errors[0]


def test_names_without_an_id_are_numbers() -> None:
    assert Policies(FLIGHTS + "permit(principal, action, resource);").names() == ["flights", "personal", "policy 3"]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("permit(principal, action resource);", "line 1: unexpected token `resource`"),
        (FLIGHTS + "permit(principal, action, resource)", "line 11: unexpected end of input"),
        (FLIGHTS.replace("resource.namespace", "resource.space"), "line 2: attribute `space` on entity type `Dataset`"),
        (FLIGHTS.replace("resource is Dataset", "resource", 1), "line 2: attribute `namespace` on entity type"),
        ('permit(principal in Team::"a", action, resource);', "line 1: unrecognized entity type `Team`"),
        ('permit(principal, action == Action::"raed", resource);', "line 1: unrecognized action"),
        ("permit(principal == ?principal, action, resource);", "line 1: a policy with a slot"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, mistake: str) -> None:
    file = tmp_path / "access.cedar"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(AccessFileError) as caught:
        Policies.read(file)
    assert f"{file}: {mistake}" in str(caught.value)


def test_files_that_are_not_read(tmp_path: Path, subtests: pytest.Subtests) -> None:
    file = tmp_path / "access.cedar"
    for data, message in (
        (None, "No such file"),
        (b"// \xff\n", ":1: not UTF-8"),
        (b"//" + b"x" * 1_048_576, "larger than 1,048,576 bytes"),
    ):
        with subtests.test(message):
            if data is not None:
                file.write_bytes(data)
            with pytest.raises(AccessFileError, match=message):
                Policies.read(file)


def test_a_semicolon_in_a_string_or_comment_ends_no_policy() -> None:
    text = '// one; two "\n@id("a;b") permit(principal, action, resource is Dataset) when { resource.name == "c;//" };'
    assert Policies(text).mistakes() == ()
    assert Policies(text).names() == ["a;b"]


NAMES = st.sampled_from(["flights", "guests", "x"])
RESOURCES = st.lists(
    st.builds(
        dataset, NAMES, st.sampled_from(["kafka://b:9092", "file"]), tags=st.lists(NAMES, max_size=2, unique=True)
    ),
    max_size=12,
)
CONDITIONS = st.sampled_from(
    [
        'resource.name like "f*"',
        'resource.tags.contains("x")',
        'resource.namespace == "file"',
        "true",
        'resource has owners && resource.owners.contains("ann")',
    ]
)
POLICIES = st.lists(
    st.builds(
        lambda effect, condition: f"{effect}(principal, action, resource is Dataset) when {{ {condition} }};",
        st.sampled_from(["permit", "forbid"]),
        CONDITIONS,
    ),
    min_size=1,
    max_size=4,
)


@given(POLICIES, RESOURCES)
def test_a_decision_about_many_is_that_about_each(texts: Sequence[str], resources: list[Resource]) -> None:
    policies = Policies("\n".join(texts))
    together = policies.decide(asker(), "read", resources)
    each = [policies.decide(asker(), "read", [resource])[0] for resource in resources]
    assert together == each


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('forbid(principal, action == Action::"read", resource == Dataset::"kafka://x/raw");', "no ids"),
        ('permit(principal, action, resource) unless { resource == Job::"0" };', "no ids"),
        ('permit(principal, action == Action::"everything", resource in Graph::"g");', "no ids"),
        (
            '@id("a")\npermit(principal, action, resource is Job);\n@id("a")\npermit(principal, action, resource);',
            "line 3: the policy of line 1 has the @id 'a'",
        ),
    ],
)
def test_what_would_decide_otherwise_than_it_reads_is_a_mistake(text: str, mistake: str) -> None:
    (found,) = Policies(text).mistakes()
    assert mistake in found
