"""A check's docstring as HTML: the little Markdown that these pages are written in, everything escaped."""

import re
import textwrap
from collections.abc import Iterator

from markupsafe import Markup, escape

from kafka_audit.model.commands import named_placeholders

_ITEM = re.compile(r"\n(?=[-*] |\d+[.)] )")
_MARKER = re.compile(r"(?:[-*]|\d+[.)]) +")
_CODE = re.compile(r"`([^`\n]+)`")
_STRONG = re.compile(r"\*\*([^*\n]+)\*\*")


def html(text: str) -> Markup:
    """Return headings, paragraphs, lists, tables and code of a docstring."""
    # What a report fills in from its evidence is here only named.
    return Markup("\n").join(_blocks(named_placeholders(text)))


def _blocks(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n\s*\n", text):
        rest = block
        if match := re.match(r"(#+) (.*)(?:\n|$)", block):
            yield Markup("<h2>{}</h2>").format(match[2])
            rest = block[match.end() :]
        if not rest.strip():
            continue
        if rest.startswith("```"):
            yield _code(rest.strip("`").partition("\n")[2])
        elif rest.startswith("    "):
            yield _code(textwrap.dedent(rest))
        elif rest.startswith("|"):
            yield _table(rest)
        else:
            yield from _items(rest)


def _items(text: str) -> Iterator[Markup]:
    items: list[Markup] = []
    for item in _ITEM.split(text):
        marker = _MARKER.match(item)
        texts = _words(" ".join(item[marker.end() if marker else 0 :].split()))
        if marker:
            items.append(Markup('<li><span class="mark na"></span>{}</li>').format(texts))
        else:
            yield Markup("<p>{}</p>").format(texts)
    if items:
        yield Markup('<ul class="entries">{}</ul>').format(Markup("").join(items))


def _code(text: str) -> Markup:
    return Markup('<pre class="command"><code>{}</code></pre>').format(text.strip("\n"))


def _table(text: str) -> Markup:
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
    rows = [cells for cells in lines if not all(re.fullmatch(r":?-+:?", cell) for cell in cells)]
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(_words(cell)) for cell in cells))
        for cells in rows
    )
    return Markup('<div class="scroll"><table><tbody>{}</tbody></table></div>').format(body)


def _words(text: str) -> Markup:
    marked = _CODE.sub(r"<code>\1</code>", str(escape(text)))
    return Markup(_STRONG.sub(r"<b>\1</b>", marked))  # noqa: S704 -- escaped in the line above
