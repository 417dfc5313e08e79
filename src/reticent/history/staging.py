# SPDX-License-Identifier: Apache-2.0
"""Everything that was released and one release more, stated over one ground: what imports and explanations start from."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reticent.data.facts import Facts
from reticent.history.book import Book, joined, recipes_of
from reticent.history.scene import Recipe, Scene
from reticent.releases.joint import JointSystem


@dataclass(frozen=True, eq=False)
class Staged:
    """The releases before, by name, and what each of them, the new one and relations tell."""

    scene: Scene = field(repr=False)
    before: tuple[str, ...]
    told: Mapping[str, tuple[Facts, ...]] = field(repr=False)
    related: Facts = field(repr=False)
    new: Facts

    @property
    def every(self) -> list[Facts]:
        """What tables and files tell, the new one included."""
        return [facts for own in self.told.values() for facts in own]

    @property
    def together_with(self) -> tuple[str, ...]:
        """What the new one is judged with, in words."""
        asked = self.scene.asked
        return (*self.before, *((f"{len(asked)} answers",) if asked else ()))

    def system(self) -> JointSystem:
        """The joint system that knows everything but the new one."""
        earlier = [facts for name in self.before for facts in self.told[name]]
        return self.scene.system([self.related, *earlier, *self.scene.asked])


def scene_with(book: Book, recipe: Recipe, name: str, *, checked: bool = True) -> Scene:
    """What the ledger of a book holds, and a release called `name` besides; it must hold of the data if that is `checked`."""
    book.check_data()
    before = {known: own for known, own in recipes_of(book.blobs, book.recorded()).items() if known != name}
    return Scene.of(book.data, {**before, name: recipe}, book.answers, unchecked="" if checked else name)


def staged(scene: Scene, name: str) -> Staged:
    """State what everything in a scene tells; `name` is the new one."""
    told, related, _ = scene.told()
    before = tuple(known for known in scene.recipes if known != name)
    return Staged(scene, before, told, related, joined(told[name], name))
