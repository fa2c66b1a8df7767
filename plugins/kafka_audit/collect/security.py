"""Which listener is spoken to in which way, and as whom: credentials are taken out here, at the moment of connecting.

Rules: the cluster file names a listener's security, or its protocol is that of `security`; a password goes only to an address
that answered ApiVersions (kafka-python asks before it logs in), in clear text only to an address in the file; a login that was
refused is not tried at every other address, for that is how accounts get locked.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_audit.collect.probe_sockets import context
from kafka_audit.collect.reads import LOGIN_REFUSED, MECHANISM_REFUSED, NO_CREDENTIALS, NOT_SUPPORTED, ReadError, clean
from kafka_audit.collect.targets import PLAINTEXT, Target
from kafka_audit.model.cluster import Cluster, Security, Tls
from kafka_audit.model.errors import UsageError

_PROTOCOLS_DIFFER = "protocols differ"
IN_CLEAR_TEXT = frozenset({"PLAIN", "OAUTHBEARER"})
"""Mechanisms that hand the secret itself over; SCRAM sends a proof."""

_REFUSALS = {"PLAIN": 2}
"""How many refusals without any success end a listener's logins, where more than one: each broker has its own list for PLAIN."""


class NotAsked(ReadError):  # noqa: N818 -- ReadError's own name
    """The cluster file says nothing of how to speak to a listener, so one read stands for all."""


class Turns:
    """One login at one listener: tried at one address at a time until it was accepted somewhere."""

    def __init__(self, refusals: int) -> None:
        """Take how many refusals without any success are enough."""
        self._enough = refusals
        self._lock = threading.Lock()
        self._proven = False
        self._refused: dict[str, ReadError] = {}

    @contextmanager
    def take(self, address: str, seconds: float) -> Iterator[None]:
        """Log in inside; raises ReadError without an attempt after a refusal.

        Args:
            address: where.
            seconds: how long another address's attempt is waited for; one that hangs must not hold up all others.
        """
        held = not self._proven and self._lock.acquire(timeout=seconds)
        try:
            self._demand_hope(address)
            yield
            self._proven = True
        except ReadError as error:
            if error.error == LOGIN_REFUSED:
                self._refused.setdefault(address, error)
            raise
        finally:
            if held:
                self._lock.release()

    def _demand_hope(self, address: str) -> None:
        hopeless = not self._proven and len(self._refused) >= self._enough
        known = self._refused.get(address) or (next(iter(self._refused.values())) if hopeless else None)
        if known is not None:
            raise ReadError(known.error, f"not tried again: {known.message}", known.needs)


def _anyhow(_seconds: float) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, kw_only=True)
class Way:
    """How one address is spoken to. `kafka` goes to kafka-python as it is; `hidden` is never to be shown."""

    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    hidden: tuple[str, ...] = field(default=(), repr=False)
    attempt: Callable[[float], AbstractContextManager[None]] = field(default=_anyhow, repr=False)
    needs: str | None = None  # what would help where the login is refused

    def hide(self, text: str | None) -> str | None:
        """Return a party's own words without the password, should it echo it."""
        for secret in self.hidden:
            text = text and text.replace(secret, "***")
        return text


