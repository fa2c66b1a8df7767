"""Begin a fault of an edge: `make fault FAMILY=address NAME=port_taken`.

Writes its two files, with a case that fails until the function observes what the case shows, and a line of the changelog.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_audit.faults.fault import known_faults
from testbed.new_check import NAME, ROOT, with_line

FAULTS = Path("plugins/kafka_audit/faults")

_MODULE = '''"""{title}."""

from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works


@fault
def {name}(facts: Facts, edge: Edge) -> Observations:
    """… what shows it, and what never does."""
    # `facts.view` has what was read, `facts` what is computed of it; `fails` shows the fault, `works` rules it out.
    yield from ()
'''
_DATA = """fault: {name}
check: KA302                        # reports it, in its own words
word: {word}
sentence: a {word}
layer: tcp                          # tcp, api, tls, sasl, rights, effect: where the connection fails
edges: [control, replicate]         # and follow (KRaft), coordinate (ZooKeeper)
rare: true                          # leads only if something shows it
decided_by: "`…` on {{where}}"
remedy: "…"
world:
  views: {{2: {{brokers: none, topics: none, controller_id: -1}}}}
  probes: []
cases:
  it_is_shown:
    now: {{}}
    edge: control 2
    shown: ["…"]
    leading: {name} measured
  looks_like_it:
    near: …
    now: {{}}
    edge: control 2
    leading: none
unrecorded:
  ZooKeeper: …
  KRaft: …
"""


def stubs_of_fault(root: Path, family: str, name: str, title: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a new fault with their texts."""
    filled = {"name": name, "title": title, "word": name.replace("_", " ")}
    module = root / FAULTS / family / f"{name}.py"
    yield module, _MODULE.format(**filled)
    yield module.with_suffix(".yaml"), _DATA.format(**filled)
    changelog = root / "CHANGELOG.md"
    yield changelog, with_line(changelog.read_text(encoding="utf-8"), f"- A known fault: {title[0].lower()}{title[1:]}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files and print what is left to do; 2 for a family or name that cannot be."""
    known = {fault.name: fault.observe.__module__.split(".")[-2] for fault in known_faults()}
    parser = argparse.ArgumentParser(prog="make fault", description=__doc__)
    parser.add_argument("family", choices=sorted({*known.values()}))
    parser.add_argument("name", help="the fault in snake_case, such as port_taken")
    parser.add_argument("--title", default="", help="the fault in one sentence, without a full stop")
    options = parser.parse_args(arguments)
    if not NAME.fullmatch(options.name) or options.name in known:
        parser.error(f"the name {options.name!r} is taken, or does not say the fault in snake_case")
    title = options.title.rstrip(".") or options.name.replace("_", " ").capitalize()
    for path, text in stubs_of_fault(ROOT, options.family, options.name, title):
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    sys.stdout.write(
        "Next:\n"
        "  1. replace each … in these files; `unrecorded` says why the corpus has no such cluster, by mode\n"
        f"  2. .venv/bin/pytest tests/faults/test_causes.py -k {options.name}\n"
        "  3. make accept, which shows each sentence that another candidate changes; make lint\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
