"""Inputs of the cases about shortening: each kind of failure in three domains, the first one as it was reported."""

import base64
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.cases.histories import Json


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question, a call, and what it gave back."""

    question: str
    tool: str
    content: object
    #: What the request must show.
    shows: tuple[str, ...] = ()
    #: A text to find in the result, and what stands there.
    search: tuple[str, str] = ("", "")

    @property
    def history(self) -> list[object]:
        call = {"id": "c1", "type": "function", "function": {"name": self.tool, "arguments": "{}"}}
        return [
            {"role": "user", "content": self.question},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": self.content},
        ]


def _survey() -> str:
    r = random.Random(7)
    trees = ["ash", "elm", "oak", "fir", "yew"]
    lines = [f"{i:06d} " + " ".join(r.choice(trees) for _ in range(14)) for i in range(12_000)]
    lines[7431] = "007431 ROT FOUND in beam Q-19, depth 31 mm"
    return "\n".join(lines)


def _recipe() -> str:
    pages = [{"page": n, "text": f"Fold layer {n} of dough, rest it {n % 40} minutes. " * 12} for n in range(900)]
    pages[640]["text"] = "Yeast lot YL-640 was recalled by the mill."
    return json.dumps({"book": "Bread", "pages": pages})


def _one_line() -> str:
    return "note " * 200_000 + "the tuner slipped at peg E5 " + "note " * 100_000


HUGE: Mapping[str, Asked] = {
    "survey": Asked(
        question="Read the survey and tell me where rot was found.",
        tool="read_survey",
        content=_survey(),
        search=("ROT FOUND", "007431 ROT FOUND in beam Q-19, depth 31 mm"),
    ),
    "book": Asked(
        question="Which lot was recalled?",
        tool="open_book",
        content=_recipe(),
        search=("recalled by the mill", "YL-640"),
    ),
    "one line": Asked(
        question="What slipped?", tool="transcribe", content=_one_line(), search=("slipped at peg", "peg E5")
    ),
}


PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452000002800000020808060000000000000000")
"""The beginning of a picture of 640 by 520 pixels."""


def picture(seed: int, size: int) -> bytes:
    r = random.Random(seed)
    return bytes(r.randrange(256) for _ in range(size))


def shot(words: str, raw: bytes, mime: str, shape: str) -> list[Json]:
    """A tool result with a picture, in one of the shapes that tools use."""
    data = base64.b64encode(raw).decode()
    images: dict[str, Json] = {
        "mcp": {"type": "image", "mimeType": mime, "data": data},
        "openai": {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}},
        "anthropic": {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}},
    }
    return [{"type": "text", "text": words}, images[shape]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Objects:
    """A JSON result of many records that are alike."""

    value: Mapping[str, object]
    #: The name of the list, and how many it has.
    items: str
    total: int
    #: Of a record: the pattern that shows that it is there, with its number.
    mark: str


def _spools() -> Mapping[str, object]:
    note = 'a "quoted" note, with , and } inside'
    return {
        "cursor": "n/a",
        "items": [{"id": 1000 + i, "name": f"spool {i}", "note": note, "qty": (i * 7) % 23} for i in range(400)],
    }


def _stars() -> Mapping[str, object]:
    return {
        "night": "2031-02-04",
        "stars": [{"star": f"HD-{i:04d}", "mag": i / 7, "seen": i % 2 == 0, "by": ["Ute", None]} for i in range(700)],
    }


def _bells() -> Mapping[str, object]:
    return {
        "bells": [{"bell": i, "tuned": {"hum": i * 3, "tierce": "é[,]{}" * (i % 3)}} for i in range(900)],
        "n": -0.0,
    }


OBJECTS: Mapping[str, Objects] = {
    "spools": Objects(value=_spools(), items="items", total=400, mark="spool "),
    "stars": Objects(value=_stars(), items="stars", total=700, mark="HD-"),
    "bells": Objects(value=_bells(), items="bells", total=900, mark="tierce"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """A table, its header, its rows, and one that is asked for."""

    header: str
    rows: Sequence[str]
    question: str
    wanted: str

    @property
    def text(self) -> str:
        return "\n".join([self.header, *self.rows])


TABLES: Mapping[str, Rows] = {
    "stock": Rows(
        header="sku,bay,on_hand,reorder_at",
        rows=[f"W{i:05d},{i % 40},{(i * 13) % 97},{(i * 5) % 60}" for i in range(40_000)],
        question="For W31777, is stock below the reorder point?",
        wanted="W31777,17,75,5",
    ),
    "tides": Rows(
        header="harbour\tday\tmetres",
        rows=[f"HB-{i:05d}\t{i % 366}\t{i % 9}.{i % 7}" for i in range(15_000)],
        question="How high was it at HB-09112?",
        wanted="HB-09112\t328\t4.5",
    ),
    "choir": Rows(
        header="singer;voice;since",
        rows=[f"S{i:05d};{('alto', 'bass')[i % 2]};{1950 + i % 70}" for i in range(12_000)],
        question="Since when does S07310 sing?",
        wanted="S07310;alto;1980",
    ),
}


def _run(command: str, line: str, count: int, end: Sequence[str]) -> str:
    return "\n".join([command, *(line.format(i, i % 311) for i in range(count)), *end])


LOGS: Mapping[str, Asked] = {
    "loom": Asked(
        question="Did the build work?",
        tool="shell",
        content=_run(
            "$ weave build --all",
            "[{:05d}] spun bobbin {} ok",
            12_000,
            [
                "error: shuttle 7 jammed at pick 11981",
                "  at loom/drive.c:412",
                "weave: 1 error, 0 warnings",
                "exit status 3",
            ],
        ),
        shows=("$ weave build --all", "error: shuttle 7 jammed at pick 11981", "exit status 3"),
    ),
    "kiln": Asked(
        question="Is the firing done?",
        tool="shell",
        content=_run(
            "$ fire --cone 6",
            "t={} kiln {} steady",
            8_000,
            ["FATAL: thermocouple TC-4 open circuit", "fire: aborted", "exit code: 1"],
        ),
        shows=("$ fire --cone 6", "FATAL: thermocouple TC-4 open circuit", "exit code: 1"),
    ),
    "press": Asked(
        question="Were all the labels printed?",
        tool="shell",
        content=_run(
            "$ press labels.job",
            "label {} on roll {}",
            9_000,
            [
                "Traceback (most recent call last):",
                '  File "press.py", line 88, in feed',
                "RollEmpty: roll 212 is empty",
            ],
        ),
        shows=("$ press labels.job", "RollEmpty: roll 212 is empty"),
    ),
}
