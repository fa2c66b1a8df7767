"""sasl.kerberos.principal.to.local.rules: which name a Kerberos principal becomes. Pure.

Source: `org.apache.kafka.common.security.kerberos.KerberosShortNamer`, `KerberosRule` and `KerberosName` (2.8 to 4.3 alike; 1.1
knows no `/U`). `python -m testbed.principals` holds this module against the classes.
"""

import re
from dataclasses import dataclass

from kafka_audit.configuration.principals.errors import MappingError, RulesError
from kafka_audit.configuration.principals.java_regex import Effort, JavaPattern, compiled
from kafka_audit.configuration.principals.rule_text import name_within_size, rule_match, trimmed_rules, within_size

KEY = "sasl.kerberos.principal.to.local.rules"
_RULE = r"((DEFAULT)|((RULE:\[(\d*):([^\]]*)](\(([^)]*)\))?(s/([^/]*)/([^/]*)/(g)?)?/?(L|U)?)))"
_NAME = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")
_PARAMETER = re.compile(r"([^$]*)(?:\$([0-9]*))?")
_SPACES = " \t\n\x0b\f\r"  # around a comma
_LARGEST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class _KerberosRule:
    """One rule; DEFAULT has no format."""

    components: int = 0
    format: str | None = None
    match: JavaPattern | None = None
    source: JavaPattern | None = None
    target: str = ""
    everywhere: bool = False
    case: str = ""  # L, U or empty

    def apply(self, parts: tuple[str, ...], realm: str, effort: Effort) -> str | None:
        """Return the name, None where the rule does not apply; `parts` are the realm and the components."""
        name = self._named(parts, effort) if self.format is not None else parts[1] if parts[0] == realm else None
        if name is None:
            return None
        if "/" in name or "@" in name:
            message = f"Non-simple name {name} after auth_to_local rule {self}"
            raise MappingError(message)
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name

    def _named(self, parts: tuple[str, ...], effort: Effort) -> str | None:
        if len(parts) - 1 != self.components:
            return None
        base = _filled(self.format or "", parts)
        if self.match is not None and self.match.matches(base, effort) is None:
            return None
        return base if self.source is None else self.source.replaced(base, self.target, effort, everywhere=self.everywhere)

    def __str__(self) -> str:
        if self.format is None:
            return "DEFAULT"
        match = f"({self.match.pattern})" if self.match else ""
        change = f"s/{self.source.pattern}/{self.target}/{'g' if self.everywhere else ''}" if self.source else ""
        return f"RULE:[{self.components}:{self.format}]{match}{change}{'/' if self.case else ''}{self.case}"


class KerberosRules:
    """The rules of one listener."""

    def __init__(self, text: str | None) -> None:
        """Read them, None for the default; raises RulesError where the broker refuses to start, and UnsupportedError."""
        rules = trimmed_rules(text)
        read = (_read(piece.strip(_SPACES)) for piece in rules.split(",")) if rules else ()
        self._rules = list(within_size(read, lambda rule: [rule.match, rule.source]))

    def name(self, principal: str, realm: str) -> str:
        """Return the name of a principal.

        Args:
            principal: `service/host@REALM`, `user@REALM` or a bare name.
            realm: default realm by the broker's krb5.conf, which DEFAULT uses.

        Raises:
            MappingError: the login fails.
            UnsupportedError: a rule reads this name in a way that is not supported.
        """
        found = _NAME.fullmatch(principal)
        if found is None:
            if "@" in principal:
                message = f"Malformed Kerberos name: {principal}"
                raise MappingError(message)
            return principal
        service, host, own = found.groups()
        parts = (own, service) if host is None else (own, service, host)
        effort = Effort()
        for rule in self._rules:
            name = rule.apply(parts, realm, effort)
            if name is not None:
                return name_within_size(name)
        message = f"No rules apply to {principal}, rules [{', '.join(map(str, self._rules))}]"
        raise MappingError(message)


def _read(piece: str) -> _KerberosRule:
    found = rule_match(compiled(_RULE), piece)
    if found[2] is not None:
        return _KerberosRule()
    if not found[5] or int(found[5]) > _LARGEST:
        message = f'For input string: "{found[5]}"'
        raise RulesError(message)
    return _KerberosRule(
        components=int(found[5]),
        format=found[6],
        match=None if found[8] is None else compiled(found[8]),
        source=None if found[10] is None else compiled(found[10]),
        target=found[11] or "",
        everywhere=found[12] == "g",
        case=found[13] or "",
    )


def _filled(form: str, parts: tuple[str, ...]) -> str:
    """Put components in for `$0` (the realm), `$1` and `$2`."""
    filled = []
    for match in _PARAMETER.finditer(form):
        filled.append(match[1])
        if match[2] is None:
            continue
        if not match[2] or int(match[2]) > _LARGEST:
            message = f"bad format in username mapping in {match[2]}"
            raise MappingError(message)
        if int(match[2]) >= len(parts):
            message = f"index {match[2].lstrip('0') or '0'} from {form} is outside of the valid range 0 to {len(parts) - 1}"
            raise MappingError(message)
        filled.append(parts[int(match[2])])
    return "".join(filled)
