"""Whether the key stores that a broker names are there, where the user says that this host is the broker's own."""

from collections.abc import Mapping
from pathlib import Path

from kafka_audit.configuration.files.described import Described

_STORES = (".keystore.location", ".truststore.location")


def found(broker: Described) -> Mapping[str, bool]:
    """Return by key whether the store that it names is a file here."""
    reported = {key: setting.value.strip() for key, setting in broker.properties.items() if key not in broker.unknown}
    return {key: _is_file(Path(value)) for key, value in reported.items() if key.endswith(_STORES) and value}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long a name, a NUL in it
        return False
