"""What images of Kafka make of variables, and which release a tag runs: the rows of `images.yaml`. Pure."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.configuration.files.described import Mount
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.linted import Remark
from kafka_audit.model.package_yaml import package_yaml

PREFIX, BITNAMIS_PREFIX = "KAFKA_", "KAFKA_CFG_"
_ADVERTISED, _ROLES = "KAFKA_ADVERTISED_LISTENERS", "PROCESS_ROLES"
_STORE = ("KAFKA_SSL_KEYSTORE_FILENAME", "KAFKA_SSL_KEY_CREDENTIALS", "KAFKA_SSL_KEYSTORE_CREDENTIALS")
_TRUST = ("KAFKA_SSL_TRUSTSTORE_FILENAME", "KAFKA_SSL_TRUSTSTORE_CREDENTIALS")
_RELEASE = re.compile(r"(?:^|/)[a-z-]{0,60}kafka[a-z-]{0,60}:(?:[^@]{0,60}kafka-|2\.1[0-3]-|v)?(\d+\.\d+(?:\.\d+)?)")
_ANY_ID = (3, 7)  # from here on kafka-storage takes any text for the id of a cluster
_NAMES = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_PROTOCOL = re.compile(r"(?:PLAINTEXT|SSL)://|[$?{]")
_LATEST = frozenset({"", "latest"})
_TABLE: Mapping[str, Any] = package_yaml(__package__, "images.yaml")
FACTORS, FROM_BASE = frozenset(_TABLE["factors"]), frozenset(_TABLE["open"])
"""What an image that is not known, or one with a file of its own, may set where no variable does."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """A row of the table; `label` is "" for an image that it does not have, of which nothing but variables is known."""

    label: str = ""
    names: str = "$^"
    source: tuple[str, ...] = ()
    prefix: str = PREFIX
    listeners: str = ""
    open: bool = True
    unread: bool = False  # whether its own start reads no variables
    base: Mapping[str, str] = field(default_factory=dict)
    base_since: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hidden: tuple[str, ...] = tuple(sorted(FACTORS))  # what it sets to values that are not known
    aliases: Mapping[str, str] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()  # open keys that it never sets where listeners have names of their own
    advertises: str = ""  # what it does where no variable sets it, or nothing, by its tag
    log_dirs: str | None = None
    log_dirs_of_host: str = ""
    volumes: tuple[str, ...] = ()
    mounts: str = "config|kafka|entrypoint|\\.sh$"
    secured: bool = False  # whether it requires files and options of TLS and SASL, as Confluent's
    requires: tuple[Mapping[str, str], ...] = ()
    refuses: tuple[str, ...] = ()
    cluster_id: str = ""
    lacks: str = "(?!)"
    bin: str = ""
    user: str = ""  # who runs it, "" where that is root or not known
    owns: tuple[str, ...] = ()
    withdrawn: str = "(?!)"
    published: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    renamed_since: str = "999"
    alone: bool = False  # whether it starts without any variable
    unset: Mapping[str, str] = field(default_factory=dict)  # its whole file where no variable is a setting
    heap: str = ""  # options of the heap where the variable has none
    links: bool = False
    tag: str = "$^"
    platform: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    latest: str = ""

    @cached_property
    def derives(self) -> bool:
        """Whether listeners are derived from advertised ones."""
        return self.listeners == "derived"

    def release(self, name: str) -> str | None:
        """Return the release of Kafka that a tag runs, None where it names none."""
        tag = _tag(name)
        tag = self.latest if tag in _LATEST else tag
        minor = ".".join(tag.split(".")[:2])
        for known in (tag, minor.removesuffix(".Final")):
            if known in self.tags:
                return str(self.tags[known])
        match = re.search(self.tag, tag)
        if match is None or not self.platform:
            return match[1] if match else None
        if match[1] not in self.platform:
            return None
        major, first = self.platform[match[1]].split(".")
        patch = ".0" if match[3] == "0" else ""  # later ones have changes of their own
        return f"{major}.{int(first) + int(match[2])}{patch}"

    def ends(self, name: str, variables: Mapping[str, Property], line: int) -> Iterator[Property]:
        """Yield with which variables, or without which, it ends before Kafka starts: key, reason, line.

        Args:
            name: of the image, with its tag.
            variables: those of the container, by name.
            line: of the first of them.
        """
        variables = {
            **variables,
            **{self._written(key): variables[alias] for alias, key in self.aliases.items() if alias in variables},
        }
        roles, advertised = _text(variables, f"{self.prefix}{_ROLES}"), _text(variables, _ADVERTISED)
        if self.secured and roles == "controller" and advertised:
            yield Property(_ADVERTISED, f"it refuses {_ADVERTISED} of a controller", variables[_ADVERTISED].line)
        for variable in self.refuses:
            if _text(variables, variable):
                yield Property(variable, f"it refuses {variable}", variables[variable].line)
        for rule in self.requires:
            if self._holds(rule, name, variables) and _concerns(rule, roles):
                variable = rule["variable"]
                at = variables[variable].line if variable in variables else line
                yield Property(variable, rule.get("why", f"it requires {variable}"), at)
        if (written := _text(variables, self.cluster_id)) and self._refuses_id(name, written):
            reason = f"it formats with {self.cluster_id}, and {written[:40]} is no id: 16 bytes in base64"
            yield Property(self.cluster_id, reason, variables[self.cluster_id].line)
        for variable in _of_security(variables, advertised) if self.secured else ():
            if not _text(variables, variable):
                yield Property(variable, f"it requires {variable}", line)

    def missing_tool(self, probe: Property) -> Iterator[Remark]:
        """Yield that a probe calls a tool of Kafka which the image does not find; `probe` has its key, words and line."""
        if match := re.search(self.lacks.replace("TOOL", _TABLE["tools"]), probe.value):
            text = f"{probe.key} calls {match[0][:60]}, which {self.label} image does not find: the container never gets healthy"
            yield Remark(line=probe.line, text=text)
        for match in re.finditer(rf"(?<!\S)(/[\w/.-]{{1,60}}/bin)/(?:{_TABLE['tools']})", probe.value) if self.bin else ():
            if match[1] != self.bin:
                text = f"{probe.key} calls {match[0][:100]}, and {self.label} image has its tools in {self.bin}"
                yield Remark(line=probe.line, text=f"{text}: the container never gets healthy")

    def of_others(self, name: str, variables: Mapping[str, Property]) -> Iterator[Remark]:
        """Yield the variables that the start of another image reads, or that of earlier tags."""
        for old in sorted(variables.keys() & self.renamed.keys()):
            if version_numbers(self.release(name) or "0") >= version_numbers(self.renamed_since):
                text = f"{old} sets nothing: {self.label} image reads {self.renamed[old]}"
                yield Remark(line=variables[old].line, text=text)
        for label, names in _TABLE["own"].items():
            for one in sorted(variables.keys() & set(names)) if self.label and label != self.label else ():
                text = f"{one} sets nothing: {self.label} image does not read it, {label} does"
                yield Remark(line=variables[one].line, text=text)

    def folder_of_host(self, mounts: Iterable[Mount]) -> Iterator[Remark]:
        """Yield that a folder of the host has to belong to the image's user."""
        for mount in mounts:
            if self.user and mount.keeps and not mount.source:
                text = f"{self.label} image runs as user {self.user}, to whom the folder of the host has to belong on Linux"
                yield Remark(line=mount.line, text=text)

    def claim_of_root(self, mounts: Iterable[Mount]) -> Iterator[Remark]:
        """Yield that a volume of Kubernetes has to be given to the image's user."""
        for mount in mounts if self.user else ():
            text = f"no fsGroup: where new volumes belong to root, {self.label} image cannot write as user {self.user}"
            yield Remark(line=mount.line, text=text)

    def withdrawal(self, name: str, line: int) -> Iterator[Remark]:
        """Yield that an image's name is no longer published."""
        if re.search(self.withdrawn, name):
            yield Remark(line=line, text=f"{name[:60]} is no longer published, so no new host gets it: {self.published}")

    def _holds(self, rule: Mapping[str, str], name: str, variables: Mapping[str, Property]) -> bool:
        tag = re.search(r"\d+(?:\.\d+)+", self.latest if _tag(name) in _LATEST else re.sub(r"^2\.1[0-3]-", "", _tag(name)))
        if tag is None and not rule.keys().isdisjoint({"since", "before"}):
            return False
        if "of" in rule and re.fullmatch(rule["of"], _tag(name)) is None:
            return False
        version = version_numbers(tag[0] if tag else "0")
        since, before = version_numbers(rule.get("since", "0")), version_numbers(rule.get("before", "999"))
        conditions = (_text(variables, rule.get("with", "")) or "with" not in rule, not _text(variables, rule.get("without", "")))
        given, part = _text(variables, rule["variable"]), _text(variables, rule.get("names", ""))
        broken = bool(part) and "?" not in {given, part} and part not in given if "names" in rule else not given
        return since <= version < before and all(conditions) and broken

    def _refuses_id(self, name: str, written: str) -> bool:
        release = self.release(name)
        if "?" in written or "$" in written or release is None or version_numbers(release) >= _ANY_ID:
            return False
        return re.fullmatch(r"[A-Za-z0-9_-]{22}(?:==)?", written) is None

    def _written(self, key: str) -> str:
        return f"{self.prefix}{key.upper().replace('.', '_')}"

    def left_to(self, found: Mapping[str, Property]) -> frozenset[str]:
        """Return the keys that nothing else sets: of listeners whose names are no security protocols, or of its own listener."""
        listed = [found[key].value for key in _NAMES if key in found]
        controllers = _text(found, "controller.listener.names").split(",")
        bound = [one.strip() for one in _text(found, _NAMES[0]).split(",")]
        if [one for one in bound if one.partition("://")[0] not in controllers] == [self.advertises]:
            return frozenset({_NAMES[1]})
        return frozenset() if len(listed) < len(_NAMES) or any(map(_PROTOCOL.search, listed[:2])) else frozenset(self.leaves)

    def settings(self, version: str | None) -> Mapping[str, str]:
        """Return what its own file sets, by the release that it runs."""
        more = (
            added
            for since, added in self.base_since.items()
            if version is not None and version_numbers(version) >= version_numbers(since)
        )
        return {key: value for settings in (self.base, *more) for key, value in settings.items()}


