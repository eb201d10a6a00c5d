"""The entities that are alive in this process, by the loom that they are recorded in.

They are held weakly: one that nobody holds any more, or that was closed, is not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

if TYPE_CHECKING:
    from .entity import Entity
    from .loom import Loom

# Each step is one call of a dictionary, for entities of several event loops come and go here.
_living: WeakKeyDictionary[Loom, WeakValueDictionary[str, Entity]] = WeakKeyDictionary()


def add(entity: Entity) -> None:
    """Count an entity in, once it is on record."""
    here = _living.setdefault(entity.tree.loom, WeakValueDictionary())
    here[entity.entity_id] = entity


def drop(entity: Entity) -> None:
    """Count an entity out: its state goes."""
    here = _living.get(entity.tree.loom)
    if here is not None and here.get(entity.entity_id) is entity:
        here.pop(entity.entity_id, None)


def find(loom: Loom, entity_id: str) -> Entity | None:
    """The living entity of an id; None where it is over, or of another process or loom."""
    here = _living.get(loom)
    return None if here is None else here.get(entity_id)
