"""Which values of settings, besides secrets, do not become part of a snapshot. Pure."""

import re

from kafka_audit.configuration.near_keys import is_known

_CLASS = r"(?:[a-z][a-z0-9_]*+\.)++[A-Z][\w$]*+"
_NO_TEXT = re.compile(rf"\s*+(?:[+-]?[0-9]{{1,19}}(?:\.[0-9]{{1,9}})?|true|false|{_CLASS}(?:\s*+,\s*+{_CLASS})*+)?\s*+")


def is_free_text(key: str, value: str) -> bool:
    """Return whether a value is a text of a key that no release of Kafka defines, and is not kept.

    No check reads it, and a sentence of a plugin or of a person may hold a secret that nothing in it shows. Numbers, booleans and
    classes are no text.
    """
    return _NO_TEXT.fullmatch(value) is None and not is_known(key)
