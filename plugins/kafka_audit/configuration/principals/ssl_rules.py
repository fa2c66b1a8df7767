"""ssl.principal.mapping.rules: which name a certificate's subject becomes. Pure.

Source: `org.apache.kafka.common.security.ssl.SslPrincipalMapper` (2.4 to 4.3 alike). KIP-371 brought the key with Kafka 2.2; 1.1
passes over it, and 2.2 and 2.3 cut a list of rules at every comma. `python -m testbed.principals` holds this module
against the class.
"""

import re
from dataclasses import dataclass

from kafka_audit.configuration.principals.errors import MappingError, UnsupportedError
from kafka_audit.configuration.principals.java_regex import LONGEST, Effort, JavaPattern, compiled
from kafka_audit.configuration.principals.rule_text import name_within_size, rule_match, trimmed_rules, within_size

KEY = "ssl.principal.mapping.rules"
_RULE = r"(DEFAULT)|RULE:((\\.|[^\\/])*)/((\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_RULES = rf"\s*({_RULE})\s*(,\s*|$)"
_REFERENCE = re.compile(r"\$([0-9]+)")
_LARGEST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class _SslRule:
    """One rule; DEFAULT has no pattern."""

    pattern: JavaPattern | None = None
    replacement: str = ""
    case: str = ""  # L, U or empty

    def apply(self, subject: str, effort: Effort) -> str | None:
        if self.pattern is None:
            return subject
        match = self.pattern.matches(subject, effort)
        if match is None:
            return None
        name = self.pattern.replaced(subject, _escaped(self.replacement, match.groups), effort)
        return name.lower() if self.case == "L" else name.upper() if self.case == "U" else name

    def __str__(self) -> str:
        if self.pattern is None:
            return "DEFAULT"
        return f"RULE:{self.pattern.pattern}/{self.replacement}{'/' if self.case else ''}{self.case}"


class SslRules:
    """The rules of one listener."""

    def __init__(self, text: str | None) -> None:
        """Read them, None for the default; raises RulesError where the broker refuses to start, and UnsupportedError."""
        rules = trimmed_rules(text)
        if any(len(part) > LONGEST for part in rules.split("/")):  # Java's matcher goes on to the next slash, whatever the rule
            message = f"rules without a slash in {LONGEST} characters, which can end the stack of Java's matcher"
            raise UnsupportedError(message)
        read = (rule for match in compiled(_RULES).find(rules) if (rule := _read(match[1] or "")) is not None)
        self._rules = list(within_size(read, lambda rule: [rule.pattern]))

    def name(self, subject: str) -> str:
        """Return the name of a subject (RFC 2253, as Java writes it).

        Raises:
            MappingError: the connection fails.
            UnsupportedError: a rule reads this subject in a way that is not supported.
        """
        effort = Effort()
        for rule in self._rules:
            found = rule.apply(subject, effort)
            if found is not None:
                return name_within_size(found)
        message = f"No rules apply to {subject}, rules [{', '.join(map(str, self._rules))}]"
        raise MappingError(message)


def _read(piece: str) -> _SslRule | None:
    match = rule_match(compiled(_RULE), piece)
    if match[1] is not None:
        return _SslRule()
    return None if match[2] is None else _SslRule(pattern=compiled(match[2]), replacement=match[4] or "", case=match[6] or "")


def _escaped(replacement: str, groups: int) -> str:
    """Put a backslash before references to groups that the pattern has not, where Kafka does (not where it has no group)."""
    value = replacement
    for match in _REFERENCE.finditer(replacement) if groups else ():
        if match[1].startswith("0"):
            continue
        number = int(match[1])
        if number > _LARGEST:
            message = f'For input string: "{match[1]}"'
            raise MappingError(message)
        while number > groups and number > 9:  # noqa: PLR2004 -- more than one digit
            number //= 10
        if number > groups:
            at = match.start()  # in the text as it was: Kafka does not count the backslashes that it has put in already
            value = f"{value[:at]}\\{value[at:]}"
    return value