class Logins:
    """The ways of one cluster, for one audit: it remembers what was refused."""

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str]) -> None:
        """Take the cluster and where passwords are looked up.

        Raises:
            UsageError: a file of certificates cannot be read.
        """
        self._cluster = cluster
        self._secrets = secrets
        self._turns: dict[tuple[str, Security], Turns] = {}
        self._offered: dict[str, str] = {}
        named = {f"listeners.{name}": one for name, one in cluster.listeners.items() if one is not None}
        for key, one in {"security": cluster.security, **named}.items():
            if one.protocol.endswith("SSL"):
                demand_files(one.tls, f"clusters.{cluster.name}.{key}")
        if cluster.zookeeper is not None:
            demand_files(cluster.zookeeper.tls, f"clusters.{cluster.name}.zookeeper.tls")
        self._in_file = {*cluster.bootstrap, *cluster.controllers, *cluster.reach, *cluster.reach.values()}

    def security(self, target: Target) -> Security | None:
        """Return what the cluster file says of a listener, None where it says nothing."""
        named = self._cluster.listeners.get(target.listener)
        if named is not None:
            return named
        return self._cluster.security if self._cluster.security.protocol == target.protocol else None

    def tls(self, target: Target) -> tuple[str, str | None, tuple[str, str] | None]:
        """Return what `probe_sockets.secure` takes: the name to be shown, whom to trust, and our own certificate's files."""
        security = self.security(target)
        if security is None or not security.protocol.endswith("SSL"):
            return target.host, None, None
        files = None
        if security.tls and security.tls.cert_file:
            files = (security.tls.cert_file, security.tls.key_file or security.tls.cert_file)
        return target.host, _authorities(security.tls), files

    def mechanism(self, target: Target) -> str:
        """Return the mechanism to name when asking which there are."""
        security = self.security(target)
        return (security and security.mechanism) or "PLAIN"

    def judges(self, target: Target) -> bool:
        """Tell whether a `ca_file` says whom to trust."""
        security = self.security(target)
        return bool(security and security.tls and security.tls.ca_file)

    def offers(self, target: Target, mechanisms: str) -> None:
        """Keep what a listener offers, so that no login is tried that cannot succeed."""
        self._offered[target.address] = clean(mechanisms)

    def passwords(self) -> frozenset[str]:
        """Return every password that the cluster file names, as far as they are there."""
        zookeeper = self._cluster.zookeeper
        securities = [self._cluster.security, *(one for one in self._cluster.listeners.values() if one is not None)]
        names = {one.password_env for one in securities} | {zookeeper.password_env if zookeeper else None}
        return frozenset(filter(None, (self._secrets.get(name) for name in names if name)))

    def demand_known(self, target: Target) -> Security:
        """Return how a listener is spoken to; raises NotAsked where the cluster file does not say it or says otherwise."""
        security = self.security(target)
        if security is None and target.protocol == PLAINTEXT:
            return Security()
        if security is None:
            raise NotAsked(NO_CREDENTIALS, f"{_name(target)} is {target.protocol}", _wanted(target))
        if security.protocol != target.protocol:
            message = f"the cluster file says {security.protocol}, the cluster says {target.protocol}"
            raise NotAsked(_PROTOCOLS_DIFFER, message, _wanted(target))
        return security

    def way(self, target: Target) -> Way:
        """Return how to speak to a target; raises ReadError where there is none."""
        security = self.demand_known(target)
        if security.protocol == PLAINTEXT:
            return Way()
        options: dict[str, Any] = {"security_protocol": security.protocol}
        if security.protocol.endswith("SSL"):
            name, trust, files = self.tls(target)
            options["ssl_context"] = _Named(context(trust, True, files), name)  # noqa: FBT003 -- a function for vantages
        if security.mechanism is None:
            return Way(kafka=options)
        return self._login(target, security, options)

    def _login(self, target: Target, security: Security, options: dict[str, Any]) -> Way:
        mechanism = security.mechanism or ""
        self._demand_earned(target, security)
        options["sasl_mechanism"] = mechanism
        turns = self._turns.setdefault((target.listener, security), Turns(_REFUSALS.get(mechanism, 1)))
        attempt = partial(turns.take, target.address)
        if mechanism == "GSSAPI":
            if find_spec("gssapi") is None:
                raise ReadError(
                    NOT_SUPPORTED, f"{_name(target)} is to be entered with GSSAPI", "the Python package gssapi on this worker"
                )
            return Way(kafka=options, attempt=attempt, needs="a Kerberos ticket of this worker's user (kinit)")
        password = self._secrets.get(security.password_env or "")
        if not password:
            raise ReadError(NO_CREDENTIALS, None, f"the environment variable {security.password_env}")
        if mechanism == "OAUTHBEARER":
            options["sasl_oauth_token_provider"] = _Token(password)
            needs = f"a token in {security.password_env} that listener {_name(target)} accepts"
        else:
            options |= {"sasl_plain_username": security.username, "sasl_plain_password": password}
            needs = f"a user and password that listener {_name(target)} accepts ({security.username}, {security.password_env})"
        return Way(kafka=options, hidden=(password,), attempt=attempt, needs=needs)

    def _demand_earned(self, target: Target, security: Security) -> None:
        """Raise ReadError where this login may not be tried at this address."""
        mechanism = security.mechanism or ""
        clear = not security.protocol.endswith("SSL") and mechanism in IN_CLEAR_TEXT
        if clear and not {target.advertised, target.address} & self._in_file:
            message = (
                f"not tried: {mechanism} without TLS hands the password over, and {target.address} is not in the cluster file"
            )
            raise ReadError(
                NO_CREDENTIALS,
                message,
                f"{clean(target.advertised)} in bootstrap of the cluster file, or a listener with TLS or SCRAM",
            )
        offered = self._offered.get(target.address)
        if offered is not None and mechanism not in offered.split(","):
            message = f"not tried: {mechanism} is not enabled on {_name(target)}, which offers {offered or 'none'}"
            raise ReadError(MECHANISM_REFUSED, message, f"mechanism: {offered or '…'} for {_name(target)} in the cluster file")


