"""Policy sets written as documents, to be read back."""

import msgspec
import yaml

from callsheet.graph.enums import Freshness, Privacy
from callsheet.policy.document import ANY_PROVIDER, NEVER
from callsheet.policy.rules import Rule
from callsheet.policy.sets import PolicySetDocument


def dump(document: PolicySetDocument) -> str:
    """The whole set as YAML, each setting written out."""
    said: dict[str, object] = msgspec.json.decode(document.content)
    del said["providers"]
    said = {name: said[name] for name in document.__struct_fields__ if name in said}
    said["high_water"], said["low_water"] = (_given(document.high_water), _given(document.low_water))
    said["freshness"] = {
        freshness.value: NEVER if document.freshness.of(freshness) is None else document.freshness.of(freshness)
        for freshness in Freshness
    }
    said["compaction"] = {
        name: NEVER if (value := getattr(document.compaction, name)) is None else value
        for name in document.compaction.__struct_fields__
    }
    said["privacy"] = {privacy.value: _forms(document, privacy) for privacy in Privacy}
    said["tools"] = {tool.name: {k: v for k, v in _given(tool).items() if k != "name"} for tool in document.tools}
    said["rules"] = [_ruled(rule) for rule in document.rules]
    said["retention"] = {
        of.value: [{"after": one.after, "action": one.action.value} for one in document.retention if one.of is of]
        for of in dict.fromkeys(one.of for one in document.retention)
    }
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)


def _ruled(rule: Rule) -> dict[str, object]:
    said: dict[str, object] = {"name": rule.name, "about": rule.about.value, "when": rule.when, "then": rule.then.value}
    if rule.loosens:
        said["loosens"] = True
    return {**said, "reason": rule.reason} if rule.reason else said


def _given(value: msgspec.Struct) -> dict[str, object]:
    given: dict[str, object] = msgspec.json.decode(msgspec.json.encode(value))
    return given


def _forms(document: PolicySetDocument, privacy: Privacy) -> str | dict[str, str]:
    form = document.privacy.of(privacy).value
    exceptions = {item.provider: item.form.value for item in document.providers if item.privacy is privacy}
    return {ANY_PROVIDER: form, **exceptions} if exceptions else form
