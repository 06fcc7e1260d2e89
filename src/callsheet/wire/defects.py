"""What is odd about an input that is recorded all the same."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from callsheet.assemble.blocks import Call, Content, Media, Opaque, Part, Said, Text
from callsheet.graph.enums import Defect
from callsheet.wire.arguments import is_object
from callsheet.wire.cleaning import has_nul, has_surrogates


def of_texts(texts: Iterable[str]) -> tuple[Defect, ...]:
    """Characters that no provider takes."""
    nul = surrogates = False
    for text in texts:
        nul = nul or has_nul(text)
        surrogates = surrogates or has_surrogates(text)
    if not (nul or surrogates):
        return ()
    return (*((Defect.NUL,) if nul else ()), *((Defect.LONE_SURROGATES,) if surrogates else ()))


def of_content(parts: Sequence[Part | Content], *, empty: bool) -> tuple[Defect, ...]:
    """Defects of a message's or result's content. `empty`: having nothing to show is one."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if empty and not any(map(str.strip, texts)) and not any(isinstance(part, Media | Opaque) for part in parts):
        return (Defect.EMPTY_CONTENT, *of_texts(texts))
    return of_texts(texts)


def of_call(id: str | None, tool: str, arguments: str, *, free_text: bool = False) -> tuple[Defect, ...]:
    """Defects of a call. `free_text`: its arguments need not be JSON."""
    defects: list[Defect] = []
    if not id:
        defects.append(Defect.MISSING_ID)
    if not tool:
        defects.append(Defect.MISSING_NAME)
    if not free_text and not is_object(arguments):
        defects.append(Defect.INVALID_ARGUMENTS)
    return (*defects, *of_texts((id or "", tool, arguments)))


def last_cut_off(said: Said) -> Said:
    """What was said in an output that ended at the token limit: where its last call is broken, that is why."""
    last = said.parts[-1] if said.parts else None
    if not isinstance(last, Call) or Defect.INVALID_ARGUMENTS not in last.defects:
        return said
    return replace(said, parts=(*said.parts[:-1], cut_off(last)))


def cut_off(call: Call) -> Call:
    """The call, marked as cut off instead of invalid."""
    others = tuple(defect for defect in call.defects if defect is not Defect.INVALID_ARGUMENTS)
    return replace(call, defects=(Defect.CUT_OFF_ARGUMENTS, *others))