class _Token(AbstractTokenProvider):  # type: ignore[misc] # kafka-python has no types
    """A token from the environment."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._token = token

    def token(self) -> str:
        """Return the token."""
        return self._token


@dataclass(frozen=True)
class _Named:
    """A TLS context that shows and checks the advertised name, also where `reach` dials another address."""

    context: Any
    name: str

    def wrap_socket(self, sock: Any, *, server_hostname: str | None, do_handshake_on_connect: bool) -> Any:  # noqa: ANN401, ARG002 -- kafka-python's call
        """Return the socket inside TLS."""
        return self.context.wrap_socket(sock, server_hostname=self.name, do_handshake_on_connect=do_handshake_on_connect)


def demand_files(tls: Tls | None, key: str) -> None:
    """Raise UsageError where files of certificates cannot be used, with the key of the cluster file that names them."""
    if tls is None:
        return
    for name, path in (("ca_file", tls.ca_file), ("cert_file", tls.cert_file), ("key_file", tls.key_file)):
        if path is None:
            continue
        try:
            Path(path).expanduser().read_bytes()
        except OSError as error:
            msg = f"{key}.{name}: {path} cannot be read: {error.strerror}"
            raise UsageError(msg) from None
    try:
        context(_authorities(tls), True, None)  # noqa: FBT003 -- a function for vantages
    except (OSError, ValueError):
        msg = f"{key}.ca_file: {tls.ca_file} holds no certificate in PEM form"
        raise UsageError(msg) from None
    try:
        files = (tls.cert_file, tls.key_file or tls.cert_file) if tls.cert_file else None
        context(None, False, files)  # noqa: FBT003 -- a function for vantages
    except (OSError, ValueError):
        msg = f"{key}.cert_file: {tls.cert_file} and its key_file are no certificate and key, in PEM form and without a password"
        raise UsageError(msg) from None


def _authorities(tls: Tls | None) -> str:
    """Return the text of `ca_file`, "" for this machine's own authorities."""
    return Path(tls.ca_file).expanduser().read_text(encoding="ascii", errors="ignore") if tls and tls.ca_file else ""


def _name(target: Target) -> str:
    """Return a listener's name for people: it comes from the cluster."""
    return clean(target.listener)


def _wanted(target: Target) -> str:
    what = (
        "protocol: SSL, ca_file: …"
        if target.protocol == "SSL"
        else f"protocol: {clean(target.protocol)}, mechanism: …, username: …, password_env: …"
    )
    return f"listeners: {{{_name(target)}: {{{what}}}}} in the cluster file"
