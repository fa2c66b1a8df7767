"""Jars of a Kafka release, resolved once into the user's cache by Maven or by the Ivy that pyspark brings along."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from testbed.errors import BedError

RESOLVE_SECONDS = 600
_OWN = "org.apache.kafka,org.apache.zookeeper"
_PLAIN = 2  # colons of coordinates without a classifier, which Ivy is not asked for
COMPLETE = "COMPLETE"  # marker: one jar name a line, written last


@dataclass(frozen=True, kw_only=True)
class Release:
    """A Kafka release whose jars the bed gets.

    Attributes:
        scala: Scala version in the artifact's name.
        extra: further ``group:artifact:version`` coordinates. Kafka's pom leaves the choice of a logging back end
            open (slf4j-api alone), and ``kafka.utils.Log4jController`` wants the log4j 1 classes: reload4j has both.
        zookeeper: whether the bed starts it with ZooKeeper.
        kraft: whether the bed starts it without.
        topic_ids: whether topic znodes carry an id (KIP-516, 2.8).
        without: ``group:artifact`` of dependencies that no server of the bed needs, left out because their registry lacks them.
    """

    scala: str = "2.13"
    extra: tuple[str, ...] = ("org.slf4j:slf4j-reload4j:1.7.36",)
    zookeeper: bool = True
    kraft: bool = False
    topic_ids: bool = True
    without: tuple[str, ...] = ()


RELEASES: dict[str, Release] = {
    "1.1.1": Release(scala="2.12", topic_ids=False),
    "2.8.2": Release(),
    "3.9.1": Release(kraft=True),
    "4.3.0": Release(zookeeper=False, kraft=True),
    "4.4.0": Release(zookeeper=False, kraft=True, without=("org.apache.kafka:kafka-tools-api",)),
}

"""The releases that scenarios run on; an upgrade starts others of `COMPARED`, too."""

COMPARED: dict[str, Release] = {
    **dict.fromkeys(("1.0.2", "2.0.1", "2.1.1", "2.2.2", "2.3.1"), Release(scala="2.12", topic_ids=False)),
    **dict.fromkeys(("2.4.1", "2.5.1", "2.6.3", "2.7.2"), Release(topic_ids=False)),
    **dict.fromkeys(("3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1"), Release(kraft=True)),
    **dict.fromkeys(("4.0.2", "4.1.2", "4.2.2"), Release(zookeeper=False, kraft=True)),
    **RELEASES,
}
"""The releases whose KafkaConfig `lint` is compared with. Upgrades start some of them."""


HADOOP, AWS_SDK = "3.5.0", "2.35.4"
"""The version of Hadoop in the installed Spark, and that of the AWS SDK which its S3 client was made for."""

_NETTY = ("buffer", "codec", "codec-http", "codec-http2", "common", "handler", "resolver", "transport")
_NETTY_OF_UNIX = ("transport-classes-epoll", "transport-native-unix-common")
S3A_WITHOUT = (
    "software.amazon.awssdk:bundle",
    # Spark has them, and those in front of its own would be used.
    *(f"io.netty:netty-{name}" for name in (*_NETTY, *_NETTY_OF_UNIX)),
    "org.slf4j:slf4j-api",
    "commons-logging:commons-logging",
    "commons-codec:commons-codec",
)


def release(version: str) -> Release:
    """Return what the bed knows of a Kafka version.

    Raises:
        BedError: the bed does not know this version.
    """
    try:
        return COMPARED[version]
    except KeyError:
        known = ", ".join(sorted(COMPARED))
        message = f"the test bed has no Kafka {version}; it knows {known}"
        raise BedError(message) from None


def java() -> str:
    """Return the path of ``java``, from JAVA_HOME or PATH.

    Raises:
        BedError: there is none.
    """
    home = os.environ.get("JAVA_HOME")
    if home and (candidate := Path(home, "bin", "java")).is_file():
        return str(candidate)
    found = shutil.which("java")
    if found is None:
        message = "no java on PATH nor in JAVA_HOME: install a Java 17 runtime (Debian: openjdk-17-jre-headless)"
        raise BedError(message)
    return found


def cache_dir() -> Path:
    """Return the folder that keeps resolved releases, outside of any checkout."""
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "kafka-audit" if base else Path.home() / ".cache" / "kafka-audit"


def kafka_jars(version: str) -> Path:
    """Return a folder with all jars that ZooKeeper and a broker of this version need.

    The folder is published whole or not at all, so two processes may resolve at the same time.

    Args:
        version: a key of `COMPARED`.

    Raises:
        BedError: unknown version, or neither Maven nor Ivy could resolve it.
    """
    wanted = COMPARED.get(version) or release(version)
    return _cached(f"kafka-{version}", (f"org.apache.kafka:kafka_{wanted.scala}:{version}", *wanted.extra), wanted.without)


def own_jars(version: str) -> list[Path]:
    """Return Kafka's own jars of a broker of this version, without those of other projects.

    Args:
        version: a key of `COMPARED`.

    Raises:
        BedError: unknown version, or Maven is missing or could not resolve it.
    """
    wanted = release(version)
    folder = cache_dir() / f"kafka-{version}"
    if not _is_complete(folder):
        folder = _cached(
            f"kafka-own-{version}", (f"org.apache.kafka:kafka_{wanted.scala}:{version}",), wanted.without, groups=_OWN
        )
    return sorted(folder.glob("kafka*.jar"))


def zookeeper_jars(version: str) -> list[Path]:
    """Return the jar of a ZooKeeper release.

    Raises:
        BedError: Maven is missing, or could not resolve it.
    """
    coordinates = (f"org.apache.zookeeper:zookeeper:{version}",)
    folder = _cached(f"zookeeper-own-{version}", coordinates, (), main="zookeeper-", groups=_OWN)
    return sorted(folder.glob("zookeeper-[0-9]*.jar"))


def tool_jars(version: str) -> Path:
    """Return a folder with all jars that the command line tools of this version need.

    Since 3.7 most of them are in an artifact of their own, ``kafka-tools``; before, they are among the broker's.

    Args:
        version: a key of `RELEASES`.

    Raises:
        BedError: unknown version, or neither Maven nor Ivy could resolve it.
    """
    wanted = release(version)
    if not wanted.kraft:
        return kafka_jars(version)
    coordinates = (f"org.apache.kafka:kafka_{wanted.scala}:{version}", f"org.apache.kafka:kafka-tools:{version}", *wanted.extra)
    return _cached(f"kafka-tools-{version}", coordinates, wanted.without)


def mirror_jars(version: str) -> Path:
    """Return a folder with all jars that MirrorMaker 2 of this version needs.

    Args:
        version: a key of `RELEASES`, 2.4 or later.

    Raises:
        BedError: unknown version, or neither Maven nor Ivy could resolve it.
    """
    wanted = release(version)
    coordinates = (f"org.apache.kafka:connect-mirror:{version}", *wanted.extra)
    return _cached(f"kafka-mirror-{version}", coordinates, wanted.without, main="connect-mirror-")


def tier_jars(version: str) -> Path:
    """Return a folder with the jar of Kafka's tests that has a plugin for tiered storage, and nothing else.

    Brokers look for a class in it first, so what they have themselves must not be there twice.

    Raises:
        BedError: Maven is missing, or could not resolve it.
    """
    return _cached(f"kafka-tiers-{version}", (f"org.apache.kafka:kafka-storage:{version}:test",), ("*:*",), main="kafka-storage-")


def s3a_jars() -> Path:
    """Return a folder with the jars by which the installed Spark reads S3: 15 MB.

    `hadoop-aws` asks for a bundle of all services of AWS, 686 MB, of which it needs two and the transfer manager.

    Raises:
        BedError: neither Maven nor Ivy could resolve it.
    """
    sdk = tuple(f"software.amazon.awssdk:{name}:{AWS_SDK}" for name in ("s3-transfer-manager", "sts"))
    return _cached(f"s3a-{HADOOP}", (f"org.apache.hadoop:hadoop-aws:{HADOOP}", *sdk), S3A_WITHOUT, main="hadoop-aws-")


def _cached(name: str, coordinates: tuple[str, ...], without: tuple[str, ...], *, main: str = "kafka_", groups: str = "") -> Path:
    """Return the folder of the cache with these artifacts and what they depend on; resolve them the first time.

    Args:
        name: of the folder.
        coordinates: of the artifacts.
        without: groups and names of what is left out.
        main: what the name of one jar begins with.
        groups: the only groups that are copied, with commas between them; all without it. Only Maven knows it.
    """
    target = cache_dir() / name
    if _is_complete(target):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=target.parent))
    except OSError as error:
        message = f"cannot write to the cache {target.parent} ({error.strerror}): set XDG_CACHE_HOME"
        raise BedError(message) from error
    try:
        jars = work / "jars"
        _resolve(coordinates, without, work, jars, groups)
        _publish(jars, target, main)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _is_complete(folder: Path) -> bool:
    try:
        names = (folder / COMPLETE).read_text().split()
    except OSError:
        return False
    return all((folder / name).is_file() for name in names)


def _publish(jars: Path, target: Path, main: str) -> None:
    """Move a finished folder to its place; if another process was faster, its folder stays."""
    names = sorted(jar.name for jar in jars.glob("*.jar"))
    if not any(name.startswith(main) for name in names):
        message = f"resolving {target.name} brought no jar {main}*"
        raise BedError(message)
    (jars / COMPLETE).write_text("\n".join(names) + "\n")
    if target.exists() and not _is_complete(target):
        shutil.rmtree(target)
    try:
        jars.rename(target)
    except OSError:
        if not _is_complete(target):
            raise


def _resolve(coordinates: tuple[str, ...], without: tuple[str, ...], work: Path, jars: Path, groups: str) -> None:
    maven = shutil.which("mvn")
    if maven is None and (groups or any(coordinate.count(":") > _PLAIN for coordinate in coordinates)):
        message = f"no mvn on PATH, which {coordinates[0]} needs: install Maven (Debian: maven)"
        raise BedError(message)
    only = [f"-DincludeGroupIds={groups}"] if groups else []
    command = [*_maven(maven, coordinates, without, work, jars), *only] if maven else _ivy(coordinates, without, work, jars)
    tool = "Maven" if maven else "Ivy"
    try:
        completed = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=RESOLVE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        message = f"{tool} did not resolve {coordinates[0]} within {RESOLVE_SECONDS} s: is its repository reachable?"
        raise BedError(message) from None
    if completed.returncode:
        output = "\n".join((completed.stdout + completed.stderr).strip().splitlines()[-15:])
        message = f"{tool} could not resolve {coordinates[0]}: is its repository reachable?\n{output}"
        raise BedError(message)


def _maven(maven: str, coordinates: tuple[str, ...], without: tuple[str, ...], work: Path, jars: Path) -> list[str]:
    left_out = "".join(
        f"<exclusion><groupId>{group}</groupId><artifactId>{artifact}</artifactId></exclusion>"
        for group, artifact in (coordinate.split(":") for coordinate in without)
    )
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        f"{''.join(f'<classifier>{name}</classifier>' for name in classifier)}<exclusions>{left_out}</exclusions></dependency>"
        for group, artifact, version, *classifier in (coordinate.split(":") for coordinate in coordinates)
    )
    (work / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>bed</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    return [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]


def _ivy(coordinates: tuple[str, ...], without: tuple[str, ...], work: Path, jars: Path) -> list[str]:
    """Call the Ivy among pyspark's jars, which is what ``spark-submit --packages`` calls."""
    spec = importlib.util.find_spec("pyspark")
    home = Path(spec.origin).parent if spec and spec.origin else None
    ivy = next(iter(sorted((home / "jars").glob("ivy-*.jar"))), None) if home else None
    if ivy is None:
        message = "no mvn on PATH and no pyspark to borrow Ivy from: install Maven (Debian: maven) or pip install pyspark"
        raise BedError(message)
    dependencies = "".join(
        f'<dependency org="{org}" name="{name}" rev="{rev}" conf="default->runtime(*),master(*)"/>'
        for org, name, rev in (coordinate.split(":") for coordinate in coordinates)
    )
    left_out = "".join(
        f'<exclude org="{org}" module="{name}"/>' for org, name in (coordinate.split(":") for coordinate in without)
    )
    (work / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="bed" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}{left_out}</dependencies></ivy-module>"
    )
    settings = Path.home() / ".ivy2" / "ivysettings.xml"  # where a site keeps the address of its own mirror
    chosen = ["-settings", str(settings)] if settings.is_file() else []
    pattern = f"{jars}/[artifact]-[revision](-[classifier]).[ext]"
    return [
        java(),
        "-jar",
        str(ivy),
        *chosen,
        "-ivy",
        str(work / "ivy.xml"),
        "-cache",
        str(work / "ivy-cache"),
        "-retrieve",
        pattern,
        "-types",
        "jar",
        "bundle",
        "-confs",
        "default",
    ]
