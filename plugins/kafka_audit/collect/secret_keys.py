"""Which settings are secrets, by their key or by what their value shows. Pure; rather one too many than one too few.

Kafka itself takes every key that it does not know for a secret; then super.users would be one, on which the audit stands.
"""

import re

_KEY = re.compile(
    r"passw|pwd|secret|jaas|credential|private|passphrase|license|certificate|user[._-]?info|api[._-]?key|access[._-]?key"
    r"|token(?!.*(?:ms|url|uri|endpoint)$)|(?:^|[._-])key$",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"password\.encoder\.(?:cipher\.algorithm|iterations|key\.length|keyfactory\.algorithm)")
_VALUE = re.compile(
    r"LoginModule|-----BEGIN|encryptedPassword|://[^/\s@]*:[^/\s@]*@|\bpassw(?:or)?d\s*=|\bsecret\s*=|\bBearer\s|\bBasic\s",
    re.IGNORECASE,
)


def is_secret(key: str, value: str) -> bool:
    """Tell whether a setting's value must not become a row."""
    return (_KEY.search(key) is not None and not _HARMLESS.fullmatch(key)) or _VALUE.search(value) is not None
