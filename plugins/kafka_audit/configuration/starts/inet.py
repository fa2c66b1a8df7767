"""Which texts are addresses to the InetAddressValidator of Apache Commons, that Kafka 3.8 and later ask about duplicate ports."""

import re
from functools import lru_cache

_SEGMENT = re.compile(r"0|[1-9][0-9]{0,2}")
_GROUP = re.compile(r"[+-]?[0-9a-fA-F]{1,4}")
_ZONE = re.compile(r"[^\s/%]+")
_GROUPS = 8
_LAST = 255


@lru_cache(maxsize=4096)
def ipv4(text: str) -> bool:
    """Return whether a text is an IPv4 address in four decimal parts."""
    parts = text.split(".")
    return len(parts) == 4 and all(_SEGMENT.fullmatch(part) and int(part) <= _LAST for part in parts)  # noqa: PLR2004


@lru_cache(maxsize=4096)
def ipv6(text: str) -> bool:
    """Return whether a text is an IPv6 address, with or without a zone."""
    bare, mark, zone = text.partition("%")
    if mark and not _ZONE.fullmatch(zone):
        return False
    compressed = "::" in bare
    if bare.find("::") != bare.rfind("::"):
        return False
    if (bare.startswith(":") and not bare.startswith("::")) or (bare.endswith(":") and not bare.endswith("::")):
        return False
    groups = bare.split(":") if bare != "::" else [""]
    if compressed and bare != "::":
        # Java's split leaves out the empty parts at the end, and the validator the one at the beginning.
        while groups and not groups[-1]:
            groups.pop()
        if bare.endswith("::"):
            groups.append("")
        elif bare.startswith("::"):
            groups.pop(0)
    return len(groups) <= _GROUPS and _whole(groups, compressed=compressed)


def _whole(groups: list[str], *, compressed: bool) -> bool:
    valid = empty = 0
    for number, group in enumerate(groups):
        if not group:
            empty += 1
            if empty > 1:
                return False
        else:
            empty = 0
            if number == len(groups) - 1 and "." in group:
                if not ipv4(group):
                    return False
                valid += 1
            elif not _GROUP.fullmatch(group) or group.startswith("-"):
                return False
        valid += 1
    return valid == _GROUPS or (valid < _GROUPS and compressed)
