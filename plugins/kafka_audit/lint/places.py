"""The line of a file that a finding is about, as people may see it: without secrets, with the columns of the value. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kafka_audit.clients.secrets.secret_keys import is_secret
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.starts import StartRefusal
from kafka_audit.model.linted import FileLine
from kafka_audit.model.text import our_line

HIDDEN = "[hidden]"
_LONGEST = 160
_SHORTEST = 4  # characters; any line may contain a shorter secret by chance
_SECRETIVE = re.compile(r"passw|secret|jaas|credential|token|://[^/\s@]*@", re.IGNORECASE)


def file_lines(data: bytes) -> list[str]:
    """Return the lines of a file as editors show them; what is no UTF-8 as Java reads it."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return re.split(r"\r\n|\r|\n", text)


def line_of_property(setting: Property, text: str, hidden: Sequence[str]) -> FileLine:
    """Return the place of a property.

    Args:
        setting: the property.
        text: its line.
        hidden: what must not be shown, of all settings of that broker.
    """
    shown = text.strip().removesuffix("\\").rstrip()
    value = setting.value if setting.value in shown else shown.partition("=")[2].strip()
    if is_secret(setting.key, setting.value) or not value or _shows_secret(shown, hidden):
        value = HIDDEN if is_secret(setting.key, setting.value) else setting.value
        shown = f"{setting.key}={value}"
    if len(shown) > _LONGEST or our_line(shown) != shown:
        shown, value = our_line(shown, _LONGEST), our_line(value, _LONGEST)
    start = shown.rfind(value) if value and value in shown else 0
    return FileLine(line=setting.line, text=shown, start=start, end=start + len(value) if start else len(shown))


def line_to_add(line: int) -> FileLine:
    """Return the place of a setting that a file does not have: where its settings begin, without a text."""
    return FileLine(line=line, text="", start=0, end=0)


def place_of_key(place: FileLine, key: str) -> FileLine:
    """Return the place with the columns of the key; as it is where the file has another name for it, such as a variable."""
    start = place.text.find(key)
    return place if start < 0 else replace(place, start=start, end=start + len(key))


def secrets(broker: Described) -> tuple[str, ...]:
    """Return what must not be shown of a broker's settings."""
    return tuple(
        setting.value
        for setting in broker.properties.values()
        if len(setting.value) >= _SHORTEST and is_secret(setting.key, setting.value)
    )


def _shows_secret(shown: str, hidden: Sequence[str]) -> bool:
    """Return whether a line shows what it must not: it may contain other keys, as in YAML's `{a: b, c: d}`."""
    return _SECRETIVE.search(shown) is not None or any(secret in shown for secret in hidden)


def masked_refusal(refused: StartRefusal, broker: Described) -> str:
    """Return Kafka's words; it hides values of type PASSWORD itself, here those go that only this tool takes for secrets.

    They go under each key: a secret may stand in the wrong line.
    """
    message, setting = refused.message, broker.properties.get(refused.key or "")
    own = (setting.value,) if setting is not None and is_secret(setting.key, setting.value) else ()
    for secret in sorted(filter(None, {*own, *secrets(broker)}), key=len, reverse=True):
        message = message.replace(secret, HIDDEN).replace(secret.strip() or secret, HIDDEN)
    return message
