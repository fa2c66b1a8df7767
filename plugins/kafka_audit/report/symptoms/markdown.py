"""The page of a message as Markdown, and the index of all: for the site, for the repository's own view, and for `explain`."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.checks import Check
from kafka_audit.report.symptoms import SymptomPage, decision, spellings
from kafka_audit.says.signs import SIGNS

_WIDTH = 130
HEAD = """# By symptom

Error messages of clients and brokers as people type them. A page says what the message means and whether it is normal, and
leads from the symptom to the check that finds the cause. One command runs all checks:

```
kafka-audit run --bootstrap b1:9092                 # a first verdict, without a cluster file
kafka-audit explain "Node -1 disconnected"          # the page of a message; kafka-audit explain KA302 describes a code
```

`…` stands for names and numbers. A test verifies that Kafka's classes contain what is named as Kafka's message. The commands
of these pages only read. `b1:9092` is one broker. Run a command against each broker, because a client shows the view of the
broker that answers first. If listeners require a login, add `-F client.conf` to `kcat` and `--command-config
client.properties` to Kafka's scripts."""


def page_markdown(page: SymptomPage, checks: Mapping[str, Check], summary: Mapping[str, str]) -> str:
    """Return the page of one message; `summary` is the fault of each check in a sentence."""
    names = {code: checks[code].name for code in page.codes}
    parts = [f"# {page.title}", "\n".join(_messages(page)), "## What it means", _filled(page.means)]
    if page.disagree:
        parts += ["**Views that disagree.** " + page.disagree]
    tree = "\n".join([page.title, *decision(page.decide, names)])
    parts += ["## Is it normal?", _filled(page.normal), "## From the symptom to the check", f"```text\n{tree}\n```"]
    parts += ["## First command"]
    parts += [f"{where[:1].upper()}{where[1:]}:\n\n```\n{command}\n```" for where, command in page.first.items()]
    listed = "\n".join(f"- [{code}](../checks/{code}.md): {summary[code]}" for code in page.codes)
    parts += ["## Checks", listed, "`kafka-audit run --bootstrap b1:9092` runs all of them ([by symptom](../symptoms.md))."]
    return "\n\n".join(part for part in parts if part) + "\n"


def _messages(page: SymptomPage) -> Iterator[str]:
    yield from (
        f"- `{message}` ({whose})" for message, whose in (*((line, "Kafka") for line in page.kafka), *page.clients.items())
    )
    for sign in (SIGNS[name] for name in page.log):
        yield f"- `{sign.marker.strip()}` in `{sign.log}` of a broker: {sign.means}"
    for code, names in page.errors.items():
        listed = ", ".join(f"`{spelling}`" for name in names for spelling in spellings(name))
        yield f"- Error {code} of Kafka's protocol: {listed}"
    if page.typed:
        yield f"- Also typed: {', '.join(page.typed)}"


def _filled(text: str) -> str:
    return "\n\n".join(
        textwrap.fill(" ".join(paragraph.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)
        for paragraph in text.split("\n")
        if paragraph.strip()
    )


def index_markdown(pages: Iterable[SymptomPage]) -> str:
    """Return the index of all pages, by section."""
    lines, section = [HEAD], ""
    for page in pages:
        if page.section != section:
            section = page.section
            lines += ["", f"## {section}", ""]
        lines.append(f"- [{page.title}](symptoms/{page.slug}.md)")
    return "\n".join(lines) + "\n"
