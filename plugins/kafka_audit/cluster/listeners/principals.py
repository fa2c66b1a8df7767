"""The principal of one broker at another, by the settings of the other and its certificate or login."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from kafka_audit.cluster.settings import Setting
from kafka_audit.configuration import principals
from kafka_audit.configuration.principals import ANONYMOUS, KERBEROS, MappingError, RulesError, UnsupportedError
from kafka_audit.configuration.principals.kerberos_rules import KEY as KERBEROS_RULES
from kafka_audit.configuration.principals.ssl_rules import KEY as SSL_RULES

_REALMS = ("A", "B")  # placeholders for an unknown default realm: a result that differs between them is unknown


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The principal of one broker at another: the possible names (none: unknown), and their source."""

    names: tuple[str, ...]
    certain: bool
    why: str
    needs: str = ""
    fails: str = ""  # why the other's rules give it no name, which ends the connection
    refused: str = ""  # Kafka's words against the rules themselves: the other does not start with them


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The two brokers of a connection, and the listener of the target."""

    source: int
    target: int
    listener: str


def file_of(broker: int) -> str:
    """Return the sources of the settings of a broker."""
    return f"server.properties of broker {broker} (`properties` in the cluster file)"


def by_certificate(ends: Ends, asked: Setting, rules: Setting, subjects: Iterable[str]) -> Principal:
    """Return the principal of a broker on an SSL listener.

    Args:
        ends: source and target.
        asked: ssl.client.auth of the target.
        rules: ssl.principal.mapping.rules of the target.
        subjects: those of the source's certificates, as Java writes them.
    """
    if asked.known and asked.value in {None, "none"}:
        why = f"listener {ends.listener} of broker {ends.target} does not request a client certificate"
        return Principal(names=(ANONYMOUS,), certain=True, why=why)
    why = f"the certificate of broker {ends.source} names it"
    needs = f"the subject of broker {ends.source}'s certificate, and {SSL_RULES} of broker {ends.target}"
    unknown = Principal(names=(), certain=False, why=why, needs=needs)
    found = list(dict.fromkeys(subjects))
    if not rules.known or not found:
        return unknown
    named = _named(ends, SSL_RULES, (partial(principals.of_certificate, name, rules.value) for name in found))
    if not named.names:
        return named
    optional = () if asked.value == "required" else (ANONYMOUS,)
    return Principal(names=(*named.names, *optional), certain=False, why=why, needs=needs)


def by_login(ends: Ends, mechanism: str | None, users: Iterable[str], rules: Setting) -> Principal:
    """Return the principal of a broker on a SASL listener.

    Args:
        ends: source and target.
        mechanism: with which the source logs in, None where that is not known.
        users: the logins in the file of the source.
        rules: sasl.kerberos.principal.to.local.rules of the target.
    """
    own = set(users)
    if len(own) != 1 or mechanism == "OAUTHBEARER" or (mechanism == KERBEROS and not rules.known):
        why = f"the user name that broker {ends.source} logs in with is unknown"
        return Principal(names=(), certain=False, why=why, needs=file_of(ends.source))
    user, why = own.pop(), f"the login of broker {ends.source} on {ends.listener}"
    if mechanism != KERBEROS:
        return Principal(names=(f"User:{user}",), certain=True, why=why)
    # The realm of the brokers replaces the default realm of krb5.conf, which is not read.
    realms = (user.rpartition("@")[2],) if "@" in user else _REALMS
    full = [(user if "@" in user else f"{user}@{realm}", realm) for realm in realms]
    named = _named(
        ends,
        KERBEROS_RULES,
        (partial(principals.of_login, KERBEROS, name, rules.value, realm) for name, realm in full),
    )
    decided = "@" in user or len(named.names) == 1
    return named if decided else Principal(names=(), certain=False, why=why, needs="default_realm of krb5.conf")


def _named(ends: Ends, key: str, asked: Iterable[Callable[[], str]]) -> Principal:
    """Return all names that come of it; none where one of them fails."""
    needs = f"the authorizer log of broker {ends.target}"
    try:
        names = tuple(dict.fromkeys(name() for name in asked))
    except MappingError as error:
        fails = f"its {key} end the connection: {error}"
        why = f"broker {ends.target} accepts no connection, {fails}"
        return Principal(names=(), certain=False, why=why, needs=needs, fails=fails)
    except RulesError as error:
        why = f"broker {ends.target} rejects its {key}: {error}"
        return Principal(names=(), certain=False, why=why, needs=f"{key} that Kafka accepts", refused=str(error))
    except UnsupportedError as error:
        why = f"{key} of broker {ends.target} use a feature that the audit does not evaluate: {error}"
        return Principal(names=(), certain=False, why=why, needs=needs)
    return Principal(names=names, certain=False, why=f"{key} of broker {ends.target} map broker {ends.source}")
