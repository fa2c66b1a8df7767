"""Versions of the inter-broker protocol and the record formats they know (`ApiVersion`, `MetadataVersion`)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions.addresses import split
from kafka_audit.configuration.starts.config import require

if TYPE_CHECKING:
    from kafka_audit.configuration.starts.config import Config

INTER_BROKER_VERSION = "inter.broker.protocol.version"
FORMAT_VERSION = "log.message.format.version"
OFFSETS_CODEC = "offsets.topic.compression.codec"
ZSTD = 4

Version = tuple[tuple[int, ...], int]

_TEXT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})+)(?:-IV([0-9]{1,9}))?")
_LATEST = 1 << 16  # a version without its sub-version is the last of it
_FORMATS: tuple[tuple[Version, str], ...] = ((((0, 10, 0), 0), "0.10.0"), (((0, 11, 0), 0), "0.11.0"))


@lru_cache(maxsize=256)
def version(text: str) -> Version:
    """Return a valid version as something to compare by."""
    segments = 3 if text.startswith("0.") else 2
    match = _TEXT.fullmatch(".".join(split(text, ".")[:segments]))
    if match is None:
        return (), 0
    return tuple(map(int, match[1].split("."))), int(match[2]) if match[2] else _LATEST


def record_format(protocol: Version) -> int:
    """Return the newest record format (0, 1, 2) of a version."""
    return sum(protocol >= since for since, _ in _FORMATS)


def format_fits(config: Config, inter_broker: Version) -> None:
    """Judge log.message.format.version by the inter-broker protocol."""
    reported = config.text(FORMAT_VERSION)
    wanted = record_format(version(reported))
    least = ("0.8.0", *(name for _, name in _FORMATS))[wanted]
    message = f"{FORMAT_VERSION} {reported} can only be used when {INTER_BROKER_VERSION} is set to version {least} or higher"
    require(record_format(inter_broker) >= wanted, message, config.blame(FORMAT_VERSION, INTER_BROKER_VERSION))


def codec_fits(config: Config, inter_broker: Version) -> None:
    """Judge zstd for offsets by the inter-broker protocol (since 2.2)."""
    if config.number(OFFSETS_CODEC) == ZSTD and config.since(2, 2):
        message = f"{OFFSETS_CODEC} zstd can only be used when {INTER_BROKER_VERSION} is set to version 2.1 or higher"
        require(record_format(inter_broker) >= len(_FORMATS), message, OFFSETS_CODEC)
