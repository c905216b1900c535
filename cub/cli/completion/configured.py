"""What can be named that a table of cub's, or a configuration, has: clients, keys, statuses, …"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cub.cli.completion.place import Place
    from cub.project.config_layer import Layer

Offer = tuple[str, str]

_PRIORITIES = ("comes first", "high", "what counts where there is none", "low", "comes last")


def root_of(place: Place) -> Path:
    """The project that the command line is about."""
    from cub.project.project import find_root

    return find_root(place.directory)


def shells(_place: Place) -> Iterator[Offer]:
    """The shells that cub completes in."""
    from cub.cli.completion.scripts import SCRIPTS

    return ((name, "") for name in SCRIPTS)


def types(_place: Place) -> Iterator[Offer]:
    """The types of tasks."""
    from cub.store.spelling import TYPES

    return ((name, "") for name in TYPES)


def statuses(_place: Place) -> Iterator[Offer]:
    """The statuses of tasks, and the words for several."""
    from cub.store.spelling import DELETED, STATUSES

    yield from ((name, "") for name in STATUSES)
    yield "all", "all but deleted ones"
    yield DELETED, ""


def priorities(_place: Place) -> Iterator[Offer]:
    """The priorities."""
    return ((str(number), about) for number, about in enumerate(_PRIORITIES))


def formats(place: Place) -> Iterator[Offer]:
    """The formats of other tools."""
    from cub.store.formats import AUTO, FORMATS

    yield from ((name, "") for name in FORMATS)
    if place.path[-1] == "import":
        yield AUTO, "as the file looks"


def targets(_place: Place) -> Iterator[Offer]:
    """The instruction files that cub knows."""
    from cub.project.targets import TARGETS

    return ((target.path, ", ".join(target.clients)) for target in TARGETS)


def settings_clients(_place: Place) -> Iterator[Offer]:
    """The clients whose settings `cub init` can change."""
    from cub.project.client_settings import CLIENTS

    return ((client.name, client.title) for client in CLIENTS)


def harnesses(place: Place) -> Iterator[Offer]:
    """The clients that a run may use."""
    from cub.harness.choose import AUTO
    from cub.harness.scripted import NAME

    found: dict[str, str] = {}
    for layer in _layers(place):
        found |= dict.fromkeys(_members(layer, "harnesses"), "as configured")
    yield from found.items()
    yield AUTO, "all that are configured"
    yield NAME, "plays .cub/script.yaml"


def profiles(place: Place) -> Iterator[Offer]:
    """The profiles of the configuration."""
    names = dict.fromkeys(name for layer in _layers(place) for name in layer.profiles)
    return ((name, "") for name in names)


def keys(place: Place) -> Iterator[Offer]:
    """The keys of the configuration, those of clients with their names."""
    from cub.project.settings import SETTINGS

    clients = dict.fromkeys(name for one in _layers(place) for name in _members(one, "harnesses"))
    for setting in SETTINGS:
        if "*" not in setting.key:
            yield setting.key, setting.about
            continue
        yield from ((setting.key.replace("*", name), setting.about) for name in clients)


def values(place: Place) -> Iterator[Offer]:
    """The values that a key may have, or else the one that it has by default."""
    from cub.layout.words import written
    from cub.project.settings import setting_at

    key = place.arguments[0]
    setting = setting_at(tuple(key.split(".")))
    if setting is None:
        return
    default = written(setting.default)
    if key == "run.harness":
        yield from harnesses(place)
    elif setting.kind == "targets":
        yield from targets(place)
    elif words := ("true", "false") if setting.kind == "flag" else setting.choices:
        yield from ((word, "the default" if word == default else "") for word in words)
    elif setting.default not in (None, [], {}):
        yield default, "the default"


def _layers(place: Place) -> Iterator[Layer]:
    """The project's configuration, and the person's; one that is damaged tells nothing."""
    from cub.errors import CubError
    from cub.files import read
    from cub.project.config import CONFIG
    from cub.project.config_layers import read_layer
    from cub.project.user_config import read_user_file

    with suppress(CubError):
        yield read_layer(read(root_of(place), CONFIG), CONFIG)
    with suppress(CubError):
        yield read_layer(read_user_file(), "")


def _members(layer: Layer, section: str) -> list[str]:
    start = f"{section}."
    return [key[len(start) :] for key in layer.values if key.startswith(start)]
