"""A line of a log without what must not leave it. Pure."""

import re

from kafka_audit.collect.reads import clean
from kafka_audit.collect.secret_keys import is_secret

LONGEST = 400
"""Characters of a line that are kept, what is masked included."""

MASK = "[masked]"
_PAIR = re.compile(r"([\w.\-]{1,100})(\"?\s{0,3}[=:]\s{0,3})(\"[^\"]{0,2000}\"?|'[^']{0,2000}'?|[^\s,;)}\]\"']{1,2000})")
_USERINFO = re.compile(r"(://)[^/\s@]{1,300}@")
_REST = re.compile(r"(?:LoginModule|-----BEGIN|encryptedPassword|\bBearer\s|\bBasic\s).*", re.DOTALL)


def masked(line: str) -> str:
    """Return a line with the values of secret keys, logins in addresses and JAAS texts masked, on one line and cut."""
    text = _REST.sub(MASK, _USERINFO.sub(rf"\1{MASK}@", line))
    return clean(_PAIR.sub(_pair, text), LONGEST)


def _pair(match: re.Match[str]) -> str:
    key, between, value = match.groups()
    # "password: Authentication failed" is prose; what a configuration calls by such a key is not.
    return f"{key}{between}{MASK}" if is_secret(key, value) else match[0]
