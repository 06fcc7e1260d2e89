"""Importing costs nothing and does nothing."""

import json
import subprocess
import sys

HEAVY = {"tiktoken", "sqlite3", "msgspec", "asyncio", "json", "dataclasses", "backports.zstd", "regex", "requests"}

_LOADED = """
import sys
before = set(sys.modules)
import callsheet
import json
print(json.dumps(sorted(set(sys.modules) - before - {"json"})))
"""

_WATCHED = """
import importlib, json, os, pkgutil, sys, threading
import callsheet
environment, seen = dict(os.environ), []
FORBIDDEN = ("socket.", "sqlite3.connect", "subprocess.", "os.mkdir", "os.rename", "os.remove", "os.putenv",
             "os.system", "os.fork", "signal.", "shutil.", "tempfile.", "urllib.")
def watch(event, args):
    if event.startswith(FORBIDDEN):
        seen.append(event)
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        seen.append(f"open {args[0]} for writing")
for name in ("asyncio", "msgspec", "tiktoken", "sqlite3", "backports.zstd", "cryptography"):
    importlib.import_module(name)  # what others do when they are imported is theirs
sys.addaudithook(watch)
for info in pkgutil.walk_packages(callsheet.__path__, "callsheet."):
    if not info.name.endswith("__main__"):
        importlib.import_module(info.name)
print(json.dumps({"seen": seen, "threads": threading.active_count(), "environment": environment == dict(os.environ)}))
"""


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_callsheet_loads_nothing_but_itself() -> None:
    loaded = set(json.loads(_run(_LOADED)))

    assert {name for name in loaded if name.startswith("callsheet")} == {"callsheet", "callsheet._version"}
    assert loaded & HEAVY == set()


def test_importing_any_module_opens_starts_and_changes_nothing() -> None:
    done = json.loads(_run(_WATCHED))

    assert done == {"seen": [], "threads": 1, "environment": True}
