"""Whether a release's KafkaConfig accepts a configuration, and what it says where it does not."""

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_audit.configuration.definitions import VERSIONS, ConfigError, StartRule, version_numbers
from kafka_audit.configuration.starts import release_2, release_3, release_4
from kafka_audit.configuration.starts.config import Config

_VALIDATE = {1: release_2.validate, 2: release_2.validate, 3: release_3.validate, 4: release_4.validate}
"""By major version; each module of a release has one `validate`, called after Kafka's `validateValues`."""


@dataclass(frozen=True, kw_only=True)
class StartRefusal:
    """The error of KafkaConfig; `key` is the cause if one is known, `rule` if the rule is known."""

    message: str
    key: str | None
    rule: StartRule | None = None


def start_refusal(properties: Mapping[str, str], version: str, patch: str | None = None) -> StartRefusal | None:
    """Return what a release's KafkaConfig says against a configuration, None where it accepts it.

    Args:
        properties: keys and values as Java reads them from the file.
        version: one of `VERSIONS`.
        patch: a release of the same minor that runs, where it differs.
    """
    try:
        _VALIDATE[version_numbers(version)[0]](Config(properties, version, patch))
    except ConfigError as error:
        # Kafka copies node.id and broker.id to each other: blame the one in the file.
        other = {"broker.id": "node.id", "node.id": "broker.id"}.get(error.key or "")
        key = other if other in properties and error.key not in properties else error.key
        return StartRefusal(message=error.message, key=key, rule=error.rule)
    return None


def nearest_release(version: str) -> str:
    """Return the release among `VERSIONS` by whose rules a version is judged: itself, or the nearest one.

    Raises:
        ValueError: the text is no version.
    """
    wanted = _numbers(version)
    return min(VERSIONS, key=lambda version: (abs(_place(_numbers(version)) - _place(wanted)), version))


def _numbers(version: str) -> tuple[int, int, int]:
    parts = version.split(".")[:3]
    if not all(part.isdecimal() and len(part) < 4 for part in parts):  # noqa: PLR2004 -- three digits
        message = f"{version!r} is not a Kafka version; use three numbers such as 3.9.1"
        raise ValueError(message)
    major, minor, patch = (*map(int, parts), 0, 0)[:3]
    return major, minor, patch


def _place(numbers: tuple[int, int, int]) -> int:
    """Return the position of a version. Major versions differ much, so a version is nearest to others of its major version."""
    major, minor, patch = numbers
    return major * 1_000_000 + minor * 1_000 + patch
