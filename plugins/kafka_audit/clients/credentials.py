"""The security and the login for each listener: credentials are read here, at the moment of connecting.

Rules: the cluster file names a listener's security, or its protocol is that of `security`. A password, a SCRAM proof or a token
goes only to an address that the file names as host:port, or whose host matches `trusted_hosts`: what the cluster lists, any party
may have written who can write a znode or answers Metadata. The port counts, for behind another port of the same host another
process may listen. In clear text a secret goes only to an address that the file names: a name or a network alone proves nothing
where no certificate is shown. It goes only to an address that answered ApiVersions (kafka-python asks before it logs in). A
login that was refused is not tried at every other address, for that is how accounts get locked (`attempts`).

What counts is where the bytes go, which is the dialled address: `reach` names it, and TLS checks the advertised name, which is
the key of `reach`, so the file names both.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kafka_audit.clients.kerberos import SERVICE, Tickets
from kafka_audit.clients.login_attempts import Attempts, LoginTarget
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.scram_keys import SaltedPasswords, ScramKeys
from kafka_audit.clients.secrets.masking import secret_forms
from kafka_audit.clients.sockets import TlsContexts
from kafka_audit.clients.targets import PLAINTEXT, Target, named_addresses, routes, split_address
from kafka_audit.clients.tls import UNVERIFIED, TlsAccess, TlsFiles
from kafka_audit.clients.tokens.access_token import AccessToken, FixedToken, TokenCache, TokenProvider
from kafka_audit.clients.tokens.cloud import fetch_azure_token, fetch_google_token, fetch_msk_token
from kafka_audit.clients.tokens.oidc import fetch_oidc_token, shown_endpoint
from kafka_audit.compare.addresses import address_text, canonical_address, is_host, normal_host
from kafka_audit.model.addresses.trusted_hosts import parse_trusted_hosts, trusted_hosts_line
from kafka_audit.model.cluster import Cluster, Security, Tls
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BOOTSTRAP

IN_CLEAR_TEXT = frozenset({"PLAIN", "OAUTHBEARER"})
"""Mechanisms that hand the secret itself over; SCRAM sends a proof."""

_FOR_TRUSTED = IN_CLEAR_TEXT | {"SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI"}
"""Mechanisms after which the other end has the secret, what it can be computed from, or what it can log in with elsewhere.

A ticket is made for one service on one host (kafka/HOST). Which host that is may be the word of a name server (`rdns` and
`dns_canonicalize_hostname` of krb5.conf), and a process at another port of a broker's host gets a ticket for the broker: both
could pass it on to the broker and act as the auditor there. A client certificate is none of these: its key never leaves this
machine, and the name in it is public.
"""


class NotAsked(ReadError):  # noqa: N818 -- ReadError's own name
    """The cluster file has no security for a listener, so one read represents all."""


_HIDDEN = "***"
_PROOF = re.compile(r"[A-Za-z0-9+/=_-]{40,}")  # 44 characters of base64 from SHA-256, 64 of hexadecimal digits


_Attempt = Callable[[float], AbstractContextManager[None]]


def _anyhow(_seconds: float) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True, kw_only=True)
class ListenerSecurity:
    """The security of one address. `kafka` contains the arguments of kafka-python; `hidden` must not be shown."""

    kafka: Mapping[str, Any] = field(default_factory=dict, repr=False)
    hidden: tuple[str, ...] = field(default=(), repr=False)
    proves: bool = False  # SCRAM: a long token in the other end's words may be the proof that it was sent
    attempt: _Attempt = field(default=_anyhow, repr=False)
    needs: str | None = None  # what would help where the login is refused
    tokens: TokenCache | None = field(default=None, repr=False)
    scram: ScramKeys | None = None

    def hide(self, text: str | None) -> str | None:
        """Return a party's own words without the password or proof, should it echo it, also encoded."""
        if not text:
            return text
        for secret in (*self.hidden, *(self.tokens.seen if self.tokens else ())):
            text = text.replace(secret, _HIDDEN)
        return _PROOF.sub(_HIDDEN, text) if self.proves else text


