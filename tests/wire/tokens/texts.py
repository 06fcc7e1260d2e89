"""Texts that tokenizers are known to disagree on, and real tool outputs where recordings are at hand."""

import base64
import gzip
import random

import msgspec

from tests.recordings import recording

GERMAN = (
    "Die Überweisung der Straßenbahngesellschaft wurde am 3. Mai gebucht; Rückfragen beantwortet die "
    "Großkundenbetreuung. Äpfel, Öl und Übermut kosten zusammen 12,50 €.\n"
) * 20
CJK = "倉庫の温度計は三番が故障しています。三号仓库的温度计坏了，请尽快更换。창고 온도계 세 번째가 고장났습니다. " * 20
EMOJI = "👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️‍🔥 e\u0301 \u200b\u200d\ufeff ﷽ 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 " * 20
CODE = (
    "def total(items: list[int]) -> int:\n\tif not items:\n\t\treturn 0  # nothing\n    \n"
    '    return sum(i ** 2 for i in items)  // 3 != 0x1F\r\n\r\n/* it\'s */ {"a":[1,2.5e-10,null]}\n/usr/bin\n'
) * 20
BASE64 = base64.b64encode(random.Random(3).randbytes(30_000)).decode()
SPECIAL = "before <|endoftext|> <|endofprompt|> <|fim_prefix|><|im_start|>user after"
ODD = (
    "\x00\x1b[31mred\x1b[0m\x08\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2003\u2028\u3000x  \r\n \n\r  '\u2019S 'LL don't WE'RE"
)

BY_NAME = {
    "german": GERMAN,
    "cjk": CJK,
    "emoji": EMOJI,
    "code": CODE,
    "base64": BASE64,
    "special": SPECIAL,
    "odd": ODD,
    "empty": "",
}


class _Output(msgspec.Struct):
    id: str
    content: str


def tool_outputs(longest: int) -> dict[str, str]:
    """Real outputs of commands, pages, files and queries by id, each cut to `longest` characters."""
    with gzip.open(recording("tool_outputs.jsonl.gz")) as lines:
        outputs = [msgspec.json.decode(line, type=_Output) for line in lines]
    return {output.id: output.content[:longest] for output in outputs}
