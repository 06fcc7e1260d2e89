"""Puts the rank files of OpenAI's encodings into the package, from the `bpe-openai` distribution.

Runs as hatchling's build hook for wheels and editable installs, and by hand (`python tools/build_ranks.py`) so that a
checkout can be used as it is. The files are copied byte for byte and checked by the hash of what they unpack to;
files that are already there and right are left alone.
"""

import gzip
import hashlib
import importlib.util
import os
import zlib
from pathlib import Path

SOURCE = "bpe-openai==0.1.4"
FOLDER = Path(__file__).resolve().parent.parent / "src" / "callsheet" / "wire" / "tokens" / "ranks"

#: SHA-256 of the unpacked files, as OpenAI publishes them.
SHA256 = {
    "o200k_base.tiktoken.gz": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base.tiktoken.gz": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}


def build_ranks(folder: Path = FOLDER) -> list[Path]:
    """Bring every rank file into `folder`; return those that had to be written."""
    missing = [name for name in SHA256 if not _is_right(folder / name)]
    if not missing:
        return []
    source = _source()
    folder.mkdir(parents=True, exist_ok=True)
    return [_copy(source / name, folder / name) for name in missing]


def _is_right(file: Path) -> bool:
    try:
        unpacked = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error):
        return False
    return hashlib.sha256(unpacked).hexdigest() == SHA256[file.name]


def _source() -> Path:
    # The distribution is looked up, not imported: it would load 70 MB of machine code for two data files.
    spec = importlib.util.find_spec("bpe_openai")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"The rank files come from {SOURCE}, which is not installed. Run: pip install {SOURCE}")
    return Path(spec.submodule_search_locations[0]) / "data"


def _copy(source: Path, target: Path) -> Path:
    if not _is_right(source):
        raise SystemExit(
            f"{source} is missing or is not the file that Callsheet counts with. Run: pip install {SOURCE}"
        )
    # Another build may be reading: a file appears whole or not at all.
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.write_bytes(source.read_bytes())
    partial.replace(target)
    return target


if __name__ == "__main__":
    written = build_ranks()
    print("\n".join(f"wrote {file}" for file in written) or f"the rank files in {FOLDER} are there and right")
else:
    from hatchling.builders.config import BuilderConfig
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class RanksHook(BuildHookInterface[BuilderConfig]):
        """Runs `build_ranks` before hatchling collects the files of a wheel, an editable one too."""

        def initialize(self, version: str, build_data: dict[str, object]) -> None:
            if self.target_name == "wheel":
                build_ranks(Path(self.root) / "src" / "callsheet" / "wire" / "tokens" / "ranks")