_UNKNOWN, _LIKE_BITNAMIS = Image(), Image(prefix=BITNAMIS_PREFIX)


@cache
def known_images() -> tuple[Image, ...]:
    """Return the table."""
    return tuple(Image(**_typed(row)) for row in _TABLE["images"])


def _typed(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return {"open": False, "hidden": (), "mounts": "$^"} | plain


def image_of(name: str | None, variables: Mapping[str, Property]) -> Image:
    """Return the row of an image; without one, what its variables' names say."""
    for image in known_images():
        if name is not None and re.search(image.names, name):
            return image
    return _LIKE_BITNAMIS if any(variable.startswith(BITNAMIS_PREFIX) for variable in variables) else _UNKNOWN


def unpublished(name: str, line: int) -> Iterator[Remark]:
    """Yield that no host gets the image of a service beside the broker."""
    for pattern, why in _TABLE["gone"].items():
        if re.search(pattern, name):
            yield Remark(line=line, text=f"{name[:60]} {why}")


def missing_variables(name: str, variables: Mapping[str, Property], line: int) -> Iterator[Remark]:
    """Yield without which variables an image beside the broker ends."""
    for pattern, names in _TABLE["beside"].items():
        missing = [one for one in names if one not in variables] if re.search(pattern, name) else []
        if missing:
            yield Remark(line=line, text=f"{name[:60]} ends without {missing[0]}")


def removed(name: str, commands: Iterable[Property], variables: Mapping[str, Property]) -> Iterator[Remark]:
    """Yield options and variables that an image no longer has."""
    release = release_of(name) or "0"
    for command in commands:
        for pattern, since in _TABLE["options"].items():
            if version_numbers(release) >= version_numbers(since) and (match := re.search(pattern, command.value)):
                tool, option = match[0].split()[0], match[0].split()[-1]
                text = f"{tool} has no {option} since Kafka {since}, and {name[:60]} has {release}: give --bootstrap-server"
                yield Remark(line=command.line, text=text)
    for pattern, replaced in _TABLE["replaced"].items():
        for old in sorted(variables.keys() & replaced.keys()) if re.search(pattern, name) else ():
            if replaced[old] not in variables:
                text = f"{old} is not enough for {name[:60]}, which looks for the brokers in {replaced[old]}"
                yield Remark(line=variables[old].line, text=text)


def is_for_data(path: str) -> bool:
    """Return whether an image of the table keeps its data there, or just above."""
    return any(path.rstrip("/") in {folder, posixpath.dirname(folder)} for folder in _folders_of_data())


@cache
def _folders_of_data() -> frozenset[str]:
    return frozenset(_TABLE["folders"]) | {image.log_dirs for image in known_images() if image.log_dirs}


def release_of(name: str) -> str | None:
    """Return the release of Kafka that an image runs, None where its name does not say."""
    image = image_of(name, {})
    if image.label:
        return image.release(name)
    match = _RELEASE.search(name)
    return match[1] if match else None


def _tag(name: str) -> str:
    named, _, digest = name.partition("@")
    return named.rpartition("/")[2].partition(":")[2] or digest


def _text(variables: Mapping[str, Property], name: str) -> str:
    return variables[name].value.strip() if name in variables else ""


def _concerns(rule: Mapping[str, str], roles: str) -> bool:
    of_role = {"broker": roles != "controller", "controller": "controller" in roles}
    return of_role.get(rule.get("role", ""), True)


def _of_security(variables: Mapping[str, Property], advertised: str) -> Iterator[str]:
    client = _text(variables, "KAFKA_SSL_CLIENT_AUTH")
    if "SSL://" in advertised:
        yield from _STORE
        if "required" in client or "requested" in client:
            yield from _TRUST
    if "://" in advertised.partition("SASL_")[2]:
        yield "KAFKA_OPTS"
