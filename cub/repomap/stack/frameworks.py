"""Which packages are worth a name in the map: those of the table of known packages."""

from __future__ import annotations

from cub.repomap.stack.facts import Technology
from cub.repomap.stack.known_packages import LISTED, Ecosystem, PackageRole

_TABLES: dict[Ecosystem, dict[str, tuple[str, PackageRole]]] = {}
for (_ecosystem, _role), _listed in LISTED.items():
    for _entry in _listed.split(","):
        _package, _, _name = _entry.partition(": ")
        _TABLES.setdefault(_ecosystem, {})[_package.strip()] = (_name.strip(), _role)


def technology(
    ecosystem: Ecosystem, package: str, version: str, source: str, *roles: PackageRole
) -> Technology | None:
    """The technology that a package is; None for one that is not well known.

    With `roles`, None also for one that has another role.
    """
    known = _TABLES[ecosystem].get(package.lower())
    if known is None or (roles and known[1] not in roles):
        return None
    return Technology(known[0], known[1], version, source)
