"""The documentation site: `make site` builds it with Sphinx from the Markdown pages of the repository, where they are.

The whole repository is the source folder, so a link to a page or a file works on the site and in the repository's own view.
Beside each page is its Markdown, and llms.txt lists all of them for programs that read. The search finds error messages as
`explain` does, above what Sphinx finds.
"""

import json
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from kafka_audit import __version__
from kafka_audit.checks import catalogue
from kafka_audit.report.docs import families, family_subject
from kafka_audit.report.symptoms import symptom_pages
from kafka_audit.report.symptoms.search import search_data

ROOT = Path(__file__).parents[2]

# In the order in which a stranger needs the pages. A page that is missing here fails the build.
NAVIGATION = {
    "Start": ("Overview <self>", "/docs/on-call", "/docs/symptoms", "/docs/tasks", "All pages </docs/README>"),
    "Airflow": ("/docs/airflow", "/docs/docker-compose", "/docs/kubernetes", "Managed Airflow </docs/managed-airflow>"),
    "Spark and the store": ("/docs/spark",),
    "Clusters and logins": ("/docs/clusters", "/docs/logins"),
    "Reading a report": (
        "/docs/words",
        "The page in Airflow </docs/page>",
        "/docs/progress",
        "/docs/errors",
        "/docs/history",
        "/docs/bundles",
        "/docs/logs",
    ),
    "Checks": ("/docs/checks/index",),
    "Lint": ("/docs/lint", "/docs/lint-examples", "/docs/differential"),
    "Restarts and migrations": ("/docs/may", "/docs/may-table", "/docs/what-if", "/docs/migrations"),
    "Alerts and monitoring": ("/docs/alerts", "/docs/monitoring", "/docs/watch", "/docs/agents"),
    "Security": ("/docs/security", "/SECURITY"),
    "Reference": (
        "/docs/says",
        "/docs/logs-alone",
        "/docs/tables",
        "/docs/versions",
        "/docs/corpus",
        "/docs/logs-corpus",
        "/docs/threads",
        "/docs/threads-held-out",
        "/docs/peers",
        "/docs/performance",
        "Release notes </CHANGELOG>",
    ),
    "Contributing": (
        "/CONTRIBUTING",
        "/docs/new-check",
        "/docs/rooms",
        "/docs/testing",
        "/docs/language",
        "/docs/adr/README",
        "/docs/releases",
    ),
}

project = "kafka-audit"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]
myst_heading_anchors = 4
highlight_language = "text"

smartquotes = False  # messages are copied

html_theme = "furo"
html_title = f"kafka-audit {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sphinx = html_show_copyright = False


def _pages_below(page: str) -> Mapping[str, Sequence[str]]:
    """Return the pages that the navigation shows below a page, by caption; an entry may begin with its own title."""
    found = families(catalogue())
    if page == root_doc:
        return {f":caption: {caption}": pages for caption, pages in NAVIGATION.items()}
    if page == "docs/symptoms":
        return {"": [f"/docs/symptoms/{slug}" for slug in symptom_pages()]}
    if page == "docs/checks/index":
        return {"": [f"{family_subject(family)[:5]} {family} </docs/checks/{family}>" for family in found]}
    if page == "docs/adr/README":
        return {"": [f"/docs/adr/{path.stem}" for path in sorted((ROOT / "docs" / "adr").glob("0*.md"))]}
    members = found.get(page.removeprefix("docs/checks/"))
    return {"": [f"/docs/checks/{check.code}" for check in members]} if members else {}


def _add_navigation(_: Sphinx, page: str, source: list[str]) -> None:
    """Add the navigation to a page as it is read: in the file, the repository's own view would show it as code."""
    for caption, pages in _pages_below(page).items():
        entries = "\n".join(pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n\n{entries}\n```\n"


def _add_to_page(app: Sphinx, page: str, _: str, context: dict[str, Any], __: object) -> None:
    """Tell a program that reads a page where its Markdown is; give the page of the search what finds error messages."""
    if page == "search":
        data = json.dumps(search_data()).replace("<", "\\u003c")
        app.add_js_file(None, body=f"window.KAFKA_AUDIT_MESSAGES = {data};")
        app.add_js_file("messages.js")
    if page in app.env.found_docs:
        twin = posixpath.relpath(f"{page}.md", posixpath.dirname(page) or ".")
        context["metatags"] = f'{context.get("metatags", "")}<link rel="alternate" type="text/markdown" href="{twin}">'


def _twin(app: Sphinx, page: str) -> str:
    """Return the Markdown of a page, whose links to pictures and files lead to where the site has them."""
    folder = posixpath.dirname(page)
    copied = {name: f"_images/{found[1]}" for name, found in app.env.images.items()}
    copied |= {name: f"_downloads/{found[1]}" for name, found in app.env.dlfiles.items()}

    def led(link: re.Match[str]) -> str:
        there = copied.get(posixpath.normpath(posixpath.join(folder, link[1])))
        return f"]({posixpath.relpath(there, folder or '.')})" if there else link[0]

    text = (ROOT / app.env.doc2path(page, base=False)).read_text(encoding="utf-8")
    return re.sub(r"\]\(([^)#:]+)\)", led, text)


def _listed(app: Sphinx, entries: Sequence[str]) -> Iterator[str]:
    """Yield a line of llms.txt for each entry of the navigation and for those below it."""
    for entry in entries:
        match = re.fullmatch(r"(?:(.*) <)?(.*?)>?", entry)
        page = root_doc if match is None or match[2] == "self" else match[2].lstrip("/")
        yield f"- [{app.env.titles[page].astext()}]({page}.md)"
        if page != root_doc:
            for below in _pages_below(page).values():
                yield from _listed(app, below)


def _write_for_readers(app: Sphinx, failed: Exception | None) -> None:
    """Show the README at the address of the site itself, and write the Markdown of all pages and their list."""
    if failed or app.builder.format != "html":
        return
    shutil.copy(app.outdir / "README.html", app.outdir / "index.html")
    for page in app.env.found_docs:
        (app.outdir / f"{page}.md").write_text(_twin(app, page), encoding="utf-8")
    about = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    lines = [f"# {project}", "", "> " + " ".join(about.split())]
    for caption, pages in NAVIGATION.items():
        lines += ["", f"## {caption}", "", *_listed(app, pages)]
    (app.outdir / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register what Sphinx calls."""
    app.connect("source-read", _add_navigation)
    app.connect("html-page-context", _add_to_page)
    app.connect("build-finished", _write_for_readers)
