"""A cluster's `Security` made real: its certificate files, and the settings of servers and clients."""

import base64
import hashlib
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

from testbed.certificates import OWNER_ONLY, STORE_PASSWORD, Authority, KeyPair
from testbed.security import ADMIN, AUDITOR, BROKER, Security, digest_jaas, jaas
from testbed.servers import Server

ZOOKEEPER_TLS_PORT = 2182
PASSWORD_VARIABLE = "KAFKA_AUDIT_PASSWORD"  # noqa: S105 - the variable's name


@dataclass(kw_only=True)
class Secured:
    """The security of one cluster.

    Attributes:
        security: what was wanted.
        folder: of the cluster; certificates go to ``tls`` below it.
        parties: certificates issued so far, by common name.
    """

    security: Security
    folder: Path
    parties: dict[str, KeyPair] = field(default_factory=dict)
    _authority: Authority | None = None

    @property
    def authority(self) -> Authority:
        """The certificate authority that all parties trust."""
        self._authority = self._authority or Authority(
            self.folder / "tls", valid_for=timedelta(days=self.security.authority_days)
        )
        return self._authority

    def party(self, name: str, address: str = "", broker: int | None = None) -> KeyPair:
        """Return the certificate of a party, issued at the first call.

        Args:
            name: common name, such as ``broker-0`` or a client's.
            address: of its host; clients need none.
            broker: its id, by which `Security.certificates` may make it a faulty one.
        """
        if name not in self.parties:
            wanted = self.security.certificates.get(broker) if broker is not None else None
            self.parties[name] = self.authority.issue(name, (address,) if address else (), wanted)
        return self.parties[name]

    def listener_properties(self, address: str) -> dict[str, str]:
        """Return ``listeners``, ``advertised.listeners`` at an address and, where names are no protocols, the map."""
        listeners = self.security.listeners
        where = ",".join(f"{listener.label}://{address}:{listener.port}" for listener in listeners)
        result = {"listeners": where, "advertised.listeners": where}
        if any(listener.label != listener.protocol for listener in listeners):
            result["listener.security.protocol.map"] = ",".join(f"{listener.label}:{listener.protocol}" for listener in listeners)
        return result

    def broker_properties(self, broker: int, address: str) -> dict[str, str]:
        """Return all that security adds to a broker's properties, ZooKeeper's side and the authorizer's class apart."""
        result = self.listener_properties(address) | self.security.properties(broker)
        if self.security.tickets:
            for listener in self.security.listeners:
                result |= self.security.tickets.properties(listener, address) if "GSSAPI" in listener.mechanisms else {}
        if self.security.tls:
            pair = self.party(f"broker-{broker}", address, broker)
            result |= _stores("", pair)
            if self.security.client_auth != "none":
                result["ssl.client.auth"] = self.security.client_auth
        return result

    def controller_stores(self, node: int, address: str) -> dict[str, str]:
        """Return the stores of a KRaft controller; nothing where controllers show no certificate."""
        if not self.security.controller_tls:
            return {}
        asked = {"ssl.client.auth": self.security.client_auth} if self.security.client_auth != "none" else {}
        return _stores("", self.party(f"controller-{node}", address, node)) | asked

    def right_properties(self, broker: int, address: str) -> dict[str, str]:
        """Return a broker's properties without any of the faults; its certificate is issued again."""
        self.security = replace(
            self.security,
            certificates={holder: wanted for holder, wanted in self.security.certificates.items() if holder != broker},
            forgets={forgetting: users for forgetting, users in self.security.forgets.items() if forgetting != broker},
            mistypes=tuple(mistyping for mistyping in self.security.mistypes if mistyping != broker),
        )
        self.parties.pop(f"broker-{broker}", None)
        return self.broker_properties(broker, address)

    def client_options(self, user: str = ADMIN, label: str | None = None) -> dict[str, object]:
        """Return kafka-python's options for a user of a listener (None: the one the bed asks).

        For SSL the user is the common name of a client certificate. Passwords are in it: pass it on by standard input.
        """
        listener = self.security.listener(label)
        result: dict[str, object] = {"security_protocol": listener.protocol}
        if listener.sasl:
            result |= {"sasl_mechanism": listener.mechanisms[0], "sasl_plain_username": user}
            result["sasl_plain_password"] = self.security.users[user]
        if listener.tls:
            # The bed wants an answer from a broker whose certificate is wrong, too.
            result["trust_anybody"] = True
            if not listener.sasl:
                pair = self.party(user)
                result |= {"ssl_certfile": str(pair.certificate), "ssl_keyfile": str(pair.key)}
        return result

    def java_client(self, user: str = ADMIN) -> dict[str, str]:
        """Return the settings of a Java client of the listener that the bed asks; a password is in them."""
        listener = self.security.listener()
        settings = {"security.protocol": listener.protocol}
        if listener.sasl:
            settings["sasl.mechanism"] = listener.mechanisms[0]
            settings["sasl.jaas.config"] = jaas(listener.mechanisms[0], {"username": user, "password": self.security.users[user]})
        if listener.tls:
            pair = self.party(user)
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(pair.truststore)}
            settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(pair.keystore)}
        return settings

    def audit_settings(self, user: str = AUDITOR, label: str | None = None) -> dict[str, object]:
        """Return the ``security`` of a clusters.yaml for a user; its password is expected in `PASSWORD_VARIABLE`."""
        listener = self.security.listener(label)
        result: dict[str, object] = {"protocol": listener.protocol}
        if listener.sasl:
            result |= {"mechanism": listener.mechanisms[0], "username": user, "password_env": PASSWORD_VARIABLE}
        if listener.tls:
            result["ca_file"] = str(self.authority.ca_file)
            if not listener.sasl:
                pair = self.party(user)
                result |= {"cert_file": str(pair.certificate), "key_file": str(pair.key)}
        return result

    def audit_controllers(self, user: str = AUDITOR) -> dict[str, object]:
        """Return what ``listeners`` of a clusters.yaml has for the listener of KRaft controllers."""
        login = {"mechanism": "PLAIN", "username": user, "password_env": PASSWORD_VARIABLE}
        found: dict[str, object] = {"protocol": self.security.controller_protocol}
        found |= login if self.security.controller_login else {}
        if self.security.controller_tls:
            found["ca_file"] = str(self.authority.ca_file)
            if self.security.client_auth == "required":
                pair = self.party(user)
                found |= {"cert_file": str(pair.certificate), "key_file": str(pair.key)}
        return found

    def audit_environment(self, user: str = AUDITOR) -> dict[str, str]:
        """Return the environment that `audit_settings` counts on."""
        return {PASSWORD_VARIABLE: self.security.users[user]}

    def audit_zookeeper(self, connect: str, user: str = AUDITOR) -> object:
        """Return the ``zookeeper`` of a clusters.yaml for a user."""
        access: dict[str, object] = {"connect": connect}
        if self._zookeeper_logs_in:
            access["sasl"] = {"username": user, "password_env": PASSWORD_VARIABLE}
        if self.security.zookeeper_tls:
            pair = self.party(user)
            files = {"cert_file": str(pair.certificate), "key_file": str(pair.key)}
            access["tls"] = {"ca_file": str(self.authority.ca_file), **files}
        return access if len(access) > 1 else connect

    @property
    def _zookeeper_logs_in(self) -> bool:
        return self.security.zookeeper in {"sasl", "offered", "tls_offered"}

    def secure_zookeeper(self, server: Server) -> None:
        """Give the ZooKeeper server what it needs for SASL or TLS."""
        if self._zookeeper_logs_in:
            users = {f"user_{user}": password for user, password in self.security.users.items()}
            server.properties["authProvider.1"] = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
            server.jvm = [
                f"-Djava.security.auth.login.config={self._private('zookeeper.jaas', digest_jaas('Server', users))}",
                f"-Dzookeeper.DigestAuthenticationProvider.superDigest={_super_digest(self._super_password)}",
            ]
        if self.security.zookeeper_tls:
            address = server.properties.pop("clientPortAddress")
            server.properties.pop("clientPort")
            server.properties |= {"secureClientPort": str(ZOOKEEPER_TLS_PORT), "secureClientPortAddress": address}
            server.properties["serverCnxnFactory"] = "org.apache.zookeeper.server.NettyServerCnxnFactory"
            pair = self.party("zookeeper", address)
            server.properties |= {"ssl.keyStore.location": str(pair.keystore), "ssl.trustStore.location": str(pair.truststore)}

    def secure_zookeeper_client(self, server: Server, broker: int) -> None:
        """Give a broker what it needs to speak to that ZooKeeper."""
        if self.security.zookeeper == "sasl":
            server.jvm = self.zookeeper_login()
            server.properties["zookeeper.set.acl"] = "true"
        elif self.security.zookeeper_tls:
            server.properties["zookeeper.ssl.client.enable"] = "true"
            server.properties["zookeeper.clientCnxnSocket"] = "org.apache.zookeeper.ClientCnxnSocketNetty"
            server.properties |= _stores("zookeeper.", self.party(f"broker-{broker}", server.host.address, broker))

    def zookeeper_login(self) -> list[str]:
        """Return the JVM options with which a broker, or one of Kafka's tools, logs in to ZooKeeper as brokers do."""
        options = {"username": BROKER, "password": self.security.users[BROKER]}
        return [f"-Djava.security.auth.login.config={self._private('broker.jaas', digest_jaas('Client', options))}"]

    def zookeeper_options(self) -> dict[str, object]:
        """Return how the bed itself enters ZooKeeper: kazoo's options, with ``super`` and ``owner`` for `zookeeper_client`."""
        match self.security.zookeeper:
            case "sasl":
                return {"super": self._super_password, "owner": BROKER}
            case "offered":
                return {"super": self._super_password}
            case "tls" | "tls_offered":
                pair = self.party("bed")
                files = {"ca": str(self.authority.ca_file), "certfile": str(pair.certificate), "keyfile": str(pair.key)}
                return {"use_ssl": True, **files}
            case _:
                return {}

    @property
    def _super_password(self) -> str:
        return hashlib.sha256("".join(self.security.users.values()).encode()).hexdigest()

    def _private(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.touch(OWNER_ONLY)
        path.chmod(OWNER_ONLY)
        path.write_text(text)
        return path


def _stores(prefix: str, pair: KeyPair) -> dict[str, str]:
    if prefix == "zookeeper.":
        key = {"type": "PEM", "location": str(pair.keystore)}
    else:
        key = {"type": "PKCS12", "location": str(pair.pkcs12), "password": STORE_PASSWORD}
    trusted = {f"{prefix}ssl.truststore.type": "PEM", f"{prefix}ssl.truststore.location": str(pair.truststore)}
    return {f"{prefix}ssl.keystore.{name}": value for name, value in key.items()} | trusted


def _super_digest(password: str) -> str:
    # SHA-1 is what ZooKeeper's digest scheme asks for.
    digest = hashlib.sha1(f"super:{password}".encode(), usedforsecurity=False).digest()
    return f"super:{base64.b64encode(digest).decode()}"
