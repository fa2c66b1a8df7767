"""Begin a check: `make check FAMILY=listeners NAME=port_shared`.

Writes the module, its texts and cases, a fault of the corpus and a line of the changelog. The code is the next one of the family
that no branch or worktree uses, as far as this checkout sees them.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from kafka_audit.checks import RETIRED, catalogue
from kafka_audit.report.docs import family_subject

ROOT = Path(__file__).parents[1]
CHECKS = Path("plugins/kafka_audit/checks")
_CODE = re.compile(r'code="(KA[0-9]{3})"')
NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_VERBS = ("check", "ensure", "test")
_LAST_OF_FAMILY = 100

_MODULE = '''from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_brokers


@check(code="{code}", severity=Severity.MEDIUM)
def {name}(view: ClusterView) -> Judgements:
    """{title}."""
    yield from no_brokers(view)
    for broker in view.inter_broker.brokers:
        status = Status.PASS  # what the view shows: `cluster/view.py` lists it
        yield view.judge(f"broker/{{broker}}", status, who=f"broker {{broker}}", broker=broker)
'''
_OF_SETTINGS = '''from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import Effective, each_broker

_KEY = "…"


@check(code="{code}", severity=Severity.MEDIUM, by_files=True)
def {name}(view: ClusterView) -> Judgements:
    """{title}."""
    effective = Effective(view)

    def judged(broker: int) -> Judgements:
        value = effective.get(broker, _KEY)  # by the broker, its file, dynamic settings or the default
        status = Status.PASS  # what the value shows
        yield view.judge(f"broker/{{broker}}", status, who=f"broker {{broker}}", broker=broker, key=value.key, value=value.text)

    yield from each_broker(effective, judged, _KEY)
'''
_CASES = """check: {code}
typed: []  # what people type: phrases of two to seven words
needs: []
says:
  FAIL: Broker {{broker}} …
  PASS: Broker {{broker}} …
  UNKNOWN: Cannot determine whether {{who}} … ({{error}})
page: |
  ## Why it matters
  …

  ## Fails when
  …

  ## Not known when
  …

  ## Passes only when
  …

  ## What to do
  …

  ## References
  …
exceptions:
  corpus: its fault {name} was not run yet
  remedy: its fault {name} was not run yet
cases:
  broken:
    now: {broken}
    expect: []
    pass: []
  looks_like_it:
    near: …
    now: {{}}
    pass: []
  unread:
    now: {unread}
    expect: []
    pass: []
"""
_CASES_OF_SETTINGS = {"broken": "{configs: {2: {}}}", "unread": "{configs: none}"}
_CASES_OF_OTHERS = {"broken": "{}", "unread": "{zookeeper: none}"}
_FAULT = """
{name}:
  title: {title}
  demands: {{cause: '…', resource: broker 2}}
  cause: {code}
  report: [{code} broker/2]
  steps:
    - {{do: set_properties, properties: {{2: {{}}}}}}
  heal:
    - {{do: revert, says: "…"}}
"""


def used_codes(root: Path) -> dict[str, str]:
    """Return the codes that checks have or had, and where: this checkout, branches that are not in it, and other worktrees."""
    found = dict.fromkeys(catalogue(), "this checkout") | dict.fromkeys(RETIRED, "former checks")
    for branch in _git(root, "for-each-ref", "--no-merged=HEAD", "--format=%(refname)", "refs/heads", "refs/remotes"):
        for line in _git(root, "grep", "-hE", _CODE.pattern, branch, "--", str(CHECKS)):
            found |= {code: branch for code in _CODE.findall(line) if code not in found}
    for line in _git(root, "worktree", "list", "--porcelain"):
        worktree = Path(line.removeprefix("worktree "))
        if line.startswith("worktree ") and worktree != root:
            for path in (worktree / CHECKS).glob("*/*.py"):
                found |= {code: str(worktree) for code in _CODE.findall(path.read_text(encoding="utf-8")) if code not in found}
    return found


def _git(root: Path, *words: str) -> list[str]:
    """Return the lines of a command; none where there is no repository, and nothing else to see."""
    try:
        completed = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return completed.stdout.splitlines()


def next_code(family: str, used: Collection[str]) -> str:
    """Return the next code of a family.

    Raises:
        ValueError: the family has no code left.
    """
    hundred = family_subject(family)[:3]
    numbers = [int(code[3:]) for code in used if code.startswith(hundred)]
    number = max(numbers, default=0) + 1
    if number == _LAST_OF_FAMILY:
        msg = f"{family} has no code left: think about a family of its own"
        raise ValueError(msg)
    return f"{hundred}{number:02}"


def stubs(root: Path, code: str, family: str, name: str, title: str) -> Iterator[tuple[Path, str]]:
    """Yield the files of a new check with their texts."""
    of_settings = family == "configuration"
    filled = {"code": code, "name": name, "title": title}
    filled |= _CASES_OF_SETTINGS if of_settings else _CASES_OF_OTHERS
    module = root / CHECKS / family / f"{name}.py"
    yield module, (_OF_SETTINGS if of_settings else _MODULE).format(**filled)
    yield module.with_suffix(".yaml"), _CASES.format(**filled)
    faults = root / "testbed" / "corpus" / "faults" / f"{family}.yaml"
    before = faults.read_text(encoding="utf-8") if faults.exists() else ""
    yield faults, (before + _FAULT.format(**filled)).lstrip()
    changelog = root / "CHANGELOG.md"
    yield changelog, with_line(changelog.read_text(encoding="utf-8"), f"- {code} `{name}`: {title[0].lower()}{title[1:]}.")


def with_line(changelog: str, line: str) -> str:
    """Return the changelog with a line at the end of what is added in the newest release."""
    start = changelog.index("### Added")
    end = changelog.find("\n### ", start)
    above, below = (changelog[:end], changelog[end:]) if end >= 0 else (changelog, "")
    return f"{above.rstrip()}\n{line}\n{below}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files and print what is left to do; 2 for a family or name that cannot be."""
    parser = argparse.ArgumentParser(prog="make check", description=__doc__)
    parser.add_argument("family", choices=sorted({check.family for check in catalogue().values()}))
    parser.add_argument("name", help="the fault in snake_case, such as port_shared")
    parser.add_argument("--title", default="", help="the fault in one sentence, without a full stop")
    options = parser.parse_args(arguments)
    names = {check.name for check in catalogue().values()}
    if not NAME.fullmatch(options.name) or options.name.startswith(_VERBS) or options.name in names:
        parser.error(f"the name {options.name!r} is taken, or does not say the fault in snake_case")
    code = next_code(options.family, used_codes(ROOT))
    title = options.title.rstrip(".") or options.name.replace("_", " ").capitalize()
    for path, text in stubs(ROOT, code, options.family, options.name, title):
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    sys.stdout.write(
        f"{code} {options.name}. Next:\n"
        f"  1. replace each … in these files\n"
        f"  2. make accept ONLY={code}\n"
        f"  3. .venv/bin/pytest tests/checks -k {code}; make lint\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
