"""A request composed and rendered: of what it begins with as the last one did, nothing is composed or rendered again.

Nothing here decides anything: rendered from the beginning the same messages come out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from callsheet.assemble.continuing import Composition, composition
from callsheet.assemble.material import Material
from callsheet.graph.nodes import Selection
from callsheet.wire import formats


@dataclass(kw_only=True, slots=True)
class Rendered:
    """The blocks of one request and its messages. Not thread-safe."""

    composition: Composition
    rendering: formats.Rendering
    _upto: int = 0

    def go_on(self) -> None:
        """Render the blocks that were composed since."""
        new = self.composition.blocks[self._upto :]
        self.rendering.add([item.block for item in new])
        self._upto += len(new)


def rendered(
    selections: Sequence[Selection],
    material: Material,
    wire: formats.Wire,
    before: Rendered | None,
    *,
    model: str,
    variant: str,
) -> Rendered:
    """A request of these selections, gone on with from the one `before`, which is used up.

    `variant` tells the format apart from the same one where it has other words in place of what it cannot show.
    """
    form = f"{wire}{formats.dialect(wire, model)}{variant}"
    made = composition(selections, material, form, before.composition if before is not None else None)
    if before is None or before.composition is not made:
        before = Rendered(composition=made, rendering=formats.Rendering(wire, model))
    before.go_on()
    return before
