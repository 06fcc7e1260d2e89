"""The program as a process: what it loads, how it reads and writes streams, how it ends when it is stopped."""

import gzip
import json
import signal
import subprocess
import sys
from pathlib import Path

import callsheet
from tests.cli.running import PROGRAM

LINE = b'{"id": "a", "messages": [{"role": "user", "content": "hello"}]}\n'


def test_help_loads_nothing_heavy() -> None:
    watch = (
        "import sys; from callsheet.cli import main; code = main(['import', '--help']); "
        "print(code, sorted({'msgspec', 'tiktoken', 'sqlite3', 'callsheet.runtime'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", watch], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines()[-1] == "0 []"


def test_it_tells_its_version() -> None:
    done = subprocess.run([*PROGRAM, "--version"], check=True, capture_output=True, text=True)

    assert done.stdout == f"callsheet {callsheet.__version__}\n"


def test_lines_come_from_standard_input_and_go_to_standard_output(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "agent.db"))

    done = subprocess.run([*PROGRAM, "import", "-", *store], input=gzip.compress(LINE), check=True, capture_output=True)
    back = subprocess.run([*PROGRAM, "export", "--all", *store], check=True, capture_output=True)

    assert done.stderr == b""
    assert json.loads(back.stdout)["messages"] == json.loads(LINE)["messages"]


def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "agent.db"))
    large = json.dumps({"id": "a", "messages": [{"role": "user", "content": "x" * 1_000_000}]}).encode()
    subprocess.run([*PROGRAM, "import", "-", *store], input=large, check=True, capture_output=True)

    process = subprocess.Popen([*PROGRAM, "export", "a", *store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()

    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


INTERRUPTIBLE = """
import signal, sys
from callsheet.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""
"""The program where interrupts arrive: whoever runs tests in the background ignores them, and a child inherits that."""


def test_interrupting_ends_with_130_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTIBLE, "import", "-", "--progress", "--store", str(tmp_path / "agent.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(LINE + b"\n" * 100_000)  # more than the pipe and its reader hold, so the line is read
        process.stdin.flush()
        assert process.stderr.readline() == b"stdin: line 1\n"
        process.send_signal(signal.SIGINT)
        left = process.stderr.read()

    assert process.returncode == 130
    assert left.endswith(b"callsheet: interrupted: stopped; what was recorded until now stays\n")
