"""What `advertised.listeners` says: listeners with the addresses that a broker gives away for them. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.compare.listener_names import canonical_listener

_ENTRY = re.compile(
    r"(?P<listener>[A-Za-z0-9_.-]+)://(?P<host>\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\]|[A-Za-z0-9_.-]*):(?P<port>\d{1,5})"
)
KEY, INSTEAD, CONTROLLERS = "advertised.listeners", "listeners", "controller.listener.names"


@dataclass(frozen=True, kw_only=True)
class AdvertisedListener:
    """One listener; the host is empty if the broker uses the name of its host, and None if it is a placeholder."""

    listener: str
    host: str | None
    port: int | None


def parts(setting: str) -> Iterator[tuple[str, str]]:
    """Yield each listener of a setting by its name, with its entry as it is written."""
    for entry in setting.split(","):
        yield canonical_listener(entry.partition("://")[0]), entry.strip()


def protocols_by_listener(setting: str) -> dict[str, str]:
    """Return security protocols by listener name, as `listener.security.protocol.map` has them, in capital letters."""
    pairs = (part.strip().upper().partition(":")[::2] for part in setting.split(","))
    return {name: protocol for name, protocol in pairs if name}


def entries(settings: Mapping[str, str | None]) -> Iterator[AdvertisedListener]:
    """Yield the advertised endpoints of a broker by its settings, without listeners of controllers.

    Args:
        settings: values by key; `listeners` holds where `advertised.listeners` is not set.
    """
    controllers = {canonical_listener(name) for name in (settings.get(CONTROLLERS) or "").split(",")}
    for name, part in parts(settings.get(KEY) or settings.get(INSTEAD) or ""):
        if name and name not in controllers:
            yield _entry(name, part)


def first_controllers_listener(names: str | None) -> str:
    """Return the listener on which nodes connect to controllers, by `controller.listener.names`; "" where that names none."""
    return canonical_listener((names or "").split(",")[0])


def controller_entry(settings: Mapping[str, str | None]) -> AdvertisedListener | None:
    """Return where a controller has the others reach it, by its settings: the first of its controllers' listeners.

    Args:
        settings: values by key; `listeners` holds for a listener that `advertised.listeners` leaves out.
    """
    first = first_controllers_listener(settings.get(CONTROLLERS))
    every = (entry for key in (KEY, INSTEAD) for entry in parts(settings.get(key) or ""))
    return next((_entry(name, part) for name, part in every if name == first and name), None)


def _entry(name: str, part: str) -> AdvertisedListener:
    match = _ENTRY.fullmatch(part)
    if match is None:
        return AdvertisedListener(listener=name, host=None, port=None)
    return AdvertisedListener(listener=name, host=match["host"].strip("[]"), port=int(match["port"]))