class ClusterLogins:
    """The logins of one cluster, for one audit: it remembers refusals.

    Attributes:
        files: what its files of certificates held when the audit began.
    """

    def __init__(self, cluster: Cluster, secrets: Mapping[str, str]) -> None:
        """Take the cluster and where passwords are looked up.

        Raises:
            UsageError: a file of certificates cannot be used.
        """
        self._cluster = cluster
        self._secrets = secrets
        self._attempts: dict[Security, Attempts] = {}
        self._tokens: dict[Security, TokenCache] = {}
        self._salted = SaltedPasswords()
        self._tickets = Tickets()
        self._offered: dict[str, str] = {}
        self.files = TlsFiles(cluster)
        self._named = _named(cluster)
        self._in_file = named_addresses(cluster)
        self._trusted = tuple(parse_trusted_hosts(host) for host in cluster.trusted_hosts)

    def security(self, target: Target) -> Security | None:
        """Return what the cluster file says of a listener, None where it says nothing."""
        named = self._cluster.listeners.get(target.listener)
        if named is not None:
            return named
        return self._cluster.security if self._cluster.security.protocol == target.protocol else None

    def tls(self, target: Target) -> tuple[str, TlsContexts]:
        """Return what `sockets.secure` takes: the name to verify, and the contexts.

        A client certificate is also presented to addresses that only the cluster lists: see _FOR_TRUSTED.
        """
        access = self._access(target)
        return target.host, UNVERIFIED if access is None else access.contexts

    def authorities(self, target: Target) -> str | None:
        """Return the certificates of the `ca_file` for a target as PEM text, None without one."""
        access = self._access(target)
        return None if access is None else access.authorities

    def judges(self, target: Target) -> bool:
        """Return whether a `ca_file` is set."""
        return self.authorities(target) is not None

    @property
    def zookeeper_tls(self) -> TlsAccess | None:
        """How TLS to ZooKeeper is opened, None without it."""
        access = self._cluster.zookeeper
        return None if access is None or access.tls is None else self.files.access(access.tls)

    def _access(self, target: Target) -> TlsAccess | None:
        security = self.security(target)
        return self.files.access(security.tls) if security is not None and security.protocol.endswith("SSL") else None

    def mechanism(self, target: Target) -> str:
        """Return the mechanism to name when asking which there are."""
        security = self.security(target)
        return (security and security.mechanism) or "PLAIN"

    def offers(self, target: Target, mechanisms: str) -> None:
        """Keep the mechanisms of a listener, to avoid logins that cannot succeed."""
        self._offered[target.address] = clean_line(mechanisms)

    def passwords(self) -> frozenset[str]:
        """Return every password that the cluster file names, as far as they are there, and every token that was fetched."""
        zookeeper = self._cluster.zookeeper
        securities = [
            self._cluster.security,
            *(security for security in self._cluster.listeners.values() if security is not None),
        ]
        names = {security.password_env for security in securities} | {zookeeper.password_env if zookeeper else None}
        fetched = (token for tokens in list(self._tokens.values()) for token in tokens.seen)
        return frozenset(filter(None, (*(self._secrets.get(name) for name in names if name), *fetched)))

    def names(self, target: Target) -> bool:
        """Return whether the cluster file names the address that is dialled, as host:port."""
        return _compared(*target.dialled) in self._named

    def _matches(self, target: Target, *, by_name: bool) -> bool:
        """Return whether `trusted_hosts` matches a target; with `by_name`, patterns and networks do not count."""
        patterns = (pattern for pattern in self._trusted if pattern.names_one_host or not by_name)
        return any(pattern.matches(*target.dialled) for pattern in patterns)

    def demand_dialled(self, target: Target) -> None:
        """Raise ReadError where `limits.dial_untrusted` leaves an address out, from here and from every vantage."""
        places = {_compared(target.host, target.port), _compared(*target.dialled)}
        if self._cluster.limits.dial_untrusted or places & self._in_file or self._matches(target, by_name=False):
            return
        text = "not dialled: not in the cluster file and not in its trusted_hosts"
        raise ReadError(
            ReadFailure.NOT_DIALLED, f"{clean_line(target.address)}: {text}", trust_advice(target.dialled[0]), error=text
        )

    def demand_known(self, target: Target) -> Security:
        """Return the security of a listener; raises NotAsked if the cluster file has none or another one."""
        security = self.security(target)
        if security is None and target.protocol == PLAINTEXT:
            return Security()
        if security is None:
            raise NotAsked(ReadFailure.NO_CREDENTIALS, f"{_name(target)} is {target.protocol}", _expected(target))
        if security.protocol != target.protocol:
            message = f"the cluster file says {security.protocol}, the cluster says {target.protocol}"
            raise NotAsked(ReadFailure.PROTOCOLS_DIFFER, message, _expected(target))
        return security

    def listener_security(self, target: Target, seconds: float | None = None) -> ListenerSecurity:
        """Return the security for a target; raises ReadError if there is none.

        Args:
            target: the address.
            seconds: how long to wait for a token, where the login takes one that must be fetched; default: `limits.read_s`.
        """
        self.demand_dialled(target)
        security = self.demand_known(target)
        if security.protocol == PLAINTEXT:
            return ListenerSecurity()
        options: dict[str, Any] = {"security_protocol": security.protocol}
        if security.protocol.endswith("SSL"):
            options["ssl_context"] = self._named_context(target)
        if security.mechanism is None:
            return ListenerSecurity(kafka=options)
        return self._login(target, security, options, self._cluster.limits.read_s if seconds is None else seconds)

    def login_wanted(self, target: Target, mechanisms: str) -> ReadError:
        """Return the error of reads at a listener that answers a handshake with these mechanisms, where no login was sent."""
        # A password in clear text is proposed only where nothing else is offered.
        offered = [name for name in mechanisms.split(",") if name not in IN_CLEAR_TEXT] or mechanisms.split(",")
        text = f"protocol: SASL_{target.protocol}, mechanism: {' or '.join(offered) or '…'}, username: …, password_env: …"
        where = "security: {@}" if target.listener == BOOTSTRAP else f"listeners: {{{_name(target)}: {{@}}}}"
        message = f"{clean_line(target.address)} answers ApiVersions and a SASL handshake, and closes every other request"
        return ReadError(ReadFailure.LOGIN_WANTED, message, f"{where.replace('@', text)} in the cluster file")

    def without_login(self, target: Target) -> ListenerSecurity:
        """Return the security for a connection that does not log in, on which a broker answers ApiVersions and nothing else."""
        if not target.protocol.endswith("SSL"):
            return ListenerSecurity()
        return ListenerSecurity(kafka={"security_protocol": "SSL", "ssl_context": self._named_context(target)})

    def _named_context(self, target: Target) -> "_Named":
        name, contexts = self.tls(target)
        return _Named(contexts.strict, name)

    def _login(self, target: Target, security: Security, options: dict[str, Any], seconds: float) -> ListenerSecurity:
        mechanism = security.mechanism or ""
        self._demand_trusted(target, security)
        self._demand_offered(target, security)
        options["sasl_mechanism"] = mechanism
        if mechanism == "GSSAPI":
            self._tickets.request(target.host, seconds)
            # The name that the broker advertises, as Java clients do; `reach` may dial another one.
            options["sasl_kerberos_service_name"], options["sasl_kerberos_domain_name"] = SERVICE, target.host
            key = f"the key of {SERVICE}/{clean_line(target.host)} that the KDC has, and a clock that agrees"
            needs = f"in the keytab of {_place(target)} {key}; or a rule that maps the auditor's principal"
            return ListenerSecurity(kafka=options, needs=needs)
        if security.fetches_tokens:
            return self._token_login(target, security, seconds, options)
        password = self._password(security)
        hidden = tuple(secret_forms(password))
        if mechanism == "OAUTHBEARER":
            options["sasl_oauth_token_provider"] = FixedToken(password)
            needs = f"a token in {security.password_env} that {_place(target)} accepts"
            return ListenerSecurity(kafka=options, hidden=hidden, needs=needs)
        options |= {"sasl_plain_username": security.username, "sasl_plain_password": password}
        needs = f"a user and password that {_place(target)} accepts ({security.username}, {security.password_env})"
        proves = mechanism not in IN_CLEAR_TEXT
        attempt = self._attempt(target, security)
        address = address_text(*_compared(*target.dialled))
        keys = ScramKeys(salted=self._salted, address=address, mechanism=mechanism, password=password) if proves else None
        return ListenerSecurity(kafka=options, hidden=hidden, proves=proves, attempt=attempt, needs=needs, scram=keys)

    def _attempt(self, target: Target, security: Security) -> _Attempt:
        """Return how a password is tried at a target.

        Refusals of tokens and tickets lock no account, and each broker has its own keys and rules for them: one that refuses
        them says nothing of the others.
        """
        place = LoginTarget(
            address=address_text(*_compared(*target.dialled)),
            listener=target.listener,
            host=None if self.names(target) else normal_host(target.dialled[0]),
        )
        return partial(self._attempts.setdefault(security, Attempts()).at, place)

    def _password(self, security: Security) -> str:
        password = self._secrets.get(security.password_env or "")
        if not password:
            raise ReadError(
                ReadFailure.NO_CREDENTIALS,
                f"{security.password_env} is not set",
                f"the environment variable {security.password_env}",
            )
        return password

    def _token_login(self, target: Target, security: Security, seconds: float, options: dict[str, Any]) -> ListenerSecurity:
        """Return the login with a token that is fetched, now if there is none that lasts; raises ReadError."""
        fetch, source, needs = self._token_source(security, _place(target))
        tokens = self._tokens.setdefault(security, TokenCache(fetch))
        token = tokens.token(seconds)
        about = f"; {source} issued this one{f' with {token.about}' if token.about else ''}"
        extensions = dict(security.oidc.extensions) if security.oidc else {}
        options["sasl_oauth_token_provider"] = TokenProvider(tokens, seconds, extensions)
        hidden = tuple(form for secret in (token.value, token.inner) if secret for form in secret_forms(secret))
        return ListenerSecurity(kafka=options, hidden=hidden, needs=needs + about, tokens=tokens)

    def _token_source(self, security: Security, place: str) -> tuple[Callable[[float], AccessToken], str, str]:
        """Return what fetches tokens, who issues them, and what would help where a broker refuses one."""
        oidc = security.oidc
        if oidc is not None:
            context = self.files.access(Tls(ca_file=oidc.ca_file)).context
            fetch = partial(fetch_oidc_token, oidc, context, security.username or "", self._password(security))
            needs = f"a token that {place} accepts: see its sasl.oauthbearer.expected.audience and .issuer"
            return fetch, shown_endpoint(oidc.token_endpoint), needs
        if security.msk_region is not None:
            needs = f"an AWS identity that may kafka-cluster:Connect to the cluster of {place}"
            return partial(fetch_msk_token, security.msk_region), f"AWS region {security.msk_region}", needs
        if security.google_cloud:
            needs = f"a service account with the role roles/managedkafka.client in the project of {place}"
            return fetch_google_token, "Google", needs
        scope = security.azure_scope or ""
        needs = f"an Azure identity that {place} accepts; for Event Hubs, one with a role such as Data Receiver"
        return partial(fetch_azure_token, scope), f"Microsoft Entra ID (scope {scope})", needs

    def _demand_trusted(self, target: Target, security: Security) -> None:
        """Raise ReadError where a password would go to an address that the cluster file does not name or trust."""
        mechanism = security.mechanism or ""
        if mechanism not in _FOR_TRUSTED or self.names(target):
            return
        if mechanism in IN_CLEAR_TEXT and not security.protocol.endswith("SSL"):
            where = f"{clean_line(target.address)} is not in the cluster file"
            raise ReadError(
                ReadFailure.NOT_TRUSTED,
                f"not tried: {mechanism} without TLS sends the password in clear text, and {where}",
                f"{clean_line(target.advertised)} in bootstrap of the cluster file, or a listener with TLS or SCRAM",
            )
        clear_text = not security.protocol.endswith("SSL")
        if not self._matches(target, by_name=clear_text):
            message = f"not tried: {clean_line(target.address)} is not in the cluster file and not in its trusted_hosts"
            ports = sorted(port for host, port in self._named if host == normal_host(target.dialled[0]))
            if ports:
                named = f"names this host with {'port' if len(ports) == 1 else 'ports'} {', '.join(map(str, ports[:3]))} only"
                message = (
                    f"not tried: {clean_line(target.address)}: the cluster file {named}, and trusted_hosts does not match it"
                )
            if clear_text and self._matches(target, by_name=False):
                unsure = f"does not prove who is at {clean_line(target.address)}"
                message = f"not tried: without TLS, a pattern or a network of trusted_hosts {unsure}"
            raise ReadError(
                ReadFailure.NOT_TRUSTED,
                message,
                trust_advice(target.host),
                normal_host(target.host) if is_host(target.host) else None,
            )

    def _demand_offered(self, target: Target, security: Security) -> None:
        """Raise ReadError where the listener does not offer the mechanism, so that no login can succeed."""
        mechanism, offered = security.mechanism or "", self._offered.get(target.address)
        if offered is None or mechanism in offered.split(","):
            return
        message = f"not tried: {mechanism} is not enabled on {_place(target)}, which offers {offered or 'none'}"
        # A downgrade from a proof to sending the password must not be suggested.
        instead = [part for part in offered.split(",") if mechanism in IN_CLEAR_TEXT or part not in IN_CLEAR_TEXT]
        hint = f"mechanism: {','.join(instead) or '…'} for {_place(target)} in the cluster file"
        enabled = f"{mechanism} in sasl.enabled.mechanisms of {_place(target)}"
        raise ReadError(ReadFailure.MECHANISM_NOT_OFFERED, message, hint if instead else enabled)


