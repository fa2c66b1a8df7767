"""Writes ``plugins/kafka_audit/says/lines.txt``: what Kafka and ZooKeeper can log, by release, each line with its meaning.

``python -m testbed.says`` reads the classes of all releases of `testbed.jars.COMPARED`: five minutes the first time, then only
new ones. Lines keep the meaning that they have in the file. Others are in its section ``[new]``: move each to the right section.
Beside it, ``sites.yaml`` has the calls by which they are written, counted a second way, and how the two counts compare.
"""

import json
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple
from itertools import repeat
from pathlib import Path

import yaml

from kafka_audit.says.catalogue import LINES, NEW, Template, read_lines
from testbed.jars import COMPARED, cache_dir, own_jars, zookeeper_jars
from testbed.says.calls import THROWN, Line, Site, lines_of
from testbed.says.count import compared, count

ZOOKEEPER = ("3.4.14", "3.5.10", "3.6.4", "3.7.2", "3.8.4", "3.9.3")
"""One release of each minor version; Kafka contains clients of 3.4 to 3.8."""

_HERE = Path(__file__).parent
_FILE = Path(__file__).parents[2] / "plugins" / "kafka_audit" / "says" / LINES
_HEAD = """\
# What Kafka and ZooKeeper can log, written by `python -m testbed.says` from the classes of their releases; see docs/says.md.
# A section is a meaning (meanings/*.yaml). A line: level, releases (z: ZooKeeper, j: Java), loggers or exceptions, and after |
# the text, in which … is what only the running program knows. Sections are edited by hand, lines are not.
"""
_SITES = """\
# Calls of loggers at WARN and above in Kafka and in ZooKeeper (z), written by `python -m testbed.says`: by level and logger, how
# many from release to release. `counted` are those that javap prints, `left_out` those that it prints of classes of no server.
# `differences` are how many more or fewer the reader of texts finds. Of those that both find, the text is a `variable` alone,
# `given` by callers that it reads, or `passed_on` by a method of a logger; of all others it knows words.
"""
Lines = Mapping[str, tuple[Line, ...]]


def main() -> int:
    """Write the file, and print what is new in it; 1 if something is."""
    kafka, sites = _read_all("kafka", sorted(COMPARED, key=_number))
    zookeeper, others = _read_all("zookeeper", ZOOKEEPER)
    known = {(found.text, logger): found.meaning for found in read_lines(_FILE.read_text()) for logger in found.loggers}
    found = [*_templates(kafka, "", known), *_templates(zookeeper, "z", known), *_of_kept()]
    _FILE.write_text(_written(found))
    both = [
        compared({f"{mark}{_minor(version)}": sites for version, sites in one.items()})
        for mark, one in (("", sites), ("z", others))
    ]
    (_HERE / "sites.yaml").write_text(_SITES + yaml.safe_dump(both, sort_keys=False, width=130, default_flow_style=None))
    new = [template for template in found if template.meaning == NEW]
    sys.stdout.write("".join(f"{template.level} {','.join(template.loggers)} | {template.text}\n" for template in new))
    sys.stderr.write(f"{len(found)} lines, {len(new)} of no known meaning\n")
    return 1 if new else 0


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _minor(version: str) -> str:
    return version.rpartition(".")[0]


def _read_all(program: str, versions: Iterable[str]) -> tuple[Lines, dict[str, Counter[Site]]]:
    with ProcessPoolExecutor(2) as workers:
        read = {version: (lines, sites) for version, lines, sites in workers.map(_read, repeat(program), versions)}
    return {version: lines for version, (lines, _) in read.items()}, {version: sites for version, (_, sites) in read.items()}


def _read(program: str, version: str) -> tuple[str, tuple[Line, ...], Counter[Site]]:
    """Return the lines of a release and its calls, from the cache if this code has read it before."""
    code = zlib.crc32(b"".join(path.read_bytes() for path in sorted(_HERE.glob("c*.py"))))
    kept = cache_dir() / f"says-{program}-{version}-{code:08x}.json"
    if not kept.is_file():
        jars = own_jars(version) if program == "kafka" else zookeeper_jars(version)
        found, sites = lines_of(jars)
        numbers = sorted((*site, number) for site, number in (sites + count(jars)).items())
        kept.write_text(json.dumps([[astuple(line) for line in sorted(found)], numbers]))
    lines, numbers = json.loads(kept.read_text())
    return version, tuple(Line(*fields) for fields in lines), Counter({tuple(site): number for *site, number in numbers})


def _templates(read: Lines, mark: str, known: Mapping[tuple[str, str], str]) -> Iterator[Template]:
    """Yield what is kept of the lines of one program: one template for a text, whichever classes and releases have it."""
    loggers: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    releases: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for version, lines in read.items():
        for line in lines:
            if meaning := _meaning(line, known, mark):
                key = meaning, line.level[0], line.text
                loggers[key].add(line.logger.partition("@")[0])
                releases[key].append(_minor(version))
    for (meaning, level, text), versions in releases.items():
        names = tuple(sorted(loggers[meaning, level, text]))
        yield Template(meaning, level, f"{mark}{versions[0]}", versions[-1], names, text)


_KEPT = yaml.safe_load((_HERE / "kept.yaml").read_text())
_INFO = [(text, meaning) for meaning, texts in _KEPT["info"].items() for text in texts]
_THROWN = [(re.compile(pattern), meaning) for meaning, pattern in _KEPT["thrown"].items()]
_THROWN_TEXTS = [(re.compile(pattern), meaning) for meaning, pattern in _KEPT["thrown_texts"].items()]
_LEFT_OUT = re.compile(_KEPT["left_out"])


def _meaning(line: Line, known: Mapping[tuple[str, str], str], mark: str) -> str:
    """Return the meaning of a line, nothing if the catalogue does not keep such lines."""
    if line.level == "INFO":
        return max(((len(text), meaning) for text, meaning in _INFO if line.text.startswith(text)), default=(0, ""))[1]
    if line.level == THROWN:
        if mark or _LEFT_OUT.match(line.logger):
            return ""
        by_text = (meaning for pattern, meaning in _THROWN_TEXTS if pattern.search(line.text))
        return next(by_text, "") or next((meaning for pattern, meaning in _THROWN if pattern.search(line.logger)), "")
    return known.get((line.text, line.logger), NEW)


def _of_kept() -> Iterator[Template]:
    for meaning, lines in _KEPT["extra"].items():
        yield from read_lines("\n".join((f"[{meaning}]", *lines)))
    for meaning, texts in _KEPT["java"].items():
        for text in texts:
            name, _, message = text.partition(": ")
            yield Template(meaning, "T", "j", "j", (name,), message)


def _written(templates: Iterable[Template]) -> str:
    lines, section = [_HEAD], ""
    for template in sorted(templates, key=lambda one: (one.meaning, one.text, one.level, one.since)):
        if template.meaning != section:
            section = template.meaning
            lines.append(f"\n[{section}]\n")
        span = template.since if template.since == "j" else f"{template.since}-{template.until}"
        lines.append(f"{template.level} {span} {','.join(template.loggers)}|{template.text}\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main())
