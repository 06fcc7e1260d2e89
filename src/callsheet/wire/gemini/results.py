"""Results of calls: between `functionResponse` parts and neutral answers, and from those into requests.

A response is an object. Where it has one key of those that say what the rest is (`output`, `result`, `error`), the
value under it is the content; else the whole object is, as JSON. The extras keep the part with the content taken out:
text is the empty text there, a value that is no text is null.
"""

import json
from collections.abc import Mapping, Sequence

from callsheet.assemble.blocks import Answer, Content, Media, Opaque, Text
from callsheet.graph.enums import Defect
from callsheet.wire import content, defects, media
from callsheet.wire.arguments import exact_object
from callsheet.wire.cleaning import MergedKeys, clean_value
from callsheet.wire.gemini.shapes import DATA, FILE, RESULT
from callsheet.wire.gemini.spelling import as_json, spelled
from callsheet.wire.jsontext import decode_object, encode, encode_bytes, extras, own_extras
from callsheet.wire.names import Wire
from callsheet.wire.reading import MISSING, Fields, fields, refuse

_ERROR, _OUTPUT = "error", "output"
_KEYS = frozenset({_ERROR, _OUTPUT, "result"})
"""The service documents `output` and `error`; its SDK writes `result`."""


def parse_result(found: Fields, key: str, where: str) -> Answer:
    """Read a part that has a result under this key."""
    inside = f"{where}.{key}"
    inner = fields(found[key], inside)
    id, tool = inner.get("id") or None, inner.get("name") or None
    for named, value in (("id", id), ("name", tool)):
        if value is not None and not isinstance(value, str):
            refuse("must be text", value, f"{inside}.{named}")
    response = inner.pop("response", MISSING)
    failed = _failed(response)
    kept, shown, odd = _taken(response, f"{inside}.response")
    inner = {name: as_json(value, inside) for name, value in inner.items()}
    if kept is not MISSING:
        inner["response"] = kept
    nested = inner.get("parts")
    form = content.STRING
    if isinstance(nested, list) and nested:
        form = content.PARTS
        del inner["parts"]
        shown += [_nested(part, f"{inside}.parts[{at}]") for at, part in enumerate(nested)]
    left = {name: as_json(value, where) for name, value in found.items() if name != key} | {key: inner}
    return Answer(
        call=id if isinstance(id, str) else None,
        tool=tool if isinstance(tool, str) else None,
        content=tuple(shown),
        form=form,
        failed=failed,
        wire=Wire.GEMINI,
        extras=extras(left, where),
        defects=odd or defects.of_content(shown, empty=True),
    )


def _failed(response: object) -> bool | None:
    """Whether a response says that the call failed. None: it does not say."""
    if isinstance(response, Mapping) and response.get(_ERROR) and response.keys() <= {_ERROR, _OUTPUT}:
        return True
    return None


def _taken(response: object, where: str) -> tuple[object, list[Content], tuple[Defect, ...]]:
    """What is kept of a response, its content, and what is odd about that."""
    key = _key(response)
    if key is None or not isinstance(response, Mapping):
        return _content(response, where)
    kept, shown, odd = _content(response[key], f"{where}.{key}")
    return {key: None if kept is MISSING else kept}, shown, odd


def _content(value: object, where: str) -> tuple[object, list[Content], tuple[Defect, ...]]:
    if value is MISSING or value is None:
        return value, [], ()
    if isinstance(value, str):
        return "", [Text(text=value)] if value else [], ()
    if isinstance(value, bytes):
        _, shown, odd = content.take_result({"content": value}, _no_part, where)
        return "", [*shown], odd
    return MISSING, [Text(text=encode(as_json(value, where), where))], ()


def _no_part(found: Fields, type: str, where: str) -> Content:
    raise AssertionError("bytes have no parts")


def _key(response: object) -> str | None:
    """The key under which the content of a response is; None: the whole response is the content."""
    if not isinstance(response, Mapping) or len(response) != 1:
        return None
    (key,) = response
    return key if isinstance(key, str) and key in _KEYS else None


def _nested(part: object, where: str) -> Content:
    found = fields(part, where)
    return media.read(found, Wire.GEMINI, where) or Opaque(wire=Wire.GEMINI, raw=encode_bytes(found, where))


def put_result(answer: Answer) -> Fields:
    """The part as it was recorded; one of another format has what is neutral."""
    part = own_extras(answer.extras, answer.wire, Wire.GEMINI)
    part.pop(content.MESSAGE, None)
    key = spelled(part, RESULT)
    inner = part.get(key)
    texts = [each for each in answer.content if isinstance(each, Text)]
    if not isinstance(inner, dict):
        return {RESULT: _plain(answer, texts)}
    beside = [_as_it_was(each) for each in answer.content if not isinstance(each, Text)]
    if "parts" not in inner and (beside or content.is_parts(answer.form)):
        inner["parts"] = beside
    response = inner.get("response", MISSING)
    name = _key(response)
    if texts and name is not None and isinstance(response, dict):
        response[name] = _value(texts[0].text, response[name])
    elif texts or response == "":
        inner["response"] = _value(texts[0].text if texts else "", None if response is MISSING else response)
    return part


def _value(text: str, kept: object) -> object:
    """The value of which `kept` was kept beside this text."""
    if kept == "":
        return text
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def _as_it_was(part: Media | Opaque) -> Fields:
    if isinstance(part, Opaque):
        return decode_object(part.raw)
    return media.as_recorded(part) if part.extras and part.wire == Wire.GEMINI else converted(part)


def converted(found: Media) -> Fields:
    """Media of another format as a part."""
    if found.data is not None:
        return {DATA: {"mimeType": found.mime, "data": media.base64_of(found.data)}}
    return {FILE: {"fileUri": found.url or ""} | ({"mimeType": found.mime} if found.mime else {})}


def _plain(answer: Answer, texts: Sequence[Text]) -> Fields:
    inner: Fields = {"name": answer.tool or ""}
    if answer.call is not None:
        inner["id"] = answer.call
    inner["response"] = {_ERROR if answer.failed else _OUTPUT: "\n".join(each.text for each in texts)}
    if shown := [converted(each) for each in answer.content if isinstance(each, Media)]:
        inner["parts"] = shown
    return inner


def written_response(answer: Answer, texts: Sequence[str]) -> Fields:
    """The response of a result in a request, from the texts that are shown of it, none of them blank.

    In the shape that it came in, as far as it came in this format and still has it; else text under ``output``, or
    under ``error`` where the call failed.
    """
    text = "\n".join(texts)
    own = own_extras(answer.extras, answer.wire, Wire.GEMINI)
    inner = own.get(spelled(own, RESULT))
    response = inner.get("response", MISSING) if isinstance(inner, dict) else ""
    if response is MISSING and (found := _exact(text)) is not MISSING and isinstance(found, dict):
        return found
    key = _key(response)
    if key is None or not isinstance(response, dict) or answer.failed:
        return {_ERROR if answer.failed else _OUTPUT: text}
    found = _exact(text) if response[key] is None else MISSING
    return {key: text if found is MISSING else found}


def _exact(text: str) -> object:
    """The JSON value that the text is, as a request may hold it; `MISSING` where it is none."""
    found = exact_object(f'{{"value":{text}}}')
    if found is None or found.keys() != {"value"}:
        return MISSING
    try:
        return clean_value(found["value"])
    except MergedKeys:
        return MISSING
