"""How a cluster of the bed is secured: listeners, users, certificates, authorizer, and what of it is wrong on which broker."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from testbed.acls import Acl
from testbed.certificates import Certificate
from testbed.servers import BROKER_PORT

ADMIN, BROKER, AUDITOR = "admin", "kafka", "auditor"
SCRAM_ITERATIONS = 4096
SCRAM_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MODULES = {
    "OAUTHBEARER": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    **dict.fromkeys(SCRAM_HASHES, "org.apache.kafka.common.security.scram.ScramLoginModule"),
}
_VALIDATOR = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"  # since 4.1


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """Which tokens OAUTHBEARER listeners accept.

    Attributes:
        keys: file with the JSON web key set that signed them.
        issuer: ``iss`` of a token.
        audience: ``aud`` of a token.
    """

    keys: Path
    issuer: str
    audience: str

    @property
    def properties(self) -> dict[str, str]:
        """Kafka's own validation: signature, issuer, audience, and the end of a token to the second."""
        return {
            "sasl.oauthbearer.jwks.endpoint.url": self.keys.as_uri(),
            "sasl.oauthbearer.expected.issuer": self.issuer,
            "sasl.oauthbearer.expected.audience": self.audience,
            "sasl.oauthbearer.clock.skew.seconds": "1",
        }

    @property
    def jvm(self) -> tuple[str, ...]:
        """Brokers read keys only where the JVM's owner allows it (3.9.1)."""
        return (f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={self.keys.as_uri()}",)


@dataclass(frozen=True, kw_only=True)
class Tickets:
    """Which Kerberos tickets GSSAPI listeners accept.

    Attributes:
        configuration: krb5.conf.
        keytab: with the keys of all brokers, kafka/ADDRESS.
        realm: of these principals.
    """

    configuration: Path
    keytab: Path
    realm: str

    def properties(self, listener: "Listener", address: str) -> dict[str, str]:
        """Return what a broker at an address needs for a listener. Brokers ask no KDC: none of them logs in to another."""
        options = _quoted({"keyTab": str(self.keytab), "principal": f"kafka/{address}@{self.realm}"})
        options = f"useKeyTab=true storeKey=true isInitiator=false {options}"
        jaas = f"com.sun.security.auth.module.Krb5LoginModule required {options};"
        return {
            f"listener.name.{listener.label.lower()}.gssapi.sasl.jaas.config": jaas,
            "sasl.kerberos.service.name": "kafka",
        }

    @property
    def jvm(self) -> tuple[str, ...]:
        """The realm, for Java."""
        return (f"-Djava.security.krb5.conf={self.configuration}",)


@dataclass(frozen=True, kw_only=True)
class Listener:
    """One listener that every broker has, at the broker's own address.

    Attributes:
        protocol: one of `PROTOCOLS`.
        name: the listener's name; empty for the name of its protocol.
        port: TCP.
        mechanisms: SASL mechanisms, the inter-broker one first.
    """

    protocol: str = "PLAINTEXT"
    name: str = ""
    port: int = BROKER_PORT
    mechanisms: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The listener's name."""
        return self.name or self.protocol

    @property
    def sasl(self) -> bool:
        """Whether clients log in."""
        return self.protocol.startswith("SASL_")

    @property
    def tls(self) -> bool:
        """Whether the connection is encrypted."""
        return self.protocol.endswith("SSL")


def passwords(*users: str) -> dict[str, str]:
    """Return a random password for each user."""
    return {user: secrets.token_urlsafe(12) for user in users}


@dataclass(frozen=True, kw_only=True)
class Security:
    """The security of a cluster; everything is right unless said otherwise.

    Attributes:
        listeners: of every broker.
        inter_broker: label of the inter-broker listener; None leaves inter.broker.listener.name out, which means PLAINTEXT.
        asked: label of the listener that the bed itself asks; None for the first with a login, else the first.
        users: password by user; `BROKER` is who brokers log in as, `ADMIN` who the bed logs in as.
        authorizer: whether there is one. Without an ACL, it then denies all principals except super users.
        super_users: principals, on every broker (``per_broker`` of `Bed.cluster` changes ``super.users`` on one).
        acls: put in before brokers start.
        client_auth: ssl.client.auth of SSL listeners: ``none``, ``requested`` or ``required``.
        certificates: brokers whose certificate is out of the ordinary.
        forgets: broker -> users that its own PLAIN listeners do not know.
        mistypes: brokers that log in to others with a wrong password.
        authority_days: days until the certificate of the authority expires.
        zookeeper: ``plain``; ``sasl``: DIGEST-MD5 for the same users and zookeeper.set.acl; ``offered``: ZooKeeper accepts
            these logins, and brokers connect without one; ``tls``: only a TLS port, for which clients need a certificate;
            ``tls_offered``: both.
        tokens: for listeners with OAUTHBEARER.
        tickets: for listeners with GSSAPI.
        controller_login: whether KRaft controllers accept only clients that log in, with PLAIN: they start before they know
            any SCRAM user. Brokers and controllers log in as `BROKER`.
        controller_tls: whether KRaft controllers show certificates, of which `certificates` has faulty ones by node id.
    """

    listeners: tuple[Listener, ...] = (Listener(),)
    inter_broker: str | None = None
    asked: str | None = None
    users: Mapping[str, str] = field(default_factory=lambda: passwords(ADMIN, BROKER, AUDITOR))
    authorizer: bool = False
    super_users: tuple[str, ...] = (f"User:{ADMIN}", f"User:{BROKER}")
    acls: tuple[Acl, ...] = ()
    client_auth: Literal["none", "requested", "required"] = "none"
    certificates: Mapping[int, Certificate] = field(default_factory=dict)
    forgets: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    mistypes: tuple[int, ...] = ()
    authority_days: int = 4000
    zookeeper: Literal["plain", "offered", "sasl", "tls", "tls_offered"] = "plain"
    tokens: Tokens | None = None
    tickets: Tickets | None = None
    controller_login: bool = False
    controller_tls: bool = False

    def listener(self, label: str | None = None) -> Listener:
        """Return a listener by its label; without one, the listener that the bed asks.

        Raises:
            KeyError: there is no such listener.
        """
        label = label or self.asked
        if label is None:
            return next((listener for listener in self.listeners if listener.sasl), self.listeners[0])
        return {listener.label: listener for listener in self.listeners}[label]

    @property
    def tls(self) -> bool:
        """Whether brokers need certificates, or have to trust those of controllers."""
        return self.zookeeper_tls or self.controller_tls or any(listener.tls for listener in self.listeners)

    @property
    def zookeeper_tls(self) -> bool:
        """Whether ZooKeeper has a TLS port alone."""
        return self.zookeeper in {"tls", "tls_offered"}

    @property
    def scram_mechanisms(self) -> list[str]:
        """SCRAM mechanisms of any listener."""
        return sorted({name for listener in self.listeners for name in listener.mechanisms if name in SCRAM_HASHES})

    def scram_configs(self) -> dict[str, dict[str, str]]:
        """Return /config/users's entries, user -> mechanism -> credential, for the SCRAM mechanisms in use."""
        if not self.scram_mechanisms:
            return {}
        return {
            user: {mechanism: scram_credential(mechanism, password) for mechanism in self.scram_mechanisms}
            for user, password in self.users.items()
        }

    def properties(self, broker: int) -> dict[str, str]:
        """Return a broker's properties for SASL and the authorizer; addresses and certificates are the cluster's matter."""
        result = {}
        if self.inter_broker is not None:
            result["inter.broker.listener.name"] = self.inter_broker
            if mechanisms := self.listener(self.inter_broker).mechanisms:
                result["sasl.mechanism.inter.broker.protocol"] = mechanisms[0]
        logins = [listener for listener in self.listeners if listener.sasl]
        alike = len({listener.mechanisms for listener in logins}) == 1
        for login in logins:
            prefix = f"listener.name.{login.label.lower()}."
            result[f"{'' if alike else prefix}sasl.enabled.mechanisms"] = ",".join(login.mechanisms)
            for mechanism in (name for name in login.mechanisms if name != "GSSAPI"):  # see `Tickets.properties`
                result[f"{prefix}{mechanism.lower()}.sasl.jaas.config"] = self._jaas(mechanism, broker)
                if mechanism == "OAUTHBEARER":
                    result[f"{prefix}oauthbearer.sasl.server.callback.handler.class"] = _VALIDATOR
        result |= self.tokens.properties if self.tokens else {}
        if self.authorizer:
            result["super.users"] = ";".join(self.super_users)
        return result

    @property
    def controller_protocol(self) -> str:
        """The security protocol of the listener CONTROLLER."""
        plain = "SSL" if self.controller_tls else "PLAINTEXT"
        return f"SASL_{plain}" if self.controller_login else plain

    def controller_properties(self) -> dict[str, str]:
        """Return what brokers and controllers need to speak to controllers, and controllers to accept it."""
        if not self.controller_login:
            return {}
        return {
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.controller.plain.sasl.jaas.config": self._jaas("PLAIN"),
        }

    def controller_super_users(self) -> str:
        """Return the super users of controllers: where these accept connections without a login, ANONYMOUS is one."""
        anonymous = self.controller_protocol == "PLAINTEXT"
        return ";".join([*self.super_users, *(("User:ANONYMOUS",) if anonymous else ())])

    def _jaas(self, mechanism: str, broker: int | None = None) -> str:
        if mechanism == "OAUTHBEARER":
            return f"{_MODULES[mechanism]} required;"
        password = "mistyped" if broker in self.mistypes else self.users[BROKER]
        options = {"username": BROKER, "password": password}
        if mechanism == "PLAIN":
            forgotten = () if broker is None else self.forgets.get(broker, ())
            options |= {f"user_{user}": known for user, known in self.users.items() if user not in forgotten}
        return jaas(mechanism, options)


def jaas(mechanism: str, options: Mapping[str, str]) -> str:
    """Return the value of ``sasl.jaas.config`` for PLAIN or SCRAM."""
    return f"{_MODULES[mechanism]} required {_quoted(options)};"


def without_super_user(security: Security, user: str = BROKER) -> dict[str, str | None]:
    """Return the properties, for ``per_broker``, of a broker whose super.users lacks a user."""
    return {"super.users": ";".join(super_user for super_user in security.super_users if super_user != f"User:{user}")}


def scram_credential(mechanism: str, password: str, salt: bytes | None = None) -> str:
    """Return a SCRAM credential as Kafka stores it (RFC 5802, section 3).

    Args:
        mechanism: a key of `SCRAM_HASHES`.
        password: ASCII, for which SASLprep changes nothing.
        salt: random unless given.
    """
    algorithm = SCRAM_HASHES[mechanism]
    salt = salt or secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac(algorithm, password.encode(), salt, SCRAM_ITERATIONS)
    stored = hashlib.new(algorithm, hmac.digest(salted, b"Client Key", algorithm)).digest()
    server = hmac.digest(salted, b"Server Key", algorithm)
    salt64, stored64, server64 = (base64.b64encode(secret).decode() for secret in (salt, stored, server))
    return f"salt={salt64},stored_key={stored64},server_key={server64},iterations={SCRAM_ITERATIONS}"


def scram_argument(mechanism: str, user: str, password: str) -> str:
    """Return the value of StorageTool's ``--add-scram`` for a user; the password itself is not in it."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac(SCRAM_HASHES[mechanism], password.encode(), salt, SCRAM_ITERATIONS)
    salt64, salted64 = (base64.b64encode(secret).decode() for secret in (salt, salted))
    return f'{mechanism}=[name="{user}",iterations={SCRAM_ITERATIONS},salt="{salt64}",saltedpassword="{salted64}"]'


def digest_jaas(section: str, options: Mapping[str, str]) -> str:
    """Return a JAAS file's section for SASL with ZooKeeper (DIGEST-MD5)."""
    module = "org.apache.zookeeper.server.auth.DigestLoginModule"
    return f"{section} {{\n  {module} required\n  {_quoted(options)};\n}};\n"


def _quoted(options: Mapping[str, str]) -> str:
    return " ".join(f'{key}="{value}"' for key, value in options.items())
