"""Leaving words out of prose by somebody else's choice, with what must not be touched kept out of its reach."""

import re
from collections.abc import Callable

from callsheet.derive import entities
from callsheet.derive.milestones import milestones
from callsheet.derive.summarising.sentences import sentences

SHORTEST = 40
"""Characters of prose below which nothing is left out of it."""

# A number of any length, code in line, what is quoted, and words that turn a sentence round when they go.
_KEPT = re.compile(
    r"\w*\d[\w.,:/\-]*|`[^`\n]{1,200}`|[\"“”„«»][^\"“”„«»\n]{1,200}[\"“”„«»]"
    r"|\b(?:no|not|none|never|without|nor|neither|cannot|\w+n['’]t|unless|except|only|must|may"
    r"|kein\w*|nicht|nie|niemals|ohne|weder|noch|außer|nur|muss|müssen|darf|dürfen)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\S+")


def pruned(text: str, prune: Callable[[str], str], *, lays_down: bool = False) -> str:
    """The text with words left out of its prose as `prune` chooses. Never longer; the text itself where nothing may go.

    Out of reach are identifiers, numbers, dates, paths and addresses, code and quotations, words that negate or
    restrict, and whole sentences in which something was laid down or decided. What `prune` gives back counts only where
    it is the same words in the same order, less some. Raises what `prune` raises.
    """
    held = [(found.start, found.end) for found in milestones(text, lays_down=lays_down) if found.kind.value != "values"]
    pieces: list[str] = []
    at = 0
    for one in sentences(text):
        pieces.append(text[at : one.start])
        sentence = text[one.start : one.end]
        whole = any(start <= one.start and one.end <= end for start, end in held)
        pieces.append(sentence if whole else _sentence(sentence, prune))
        at = one.end
    made = "".join([*pieces, text[at:]])
    return made if len(made) < len(text) else text


def _sentence(sentence: str, prune: Callable[[str], str]) -> str:
    spans = [(one.start, one.end) for one in entities.mentions(sentence)]
    spans += [found.span() for found in _KEPT.finditer(sentence)]
    pieces: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        pieces += [_prose(sentence[at : max(at, start)], prune), sentence[max(at, start) : end]]
        at = end
    return "".join([*pieces, _prose(sentence[at:], prune)])


def _prose(prose: str, prune: Callable[[str], str]) -> str:
    """A stretch without anything that must stay, pruned, with the white space around it."""
    inner = prose.strip()
    if len(inner) < SHORTEST:
        return prose
    made = prune(inner)
    if not isinstance(made, str) or not _less(inner, made):
        return prose
    kept = " ".join(made.split())
    before, behind = prose[: len(prose) - len(prose.lstrip())], prose[len(prose.rstrip()) :]
    return f"{before}{kept}{behind}" if kept else before or behind


def _less(words: str, fewer: str) -> bool:
    """Whether the second is the words of the first in their order, less some."""
    there = iter(_WORD.findall(words))
    return all(word in there for word in _WORD.findall(fewer))
