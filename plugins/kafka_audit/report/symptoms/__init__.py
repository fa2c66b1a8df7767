"""What people type when Kafka fails: a page for each message, from its meaning to the check. The YAML files here are the data.

| key of a page | what it is |
|---|---|
| `title` | the message, or the symptom in words |
| `kafka` | messages of Kafka's own classes, `…` for names and numbers |
| `clients` | messages of clients and tools, and whose they are |
| `errors` | error codes of Kafka's protocol, each with its name and the names that it had, or has in clients |
| `log` | names of lines of brokers' logs (`reads` in `says/meanings`) |
| `typed` | other words that people type |
| `means`, `normal`, `disagree` | what it means, whether it is normal, which views differ |
| `decide` | from the symptom to the check: conditions in their order, each with codes, an advice, or further conditions |
| `also` | codes of further checks |
| `first` | the first commands, by where they run; they only read |
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafka_audit.model.package_yaml import package_yaml

SECTIONS = ("leaders", "connections", "between_brokers", "disks", "cluster", "start_and_zookeeper")
"""The files, in the order in which a stranger needs them."""

_CODE = re.compile(r"KA\d{3}")

Tree = Mapping[str, Any]
"""Conditions, each with codes or an advice as a text, or with further conditions."""


@dataclass(frozen=True, kw_only=True)
class SymptomPage:
    """One page. `slug` is its file name and what `explain` takes; the rest is what its file says."""

    slug: str
    section: str
    title: str
    means: str
    normal: str
    decide: Tree
    first: Mapping[str, str]
    kafka: tuple[str, ...] = ()
    clients: Mapping[str, str]
    errors: Mapping[int, tuple[str, ...]]
    log: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    disagree: str = ""
    also: str = ""

    @property
    def messages(self) -> tuple[str, ...]:
        """All that people type for it."""
        names = (name for names in self.errors.values() for name in names)
        return (self.title, *self.kafka, *self.clients, *names, *self.typed)

    @property
    def codes(self) -> tuple[str, ...]:
        """The checks that it leads to, in the order of the decision."""
        return tuple(dict.fromkeys(_CODE.findall(" ".join([*_leaves(self.decide), self.also]))))


def _leaves(tree: Tree) -> Iterator[str]:
    for found in tree.values():
        yield from [found] if isinstance(found, str) else _leaves(found)


@cache
def symptom_pages() -> Mapping[str, SymptomPage]:
    """Return all pages by their slugs, in the order of the sections."""
    found: dict[str, SymptomPage] = {}
    for name in SECTIONS:
        data: Mapping[str, Any] = package_yaml(__name__, f"{name}.yaml")
        for slug, page in data["pages"].items():
            fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in page.items()}
            found[slug] = SymptomPage(slug=slug, section=data["section"], **({"clients": {}, "errors": {}} | fields))
    return found


@cache
def elsewhere() -> Mapping[str, Mapping[str, Any]]:
    """Return the subjects that no page is about, by their slugs: a `title` and the words that people have `typed`."""
    found: Mapping[str, Mapping[str, Any]] = package_yaml(__name__, "elsewhere.yaml")
    return found


def spellings(name: str) -> tuple[str, ...]:
    """Return an error of Kafka's protocol as tools, clients in Go and Node.js, Java and Python spell it: FOO_BAR, FooBar, ….

    Java drops what says that it is an error: TopicAuthorizationException is TOPIC_AUTHORIZATION_FAILED.
    """
    words = "".join(word.capitalize() for word in name.split("_"))
    bare = words.removesuffix("Error")
    java = f"{bare.removesuffix('Exception').removesuffix('Failed')}Exception"
    return tuple(dict.fromkeys((name, words, java, f"{bare}Error")))


def decision(tree: Tree, names: Mapping[str, str], indent: str = "") -> Iterator[str]:
    """Yield the lines of the picture from the symptom to the checks, which `names` calls by code."""
    last = [*tree][-1]
    for condition, leads in tree.items():
        branch, below = ("└─ ", "   ") if condition == last else ("├─ ", "│  ")
        if not isinstance(leads, str):
            yield f"{indent}{branch}{condition}"
            yield from decision(leads, names, indent + below)
            continue
        yield f"{indent}{branch}{condition} → {_CODE.sub(lambda code: f'{code[0]} {names[code[0]]}', leads)}"
