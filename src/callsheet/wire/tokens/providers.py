"""What is known offline about how each provider's models count: the encoding, or how far o200k_base is from it.

Only OpenAI publishes tokenizers that can be shipped. Anthropic publishes none; the local tokenizer in Google's SDK
fetches its vocabulary from the network. For them, and for everybody else, the count is o200k_base times a factor. The
factors are first guesses, to be corrected by the usage that a conversation's own replies report (`calibration`):

=====================================  =========================================================================
Claude up to 4.6: 1.15, margin 0.15    Usage reported in public recordings of Sonnet 3.7, Sonnet 4.5 and Haiku 4.5
                                       on English prose and Markdown: 1.13 to 1.18; published comparisons find up
                                       to 1.3 on code.
Claude since 4.7: 1.4, margin 0.2      A new tokenizer. Anthropic says 1.0 to 1.35 times the old count; independent
                                       measurements: about 1.0 on JSON, ids, Chinese, Japanese and Korean, 1.2 on
                                       code, up to 1.46 on English and German prose. So 1.15 to 1.68 in all.
Gemini: 1.05, margin 0.15              Usage reported in public recordings of Gemini 2.0 and 3: 1.03 on English.
                                       Digits are tokens of their own, so tables of numbers count higher.
An OpenAI model not known here: 1.0,   Its tokenizer may be newer than this file.
margin 0.1
Everybody else: 1.15, margin 0.2       Vocabularies of 100,000 to 150,000 tokens are common; o200k_base has 200,000.
=====================================  =========================================================================
"""

import enum
import functools
import re
from typing import NamedTuple

from callsheet.wire.tokens.engine import EncodingName


class Family(enum.Enum):
    """Whose rules apply."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OTHER = "other"


class Guess(NamedTuple):
    """How far a model's own count is from o200k_base, before anything was reported."""

    #: Its tokens per token of o200k_base.
    factor: float
    #: Fraction to add when a budget is checked.
    margin: float


@functools.lru_cache(maxsize=256)
def family(provider: str) -> Family:
    """The family of a provider's name: ``openai``, ``openai-responses``, ``anthropic``, ``gemini``, ``google`` …"""
    stem = re.split(r"[-_]", provider.strip().lower(), maxsplit=1)[0]
    if stem == "google":
        return Family.GEMINI
    return Family(stem) if stem in {known.value for known in Family} else Family.OTHER


_O200K = re.compile(r"(gpt-4o|chatgpt-4o|gpt-4\.[15]|gpt-5(\.\d+)?|gpt-oss|o[134])(-.*)?")
_CL100K = re.compile(r"(gpt-4|gpt-3\.5|gpt-35)(-.*)?")


def openai_encoding(model: str) -> EncodingName | None:
    """The encoding of an OpenAI model, fine-tuned (``ft:…``) or not; None for a model that is not known here."""
    name = model.strip().lower().removeprefix("ft:").split(":", 1)[0]
    if _O200K.fullmatch(name):
        return "o200k_base"
    return "cl100k_base" if _CL100K.fullmatch(name) else None


_CLAUDE_UP_TO_4_6 = re.compile(
    r"claude-(instant|[123]\b|(opus|sonnet|haiku)-[123]\b|(opus|sonnet|haiku)-4(?![-.]([7-9]|\d\d)\b)\b)"
)


def is_claude_up_to_4_6(model: str) -> bool:
    """Whether an Anthropic model counts as those before Opus 4.7 did, texts and pictures; unknown ones do not."""
    return _CLAUDE_UP_TO_4_6.search(model.lower()) is not None


def guess(provider: str, model: str) -> Guess:
    """The first guess for a model without a published tokenizer; the table above gives the reasons."""
    match family(provider):
        case Family.OPENAI:
            return Guess(1.0, 0.1)
        case Family.ANTHROPIC:
            return Guess(1.15, 0.15) if is_claude_up_to_4_6(model) else Guess(1.4, 0.2)
        case Family.GEMINI:
            return Guess(1.05, 0.15)
        case Family.OTHER:
            return Guess(1.15, 0.2)
