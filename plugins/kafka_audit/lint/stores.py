"""Whether the key stores that a broker names are there, where this host is the broker's own."""

from collections.abc import Mapping
from pathlib import Path

from kafka_audit.bounds import regular_files
from kafka_audit.configuration.files import java
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError

_STORES = (".keystore.location", ".truststore.location")
_IDS = ("node.id", "broker.id")
_MOST_BYTES = 65_536


def found(broker: Described) -> Mapping[str, bool]:
    """Return by key whether the store that it names is a file here; nothing where this is not known to be the broker's host.

    A broker's host is where one of its log directories has a `meta.properties` with its id.
    """
    reported = {key: setting.value.strip() for key, setting in broker.properties.items() if key not in broker.unknown}
    named = {key: value for key, value in reported.items() if key.endswith(_STORES) and value}
    if not named or not _at_home(reported):
        return {}
    return {key: _is_file(Path(value)) for key, value in named.items()}


def _at_home(reported: Mapping[str, str]) -> bool:
    ids = {reported[key] for key in _IDS if reported.get(key)}
    folders = (reported.get("log.dirs") or reported.get("log.dir") or "").split(",")
    return any(not ids.isdisjoint(_ids_in(Path(folder.strip()) / "meta.properties")) for folder in folders if folder.strip())


def _ids_in(file: Path) -> set[str]:
    try:
        read = java.parse_properties(regular_files.read_regular_file(file, _MOST_BYTES))
    except (OSError, ValueError, PropertiesError):
        return set()
    return {read[key].value for key in _IDS if key in read}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, a NUL in it
        return False
