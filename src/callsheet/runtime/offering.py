"""In which order a request offers the caller's tools."""

from collections.abc import Mapping, Sequence

from callsheet.wire import formats


def in_shown_order(tools: Sequence[Mapping[str, object]], shown: Sequence[str]) -> list[Mapping[str, object]]:
    """The tools in the order in which the last request offered those of the same name; new ones behind them, as given.

    Tools stand at the head of what a provider caches, and programs register them from sets, plug-ins and servers that
    answer in any order: the same tools in another order would lose the whole cache and change nothing for the model.
    """
    places = {name: place for place, name in reversed(list(enumerate(shown)))}
    return sorted(tools, key=lambda tool: places.get(formats.tool_name(tool, "tools"), len(shown)))
