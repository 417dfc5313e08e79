# SPDX-License-Identifier: Apache-2.0
"""Everything that was released and one release more, stated over one ground: what imports and explanations start from."""

from dataclasses import dataclass, field

from reticent.data.facts import Facts
from reticent.history.book import Book, joined
from reticent.history.editions import Recipe
from reticent.history.scene import Scene, Told
from reticent.releases.joint import JointSystem


@dataclass(frozen=True, eq=False)
class Staged:
    """The releases before, by name, and what each of them, the new one and relations tell."""

    scene: Scene = field(repr=False)
    before: tuple[str, ...]
    told: Told = field(repr=False)
    new: Facts

    @property
    def every(self) -> list[Facts]:
        """What tables and files tell, the new one included."""
        return [facts for own in self.told.releases.values() for facts in own]

    @property
    def together_with(self) -> tuple[str, ...]:
        """What the new one is judged with, in words."""
        asked = self.scene.answered
        return (*self.before, *((f"{asked} answers",) if asked else ()))

    def system(self) -> JointSystem:
        """The joint system that knows everything but the new one."""
        return self.scene.system(self.told.known(self.before, self.scene.asked))


def scene_with(book: Book, recipe: Recipe, name: str, *, checked: bool = True) -> Scene:
    """What the ledger of a book holds, and a release called `name` besides; it must hold of the data if that is `checked`."""
    return book.scene(recipe, name, unchecked="" if checked else name)


def staged(scene: Scene, name: str) -> Staged:
    """State what everything in a scene tells; `name` is the new one."""
    told = scene.told()
    before = tuple(known for known in told.releases if known != name)
    return Staged(scene, before, told, joined(told.releases[name], name))
