"""The page about the command line is what the help says, and every command and exit code is on it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from callsheet.cli.exits import MEANINGS, Exit

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    "demo",
    "import",
    "export",
    "show",
    "assemble",
    "explain",
    "recall",
    "memory",
    "approvals",
    "policy",
    "replay",
    "eval",
]
COMMANDS += ["verify", "rebuild", "backup", "restore", "worker", "serve"]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cli_reference", ROOT / "tools" / "cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_help_says(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run: python tools/cli_reference.py"


def test_every_command_has_a_section(tool: ModuleType) -> None:
    assert list(tool.commands()) == COMMANDS
    assert [line for line in tool.page().splitlines() if line.startswith("### ")] == [
        f"### callsheet {name}" for name in COMMANDS
    ]


def test_every_option_is_explained(tool: ModuleType) -> None:
    silent = [
        f"{name} {action.option_strings[0]}"
        for name, parser in tool.commands().items()
        for action in parser._actions
        if action.option_strings and not action.help
    ]

    assert silent == []


def test_every_exit_code_has_a_meaning() -> None:
    assert list(MEANINGS) == list(Exit)
