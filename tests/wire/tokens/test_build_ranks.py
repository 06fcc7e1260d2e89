"""The build puts the right rank files into the package, once."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from callsheet.wire.tokens.engine import DEFINITIONS

TOOL = Path(__file__).resolve().parents[3] / "tools" / "build_ranks.py"
needs_build_parts = pytest.mark.skipif(
    not all(importlib.util.find_spec(part) for part in ("bpe_openai", "hatchling")),
    reason="needs what the build needs: hatchling and bpe-openai",
)


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_ranks", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_build_parts
def test_the_tool_and_the_engine_mean_the_same_files(tool: ModuleType) -> None:
    assert {f"{name}.tiktoken.gz": definition.sha256 for name, definition in DEFINITIONS.items()} == tool.SHA256


@needs_build_parts
def test_missing_and_damaged_files_are_replaced_and_right_ones_are_left_alone(tool: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "ranks"

    first = tool.build_ranks(folder)
    assert sorted(file.name for file in first) == sorted(tool.SHA256)

    contents = {file.name: file.read_bytes() for file in first}
    assert tool.build_ranks(folder) == []

    (folder / "o200k_base.tiktoken.gz").write_bytes(contents["o200k_base.tiktoken.gz"][:1000])
    (folder / "cl100k_base.tiktoken.gz").unlink()
    assert len(tool.build_ranks(folder)) == 2
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == contents


@needs_build_parts
@pytest.mark.parametrize(("target", "built"), [("wheel", True), ("sdist", False)])
def test_the_build_hook_fills_wheels_and_leaves_source_archives_alone(
    tool: ModuleType, tmp_path: Path, target: str, built: bool
) -> None:
    hook = tool.RanksHook(str(tmp_path), {}, None, None, str(tmp_path), target)

    hook.initialize("standard", {})

    assert (tmp_path / "src/callsheet/wire/tokens/ranks/o200k_base.tiktoken.gz").exists() is built


def test_run_by_hand_it_says_what_it_did() -> None:
    done = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=True)

    assert "there and right" in done.stdout or "wrote" in done.stdout
