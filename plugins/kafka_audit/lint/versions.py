"""The release with which a file is judged if it is not given: by the content of the file. Pure."""

import re
from dataclasses import dataclass

from kafka_audit.configuration.definitions import VERSIONS, keys, version_numbers
from kafka_audit.configuration.files import images
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.starts import nearest_release

NEWEST = VERSIONS[-1]
OLDEST = VERSIONS[0]
NEWEST_WITH_ZOOKEEPER = max((version for version in VERSIONS if version_numbers(version) < (4,)), key=version_numbers)

_HOST_NAME = "advertised.host.name"
NEWEST_WITH_HOST_NAME = max((version for version in VERSIONS if _HOST_NAME in keys(version)), key=version_numbers)

_PROTOCOL = re.compile(r"(\d+\.\d+)(?:[.-].*)?")
_OF_ZOOKEEPER = ("zookeeper.connect", "broker.id")


@dataclass(frozen=True, kw_only=True)
class JudgedRelease:
    """The release by whose rules a broker is judged."""

    version: str
    why: str  # for people
    neighbour_of: str | None = None  # the version that the user or the file names, if it has no rules


def chosen(broker: Described, wanted: str | None, running: str | None = None) -> JudgedRelease:
    """Return the release by whose rules a broker is judged, and why that one.

    Args:
        broker: its settings.
        wanted: what the user said, e.g. "3.8.0".
        running: what runs where the file is to go, as far as that is known.

    Raises:
        ValueError: `wanted` is no version.
    """
    named = _named(broker, wanted)
    if named is not None:
        return _judged_by(*named)
    if running is not None:
        return _judged_by(running, "the cluster runs it")
    protocol = _PROTOCOL.fullmatch(broker.value("inter.broker.protocol.version"))
    if protocol is not None:
        return _judged_by(protocol[1], f"inter.broker.protocol.version is {protocol[0]}")
    if broker.value("process.roles"):
        return JudgedRelease(version=NEWEST, why="the newest; process.roles is set")
    of_zookeeper = (*_OF_ZOOKEEPER, *(key for key in broker.properties if key.startswith("zookeeper.")))
    old = {_HOST_NAME: NEWEST_WITH_HOST_NAME} if broker.image else {}  # an image chooses its release, a file does not
    for key, version in (old | dict.fromkeys(of_zookeeper, NEWEST_WITH_ZOOKEEPER)).items():
        if broker.value(key) or key in broker.unknown & broker.properties.keys():
            with_what = "ZooKeeper" if key in of_zookeeper else key
            return JudgedRelease(version=version, why=f"the newest with {with_what}; {key} is set")
    return JudgedRelease(version=NEWEST, why="the newest")


def _named(broker: Described, wanted: str | None) -> tuple[str, str] | None:
    """Return the version that the user, the resource or the image names, and which of them does."""
    if wanted is not None:
        return wanted, "from --kafka-version"
    if broker.version is not None:
        return broker.version, f"spec.kafka.version is {broker.version}"
    reported = images.release_of(broker.image or "")
    return None if reported is None else (reported, f"the image is {broker.image}")


def refuse_unsupported(wanted: str) -> None:
    """Raise ValueError for a text that is no version, or a version outside of the minor releases with rules.

    A version between them has a neighbour whose rules are near. Nothing is known of the rules of others.
    """
    nearest_release(wanted)
    if not version_numbers(OLDEST)[:2] <= (*version_numbers(wanted), 0)[:2] <= version_numbers(NEWEST)[:2]:
        oldest, newest = (".".join(version.split(".")[:2]) for version in (OLDEST, NEWEST))
        message = f"kafka-audit has no rules for Kafka {wanted}; use {oldest} to {newest}"
        raise ValueError(message)


def _judged_by(reported: str, why: str) -> JudgedRelease:
    version, numbers = nearest_release(reported), version_numbers(reported)
    if version_numbers(version)[: len(numbers)] == numbers:
        return JudgedRelease(version=version, why=why)
    why = f"{why}; Kafka {reported} is judged by the rules of its neighbour {version}"
    return JudgedRelease(version=version, why=why, neighbour_of=reported)
