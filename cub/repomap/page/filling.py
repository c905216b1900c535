"""Lines about files and folders that grow, name by name, as long as there is room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from cub.tokens import estimate_tokens

_ALSO = "  also:"


@dataclass(slots=True)
class Block:
    """What is said of one file or folder: `details` are signatures by name; `names` has the names
    alone; both with the members that are named with them. `signatures` of members, by owner and
    name, stand below the owner's own.
    """

    head: str
    details: dict[str, str] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)
    signatures: dict[str, dict[str, str]] = field(default_factory=dict)

    def lines(self) -> Iterator[str]:
        """The block as text."""
        names = " ".join(self._named(name) for name in self.names)
        if not self.details:
            yield f"{self.head}: {names}"
            return
        yield self.head
        for name, signature in self.details.items():
            members = " ".join(self.members.get(name, ()))
            yield f"  {signature}: {members}" if members else f"  {signature}"
            yield from (f"    {line}" for line in self.signatures.get(name, {}).values())
        if names:
            yield f"{_ALSO} {names}"

    def _named(self, name: str) -> str:
        members = self.members.get(name)
        return f"{name}({' '.join(members)})" if members else name


@dataclass(slots=True)
class Filling:
    """What is chosen so far, by file or folder, and the tokens that are left."""

    left: int
    blocks: dict[str, Block] = field(default_factory=dict)

    def detail(self, place: str, block: Block, name: str, signature: str, keep: int) -> bool:
        """Add a signature to `block`, the one of `place`, unless less than `keep` would be left."""
        cost = self._head(place, block) + estimate_tokens(signature)
        if self.left - cost < keep:
            return False
        if name not in block.details:
            self._take(place, block, cost)
            block.details[name] = signature
        return True

    def name(self, place: str, block: Block, name: str, owner: str) -> bool:
        """Add a name, that of a member behind its owner's; False if there is no room for it."""
        cost = self._head(place, block) + self._own_cost(block, owner or name)
        if owner:
            first = owner not in block.members
            cost += estimate_tokens(name) + 2 * first
        if cost > self.left:
            return False
        self._take(place, block, cost)
        if (owner or name) not in block.details:
            block.names[owner or name] = None
        if owner and name not in block.members.setdefault(owner, []):
            block.members[owner].append(name)
        return True

    def member(self, block: Block, owner: str, name: str, signature: str) -> None:
        """Replace a member's name by its signature, if the owner has one and there is room."""
        cost = estimate_tokens(signature) - estimate_tokens(name)
        named = block.members.get(owner, [])
        if owner in block.details and name in named and cost <= self.left:
            self.left -= cost
            named.remove(name)
            block.signatures.setdefault(owner, {})[name] = signature

    def _own_cost(self, block: Block, name: str) -> int:
        """What it costs to name something that is no member; nothing if it is there already."""
        if name in block.details or name in block.names:
            return 0
        label = 0 if block.names or not block.details else estimate_tokens(_ALSO)
        return label + estimate_tokens(name)

    def _head(self, place: str, block: Block) -> int:
        """One token more for the colon behind a folder's path."""
        return 0 if place in self.blocks else estimate_tokens(block.head) + 1

    def _take(self, place: str, block: Block, cost: int) -> None:
        self.left -= cost
        self.blocks[place] = block
