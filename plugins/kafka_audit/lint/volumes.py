"""Whether the data of a broker in a container is on a volume that outlasts the container, by the file around it. Pure."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_audit.configuration.files import images
from kafka_audit.configuration.files.described import Container, Described, Mount, is_placeholder
from kafka_audit.configuration.files.images import Image
from kafka_audit.model.finding import Severity

_MOST = 100  # volumes and directories
_DIRS, _DEFAULT = ("log.dirs", "log.dir"), "/tmp/kafka-logs"  # noqa: S108 -- Kafka's default, compared and not used
_STOCK = re.compile(r"(?:^|/)config/(?:kraft/)?(?:server|broker)\.properties$")
_NO_DATA = re.compile(
    r"^/(?:etc|usr|run|var/run|mnt/shared|docker-entrypoint)\b|conf|secret|cert|ssl|plugin|/jars?/?$|/libs?/?$|jmx|script|/logs?/?$"
    r"|\.\w+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class VolumeFault:
    """Why data is lost, or a broker does not start on a volume; the remedy, with `{KEY}` for a key; the line of it."""

    fault: str
    mend: str
    line: int
    severity: Severity = Severity.HIGH


def volume_fault(broker: Described, container: Container, taken: Collection[str] = ()) -> VolumeFault | None:
    """Return the first fault of a broker's volumes, None where there is none or the directories are not known.

    Args:
        broker: its settings and its image.
        container: what is around it.
        taken: the places that brokers of the same file before it have.
    """
    image, container = images.image_of(broker.image, {}), replace(container, mounts=container.mounts[:_MOST])
    judged = image.label or container.file or "log.dirs" in broker.properties
    if not judged or any(is_placeholder(mount.path) for mount in container.mounts):
        return None
    kept = [mount for mount in container.mounts if mount.keeps and not _NO_DATA.search(mount.path)]
    faults = (
        *_replaced(broker, container),
        *_of_new_hosts(broker, container, image, kept),
        *_outside(broker, container, image, kept),
        *_shared(broker, taken),
        *_of_root(broker, container, image),
    )
    return next(iter(faults), None)


def _replaced(broker: Described, container: Container) -> Iterator[VolumeFault]:
    """Yield that `log.dir` is set, of which Kafka's own files with `log.dirs` make nothing."""
    setting = broker.properties.get("log.dir")
    own_file = _STOCK.search(container.file) and not any(_holds(mount.path, container.file) for mount in container.mounts)
    if setting is not None and own_file and "log.dirs" not in broker.properties:
        fault = f"log.dir has no effect: {container.file} of Kafka sets log.dirs, to a directory below /tmp"
        yield VolumeFault(fault=fault, mend="Name the directory in `log.dirs` instead of log.dir.", line=setting.line)


def _of_new_hosts(broker: Described, container: Container, image: Image, kept: Sequence[Mount]) -> Iterator[VolumeFault]:
    named = image.log_dirs_of_host
    for mount in kept:
        if named and container.new_host and "log.dirs" not in broker.properties and _holds(mount.path, named):
            fault = f"the image keeps them in {named}HOSTNAME, and a new container has another host name"
            mend = f"In `{{log.dirs}}`, name a directory below {mount.path}, such as {mount.path}/data."
            yield VolumeFault(fault=fault, mend=mend, line=mount.line)


def _outside(broker: Described, container: Container, image: Image, kept: Sequence[Mount]) -> Iterator[VolumeFault]:
    known = broker.unknown.isdisjoint(_DIRS) and bool(image.label)
    text = broker.value("log.dirs") or (broker.value("log.dir") or _DEFAULT if known else "")
    if not broker.properties.keys() & set(_DIRS) and image.log_dirs_of_host:
        text = f"{image.log_dirs_of_host}HOSTNAME"
    for path in (posixpath.normpath(part.strip()) for part in text.split(",")[:_MOST] if part.strip()):
        over = [mount for mount in container.mounts if _holds(mount.path, path)]
        around = max(over, key=lambda mount: len(mount.path), default=None)
        own = next((folder for folder in image.volumes if _holds(folder, path)), None)
        if around is None:
            place = "a volume that the image makes for each container" if own else "the container, and lost with it"
            for mount in kept[:1]:
                fault = f"{path} is in {place}; {mount.path} is the volume that stays"
                mend = f"In `{{log.dirs}}`, name a directory below {mount.path}, and move the data there."
                yield VolumeFault(fault=fault, mend=mend, line=mount.line)
        elif around.keeps and own and _holds(around.path, own) and posixpath.normpath(around.path) != own:
            fault = f"{path} is in a volume that the image makes for each container at {own}, and not in the one at {around.path}"
            yield VolumeFault(fault=fault, mend=f"Mount the volume at {own} itself.", line=around.line)
        elif around.claim and posixpath.normpath(around.path) == path:
            fault = f"{path} is the top of a volume: where its file system has a folder lost+found, Kafka does not start"
            mend = f"Mount a folder of the volume: set `subPath: data` beside {path}."
            yield VolumeFault(fault=fault, mend=mend, line=around.line, severity=Severity.MEDIUM)


def _folders(broker: Described, image: Image) -> list[str]:
    """Return the log directories, none where they are not known."""
    text = broker.value("log.dirs") or broker.value("log.dir") or image.log_dirs or ""
    return [posixpath.normpath(part.strip()) for part in text.split(",")[:_MOST] if part.strip()]


def places(broker: Described) -> Iterator[tuple[str, Mount]]:
    """Yield the volume of each log directory, with the place in it."""
    mounts = broker.container.mounts[:_MOST] if broker.container else ()
    for path in _folders(broker, images.image_of(broker.image, {})) if any(mount.source for mount in mounts) else ():
        over = [mount for mount in mounts if mount.path and _holds(mount.path, path)]
        if over and (nearest := max(over, key=lambda mount: len(mount.path))).source:
            yield posixpath.join(nearest.source, posixpath.relpath(path, posixpath.normpath(nearest.path))), nearest


def _shared(broker: Described, taken: Collection[str]) -> Iterator[VolumeFault]:
    """Yield that another broker has the same directory of the same volume."""
    for place, mount in places(broker):
        if place in taken:
            fault = (
                f"another broker of the file has the same directory of volume {mount.source[:60]}, and one of them does not start"
            )
            yield VolumeFault(fault=fault, mend="Give each broker a volume of its own.", line=mount.line)


def _of_root(broker: Described, container: Container, image: Image) -> Iterator[VolumeFault]:
    """Yield that a new volume is at a folder that the image does not have: Docker makes it for root."""
    for _, mount in places(broker) if image.user and not container.user else ():
        owned = (*image.owns, *image.volumes)
        if mount.keeps and mount.source not in container.shared and not any(_holds(folder, mount.path) for folder in owned):
            fault = f"a new volume at {mount.path} belongs to root, and {image.label} image runs as user {image.user}"
            mend = f"Mount it at {image.log_dirs or image.volumes[0]}, and name that in `{{log.dirs}}`; or set `user: root`."
            yield VolumeFault(fault=fault, mend=mend, line=mount.line, severity=Severity.MEDIUM)


def _holds(folder: str, path: str) -> bool:
    return f"{posixpath.normpath(path)}/".startswith(f"{posixpath.normpath(folder).rstrip('/')}/")
