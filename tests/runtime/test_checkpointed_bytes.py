"""Results with NUL bytes and in other encodings, a checkpoint behind each, and a restart: all of it is there again."""

from hashlib import sha256
from pathlib import Path

import pytest

import callsheet
from callsheet.testing import FixedClock
from callsheet.wire.names import Wire
from callsheet.wire.validate import problems
from tests.runtime.replies import asks, call, result, user

OUTPUTS = (b"\x00\x00lamp9\x00 lock 3 shut\n", "lock 4 open\n".encode("utf-16"), b"caf\xe9 sluice \xff\xfe dry\n")
MODELS = {"openai": "gpt-5.2", "anthropic": "claude-sonnet-4-5"}


@pytest.mark.parametrize("provider", MODELS)
def test_dev_15_a_thread_with_raw_bytes_is_resumed_after_a_restart(tmp_path: Path, provider: str) -> None:
    path = tmp_path / "locks.db"
    ids: list[str] = []
    checkpoints: list[str] = []
    with callsheet.open(path, clock=FixedClock()) as runtime:
        talk = runtime.conversation("locks")
        talk.record(user("How do the locks stand?"))
        for number, output in enumerate(OUTPUTS):
            talk.record(asks(call(f"c{number}", "read_lock", f'{{"lock": {number}}}')))
            ids.append(talk.record(result(f"c{number}", output)).ids[-1])
            checkpoints.append(talk.checkpoint(f"lock {number}", references=(ids[-1],)))
    with callsheet.open(path, clock=FixedClock()) as runtime:
        talk = runtime.existing("locks")
        for checkpoint, id in zip(checkpoints, ids, strict=True):
            resumed = talk.resume(checkpoint)
            assert (resumed.references, resumed.waits) == ((id,), False)
        talk.record(user("Which are shut?"))
        made = talk.assemble(provider=provider, model=MODELS[provider], mode="continuation", checkpoint=checkpoints[-1])
        shown = str(made.request())
        assert not problems(made.request(), Wire(provider))
        assert all(words in shown for words in ("lock 3 shut", "lock 4 open", "sluice", "dry"))
        stored = [sha256(talk.raw(id)).hexdigest() for id in ids]
        assert stored == [sha256(output).hexdigest() for output in OUTPUTS]
        assert ids[0] in [found.reference for found in talk.search("lock 3")]
        assert talk.checkpoints() == checkpoints
