"""The fenced blocks of a document, in order, and running them as one session in one folder.

    ```python           runs; what it prints must match the ```output block behind it, if there is one
    ```python not-run   must compile; for what needs a key or a package that tests do not have
    ```console          lines behind `$ ` run in a shell; what stands below a command must match what it prints
    ```output           `...` stands for anything, and white space does not count

Other blocks are text.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.project.source import ROOT

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

OTHER_COMMANDS = ("make ", "pip ", "python3 -m venv", ". .venv/bin/activate", "git clone", "cd ")
"""Commands that a document may show and that are tested elsewhere, or set a machine up."""

HELPERS = ("head -c 32 /dev/urandom > ",)
"""Commands of others that an example needs; they run too."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A fenced block: what stands behind the fence, its text, and the line that it begins at."""

    info: str
    text: str
    line: int


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks of a document."""
    text = document.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        indent = found["indent"]
        body = re.sub(rf"^{indent}", "", found["body"], flags=re.MULTILINE)
        yield Block(info=found["info"].strip(), text=body, line=text.count("\n", 0, found.start()) + 1)


@dataclass(kw_only=True)
class Session:
    """One reader who types every example of one document, in order."""

    document: Path
    folder: Path
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "__main__"})
    printed: str = ""

    def __post_init__(self) -> None:
        # Readers type commands in a checkout; this folder stands for one.
        (self.folder / "src").symlink_to(ROOT / "src")

    def run(self, block: Block) -> None:
        """Run one block, or check it against what the one before printed."""
        match block.info:
            case "python":
                self.printed = self._python(block)
            case "python not-run":
                compile(block.text, str(self.document), "exec")
            case "console":
                self._console(block)
            case "output":
                self._matches(block.text, self.printed, block.line)
            case info:
                assert not info.startswith(("python", "console", "output", "py")), f"{self._at(block.line)}: {info!r}"

    def _at(self, line: int) -> str:
        return f"{self.document.relative_to(ROOT)}:{line}"

    def _python(self, block: Block) -> str:
        # Lines are counted as in the document, so that a traceback points into it.
        code = compile("\n" * block.line + block.text, str(self.document), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)
        return printed.getvalue()

    def _console(self, block: Block) -> None:
        command, shown, line = "", "", block.line
        for number, text in enumerate([*block.text.splitlines(), "$ "], start=block.line + 1):
            if text.startswith("$ "):
                if command:
                    self._shell(command, shown, line)
                command, shown, line = text[2:].strip(), "", number
            elif command.endswith("\\"):
                command = command[:-1] + text.strip()
            else:
                shown += text + "\n"

    def _shell(self, command: str, shown: str, line: int) -> None:
        if command.startswith(OTHER_COMMANDS):
            return
        assert "callsheet" in command or command.startswith(HELPERS), (
            f"{self._at(line)}: {command!r} is neither ours nor expected"
        )
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{self._at(line)}: $ {command}\n{done.stdout}{done.stderr}"
        if shown.strip():
            self._matches(shown, done.stdout, line)

    def _environment(self) -> dict[str, str]:
        """With `callsheet` on the path, whether it is installed or only lies in the checkout."""
        command = self.folder / ".bin" / "callsheet"
        if not command.exists():
            command.parent.mkdir()
            start = "import sys; from callsheet.cli import main; sys.exit(main())"
            command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{start}" "$@"\n')
            command.chmod(0o755)
        path = os.pathsep.join([str(command.parent), os.environ.get("PATH", "")])
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "120", "NO_COLOR": "1"}

    def _matches(self, wanted: str, printed: str, line: int) -> None:
        same = doctest.OutputChecker().check_output(wanted, printed, _LOOSE)
        assert same, f"{self._at(line)} shows:\n{wanted}\nbut this was printed:\n{printed}"
