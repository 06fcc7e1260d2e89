"""Branches out of messages that follow each other."""

from hypothesis import given
from hypothesis import strategies as st

from callsheet.audit.logs.trees import MAIN, grown, without_cycles

KEYS = [f"key-{number}" for number in range(8)]

any_parents = st.dictionaries(st.sampled_from(KEYS), st.none() | st.sampled_from(KEYS), min_size=1)


@given(any_parents)
def test_every_message_stands_on_exactly_one_branch_behind_its_parent(parents: dict[str, str | None]) -> None:
    sound, _ = without_cycles(parents)
    branches = grown(sound)
    paths: dict[str, list[str]] = {}
    for branch in branches:
        inherited = paths[branch.parent][: branch.at] if branch.parent is not None else []
        paths[branch.name] = [*inherited, *branch.keys]

    assert sorted(key for branch in branches for key in branch.keys) == sorted(parents)
    assert branches[0].name == MAIN
    assert len(paths) == len(branches), "names are unique"
    for branch in branches:
        path = paths[branch.name]
        for before, key in zip([None, *path], path, strict=False):
            if key in branch.keys:
                assert sound[key] == before


@given(any_parents)
def test_without_cycles_nothing_else_is_changed(parents: dict[str, str | None]) -> None:
    sound, cut = without_cycles(parents)

    changed = [key for key in parents if sound[key] != parents[key] and parents[key] in parents]
    assert len(changed) == cut
    for start in sound:
        seen: set[str | None] = set()
        key: str | None = start
        while key is not None:
            assert key not in seen
            seen.add(key)
            key = sound[key]


@given(any_parents, st.dictionaries(st.sampled_from([f"new-{n}" for n in range(4)]), st.sampled_from(KEYS)))
def test_what_is_appended_only_makes_branches_longer_or_new(
    parents: dict[str, str | None], new: dict[str, str]
) -> None:
    sound, _ = without_cycles(parents)
    before = {branch.name: branch for branch in grown(sound)}
    after = {branch.name: branch for branch in grown({**sound, **{k: p for k, p in new.items() if p in sound}})}

    for name, branch in before.items():
        assert after[name].keys[: len(branch.keys)] == branch.keys
        assert (after[name].parent, after[name].at) == (branch.parent, branch.at)


def test_a_long_chain_and_many_branches_take_no_recursion() -> None:
    chain: dict[str, str | None] = {"0": None} | {str(n): str(n - 1) for n in range(1, 50_000)}
    assert len(grown(without_cycles(chain)[0])[0].keys) == 50_000
    star: dict[str, str | None] = {"root": None} | {f"child-{n}": "root" for n in range(5000)}
    assert len({branch.name for branch in grown(star)}) == 5000
