"""The release with which a file is judged if it is not given: by the content of the file. Pure."""

import re

from kafka_audit.configuration.definitions import VERSIONS, version_numbers
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.starts import nearest_release

NEWEST = VERSIONS[-1]
NEWEST_WITH_ZOOKEEPER = max((version for version in VERSIONS if version_numbers(version) < (4,)), key=version_numbers)

_TAG = re.compile(r"(?:^|/)kafka(?:-native)?:(?:[^@]*kafka-|2\.1[0-3]-|v)?(\d+\.\d+(?:\.\d+)?)")
_CONFLUENT = re.compile(r"(?:^|/)cp-[a-z-]+:(\d+)\.(\d+)")
_FIRST_OF = {"4": "1.0", "5": "2.0", "6": "2.6", "7": "3.0", "8": "4.0"}
"""The Kafka that each major release of Confluent's images began with; their minor releases went side by side since."""

_PROTOCOL = re.compile(r"(\d+\.\d+)(?:[.-].*)?")
_OF_ZOOKEEPER = ("zookeeper.connect", "broker.id")


def chosen(broker: Described, wanted: str | None) -> tuple[str, str]:
    """Return the release by whose rules a broker is judged, and why that one, for people.

    Args:
        broker: its settings.
        wanted: what the user said, e.g. "3.8.0"; the nearest release that is known is taken.

    Raises:
        ValueError: `wanted` is no version.
    """
    if wanted is not None:
        version = nearest_release(wanted)
        return version, "from --kafka-version" if version == wanted else f"the nearest supported version to {wanted}"
    reported = _image(broker.image or "")
    if reported is not None:
        return nearest_release(reported), f"the image is {broker.image}"
    protocol = _PROTOCOL.fullmatch(_value(broker, "inter.broker.protocol.version"))
    if protocol is not None:
        return nearest_release(protocol[1]), f"inter.broker.protocol.version is {protocol[0]}"
    if _value(broker, "process.roles"):
        return NEWEST, "the newest; process.roles is set"
    for key in _OF_ZOOKEEPER:
        if _value(broker, key) or key in broker.unknown & broker.properties.keys():
            return NEWEST_WITH_ZOOKEEPER, f"the newest with ZooKeeper; {key} is set"
    return NEWEST, "the newest"


def _value(broker: Described, key: str) -> str:
    setting = broker.properties.get(key)
    return setting.value.strip() if setting is not None and key not in broker.unknown else ""


def _image(image: str) -> str | None:
    match = _CONFLUENT.search(image)
    if match is not None and match[1] in _FIRST_OF:
        major, minor = _FIRST_OF[match[1]].split(".")
        return f"{major}.{int(minor) + int(match[2])}.0"
    match = _TAG.search(image)
    return match[1] if match else None
