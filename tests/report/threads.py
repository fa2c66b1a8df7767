"""The threads of threads.yaml, what finds their page, and docs/threads.md, which `python -m report.threads` writes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kafka_audit.checks import catalogue
from kafka_audit.model.errors import UsageError
from kafka_audit.report.plain_text import explain
from kafka_audit.report.symptoms import symptom_pages
from kafka_audit.report.symptoms.search import search

THREADS: Mapping[str, Sequence[Mapping[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("threads.yaml").read_text(encoding="utf-8")
)
PAGE = Path(__file__).parents[2] / "docs" / "threads.md"
FEW = 3  # pages that one reads
MARKDOWN = {slug: explain.symptom_markdown(catalogue(), page) for slug, page in symptom_pages().items()}

BEFORE = {"chosen": (19, 19), "held_out": (7, None), "worked": (29, 15), "seen": (9, 4), "last": (16, 9)}
"""What the search and a grep found before words and ranking were mended for `worked`: commit dd0034cb."""

LISTS = {
    "chosen": "The pages were written for them.",
    "held_out": """Chosen with the first twenty, and measured when the pages were written: 7. Later the ranking was chosen over
them, too, and the message of one (dpkp/kafka-python#1324) was added with those of other clients.""",
    "worked": """Words were added and the ranking was changed after they were measured. Of the 22 that were collected last, the
search found 10 when they were first measured, and 12 before: words that had been added for others led away from the
right page. That is why messages are ranked by BM25 now.""",
    "seen": """Drawn by lot with a part of these: 12 when they were first measured. Their words were known while words were
added, and the ranking was chosen over them, too.""",
    "last": "Collected after words and ranking were final, and measured once. What misses stays.",
}
_HEAD = """# Found by their words

{number} threads of people whose Kafka was broken, most of them issues on GitHub. Their words, the title or the line that
they pasted, are typed into the search of this site and given to `kafka-audit explain`, which use the same rules. *First*:
the first result is the page that answers the thread. *In four*: it is among the four that the site shows. *Grep*: `grep
-iw` of a part of the words, without names and numbers, shows that page among at most three. The answer was decided before
each thread was measured.

| threads | number | first | in four | grep | before: first | before: grep |
|---|---|---|---|---|---|---|"""
_LAST = """
The last row says what to expect of the words of somebody else. Titles without a message are the hardest, and a grep finds
few of them."""
_COLUMNS = "| thread | client | page | check | found instead |\n|---|---|---|---|---|"


def searched(thread: Mapping[str, Any]) -> list[str]:
    """Return the pages that the search shows, the best first."""
    return [*search(thread["words"]).pages[:4]]


def explained(thread: Mapping[str, Any]) -> str | None:
    """Return the page that `kafka-audit explain` prints."""
    try:
        lines = explain.explained(catalogue(), thread["words"], width=200, color=False).text.splitlines()
    except UsageError:
        return None
    return next((slug for slug, page in symptom_pages().items() if page.title in lines), None)


def grepped(thread: Mapping[str, Any]) -> bool:
    """Return whether `grep -iw` of a part of the words shows the page, among few."""
    words = re.compile(rf"(?<!\w){re.escape(thread['grep'])}(?!\w)", re.IGNORECASE)
    pages = [slug for slug, text in MARKDOWN.items() if words.search(text)]
    return thread["page"] in pages and len(pages) <= FEW


def _lines() -> Iterator[str]:
    yield _HEAD.format(number=sum(map(len, THREADS.values())))
    for name, threads in THREADS.items():
        found = [searched(thread) for thread in threads]
        first = sum(pages[:1] == [thread["page"]] for thread, pages in zip(threads, found, strict=True))
        four = sum(thread["page"] in pages for thread, pages in zip(threads, found, strict=True))
        with_grep = [thread for thread in threads if "grep" in thread]
        grep = str(sum(map(grepped, with_grep))) if with_grep else ""
        before, before_grep = BEFORE[name]
        yield f"| {name.replace('_', ' ')} | {len(threads)} | {first} | {four} | {grep} | {before} | {before_grep or ''} |"
    yield _LAST
    for name, threads in THREADS.items():
        yield f"\n## {name.replace('_', ' ').capitalize()}\n\n{LISTS[name]}\n\n{_COLUMNS}"
        for thread in threads:
            short = thread["thread"].removeprefix("https://github.com/").replace("/issues/", "#")
            page, check, missed = thread["page"], thread["check"], thread.get("missed", "")
            folder = "symptoms" if missed in symptom_pages() else "checks"
            instead = f"[{missed}]({folder}/{missed}.md)" if missed not in {"", "none"} else missed
            answer = f"[{page}](symptoms/{page}.md) | [{check}](checks/{check}.md)"
            yield f"| [{short}]({thread['thread']}) | {thread['client']} | {answer} | {instead} |"


def markdown() -> str:
    """Return docs/threads.md."""
    return "\n".join(_lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
