"""Policy sets are named by what they say."""

import pytest
from msgspec.structs import replace

from callsheet.errors import PolicyError
from callsheet.policy.sets import BUILT_IN, RULE_VERSIONS, policy_set

#: Hashes of the built-in sets. A changed rule or setting needs a new version, and then a new line here.
GOLDEN = {"replay@1": "sha256:0f12289b0e706bc05f3b3a40fa6c87254b2cae1b24bb3dc93fbcbf6513b74a2e"}


def test_an_unknown_set_is_refused_with_those_there_are() -> None:
    with pytest.raises(PolicyError, match=r"no policy set 'thrifty'; there are: .*replay"):
        policy_set("thrifty")


def test_the_hash_changes_with_the_content() -> None:
    replay = policy_set("replay")
    assert replay.hash != replace(replay, version="2").hash
    assert replay.hash == policy_set("replay").hash


def test_built_in_sets_say_what_they_said_when_their_version_was_given() -> None:
    assert GOLDEN == {str(document): document.hash for document in BUILT_IN.values()}
    assert {"visibility": 1} == dict(RULE_VERSIONS)
