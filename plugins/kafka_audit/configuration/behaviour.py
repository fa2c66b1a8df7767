"""What Kafka does differently by release: one table, `behaviour.yaml`, which checks, gates, what-if and commands ask. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.package_yaml import package_yaml

Minor = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What releases of Kafka do.

    Attributes:
        what: of a release that does it.
        since: the first minor release that does, e.g. (3, 9); (0,) where all before `until` do.
        until: the first that no longer does; None if the newest does.
        level: the level of metadata.version from which on it holds, once finalized; None where the software decides.
        shown_by: the lowest level of metadata.version that only such releases support; None where none shows it.
        pages: checks whose pages name the release.
        source: where it was read.
    """

    what: str
    since: Minor = (0,)
    until: Minor | None = None
    level: int | None = None
    shown_by: int | None = None
    pages: tuple[str, ...] = ()
    source: str

    def holds(self, release: str | Minor) -> bool:
        """Return whether a release does it, `3.9.1` or (3, 9)."""
        minor = (version_numbers(release) if isinstance(release, str) else release)[:2]
        return self.since <= minor and (self.until is None or minor < self.until)

    def holds_in(self, releases: Iterable[str | Minor]) -> bool | None:
        """Return whether a node does it that runs one of these releases; None where they differ, or none is known."""
        found = {self.holds(release) for release in releases}
        return found.pop() if len(found) == 1 else None

    @property
    def first(self) -> str:
        """The first release that does it, as it is written: `3.9`, or the name of its level, `3.7-IV2`."""
        return level_name(self.level) if self.level is not None else ".".join(map(str, self.since))


def behaviour(name: str) -> Behaviour:
    """Return a row of the table."""
    return _rows()[name]


@cache
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = package_yaml(__package__, "behaviour.yaml")
    return table


@cache
def _rows() -> Mapping[str, Behaviour]:
    return {name: _row(raw) for name, raw in _table()["behaviour"].items()}


def _row(raw: Mapping[str, Any]) -> Behaviour:
    releases = {key: version_numbers(raw[key]) for key in ("since", "until") if key in raw}
    return Behaviour(**{**raw, **releases, "pages": tuple(raw.get("pages", ()))})


def level_name(level: int) -> str:
    """Return the name of a level of metadata.version, e.g. `3.7-IV2`; `level 40` where it is newer than is known."""
    names: Mapping[int, str] = _table()["metadata_versions"]
    return names.get(level, f"level {level}")


def metadata_release(level: int) -> str:
    """Return the release that a level of metadata.version came with, e.g. `3.9`; `level 40` where it is newer than is known."""
    names: Mapping[int, str] = _table()["metadata_versions"]
    newest = names[max(names)].partition("-")[0]  # which levels it has is not known
    release = names.get(level, newest).partition("-")[0]
    return f"level {level}" if release == newest else release


def metadata_levels(minor: Minor) -> tuple[int, int] | None:
    """Return the lowest and the highest level of metadata.version with which a release, e.g. (4, 0), runs; None before 3.3."""
    later = [level for level, name in _table()["metadata_versions"].items() if _minor(name) > minor]
    if not behaviour("metadata_version").holds(minor) or not later:
        return None
    return (_table()["lowest_of_4"] if behaviour("kraft_only").holds(minor) else 1), min(later) - 1


def lowered_level(finalized: int, minor: Minor) -> int | None:
    """Return the level to which metadata.version can be lowered for an older release; None if the controller refuses that."""
    levels, names = metadata_levels(minor), _table()["metadata_versions"]
    if levels is None:
        return None
    passed = range(levels[1] + 1, finalized + 1)
    refused = any(level not in names or level in _table()["changes_metadata"] for level in passed)
    return None if refused else min(finalized, levels[1])


def highest_level(feature: str, minor: Minor) -> int | None:
    """Return the highest level of a feature that a release supports, 0 for none; None of a feature that is not known here."""
    known = _table()["features"].get(feature)
    if known is None:
        return None
    return max((level for release, level in known.items() if version_numbers(release) <= minor), default=0)


def _minor(name: str) -> Minor:
    return version_numbers(name.partition("-")[0])
