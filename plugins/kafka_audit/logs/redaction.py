"""Hosts, addresses and names in front of lines, replaced by names that say only which are the same."""

import re

_ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){3,7}[0-9a-fA-F]{1,4}(?![\w:])")
_LOCAL = frozenset({"0.0.0.0", "127.0.0.1"})  # noqa: S104 -- what is shown, not bound
# A name in front of a port or an address, behind `//` or `host = `, or with dots and a domain that is no class of Java's.
_HOST = re.compile(
    r"(?<![\w.$/-])(?P<host>[A-Za-z](?:[\w-]{0,62}\.)*[\w-]{0,62})(?=/(?:\d{1,3}\.){3}\d|:\d{2,5}\b)|//(?P<url>[A-Za-z][\w.-]{0,250})"
    r"|\b(?:[Hh]ost|UnknownHostException|resolve server|resolve address)[ =:]{1,3}(?P<named>[A-Za-z][\w.-]{0,250})"
    r"|(?<![\w.$/-])(?P<domain>(?:[\w-]{1,63}\.){1,6}(?:com|net|org|io|local|internal|svc|lan|corp|cloud|dev))(?![\w.])"
)
_OURS = ("org.", "com.sun.", "java.", "javax.", "kafka.", "io.netty.", "io.confluent.", "com.yammer.")


class Redaction:
    """Replaces names by `host-1`, `host-2` and so on, each always by the same."""

    def __init__(self, names: list[str]) -> None:
        """Keep further names: of containers, pods and hosts in front of lines."""
        self._known: dict[str, str] = {}
        self._own = [name for name in names if len(name) > 1]

    def __call__(self, text: str) -> str:
        """Return a text without the names."""
        shown = _ADDRESS.sub(lambda found: found[0] if found[0] in _LOCAL else self._name(found[0]), _HOST.sub(self._host, text))
        for name in sorted({*self._own, *(one for one in self._known if not one[0].isdigit())}, key=len, reverse=True):
            shown = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", lambda _: self._name(name), shown)  # noqa: B023 -- used at once
        return shown

    def _host(self, found: re.Match[str]) -> str:
        name = next(part for part in found.groups() if part)
        if name == "localhost" or name.startswith(_OURS) or name.startswith("host-"):
            return found[0]
        return found[0].replace(name, self._name(name))

    def _name(self, name: str) -> str:
        return self._known.setdefault(name, f"host-{len(self._known) + 1}")