@dataclass(frozen=True)
class _Named:
    """A TLS context that shows and checks the advertised name, also where `reach` dials another address."""

    context: Any
    name: str

    def wrap_socket(self, sock: Any, *, server_hostname: str | None, do_handshake_on_connect: bool) -> Any:  # noqa: ANN401, ARG002 -- kafka-python's call
        """Return the socket inside TLS."""
        return self.context.wrap_socket(sock, server_hostname=self.name, do_handshake_on_connect=do_handshake_on_connect)


def _named(cluster: Cluster) -> set[tuple[str, int]]:
    """Return the addresses that a cluster file lets this machine dial; where `reach` leads elsewhere, that counts."""
    instead = routes(cluster)
    found = set(instead.values())
    for key, addresses in (("bootstrap", cluster.bootstrap), ("controllers", cluster.controllers)):
        for address in addresses:
            host, port = split_address(address, f"clusters.{cluster.name}.{key}")
            found.add(instead.get(canonical_address(host, port), address))
    return {_compared(*split_address(address, "reach")) for address in found}


def _compared(host: str, port: int) -> tuple[str, int]:
    return normal_host(host), port


def trust_advice(host: str) -> str:
    """Return what lets a password go to a host that the cluster lists: the line to add, where it is a host at all."""
    return trusted_hosts_line([host]) if is_host(host) else "an address that is a host name or an IP address"


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


def _name(target: Target) -> str:
    """Return a listener's name for people and for a line of YAML: it comes from the cluster."""
    name = clean_line(target.listener)
    return name if _PLAIN_NAME.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _place(target: Target) -> str:
    """Return a listener for people; where only its address is known, that."""
    return clean_line(target.address) if target.listener == BOOTSTRAP else f"listener {_name(target)}"


def _expected(target: Target) -> str:
    what = (
        "protocol: SSL, ca_file: …"
        if target.protocol == "SSL"
        else f"protocol: {clean_line(target.protocol)}, mechanism: …, username: …, password_env: …"
    )
    return f"listeners: {{{_name(target)}: {{{what}}}}} in the cluster file"
