"""The documentation site: `make site` builds it with Sphinx from the Markdown pages of the repository, where they are.

The whole repository is the source folder, so a link to a page or a file works on the site and in the repository's own view.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from sphinx.application import Sphinx

from kafka_audit import __version__
from kafka_audit.checks import catalogue
from kafka_audit.report.docs import families, family_subject

ROOT = Path(__file__).parents[2]

# In the order in which a stranger needs the pages. A page that is missing here fails the build.
NAVIGATION = {
    "Start": ("Overview <self>", "/docs/symptoms", "/docs/tasks", "All pages </docs/README>"),
    "Airflow": ("/docs/airflow", "/docs/docker-compose", "/docs/kubernetes", "Managed Airflow </docs/managed-airflow>"),
    "Spark and the store": ("/docs/spark",),
    "Clusters and logins": ("/docs/clusters", "/docs/logins"),
    "Reading a report": ("The page in Airflow </docs/page>", "/docs/errors", "/docs/history", "/docs/bundles", "/docs/logs"),
    "Checks": ("/docs/checks/index",),
    "Lint": ("/docs/lint", "/docs/lint-examples", "/docs/differential"),
    "Restarts and migrations": ("/docs/what-if", "/docs/migrations"),
    "Alerts and monitoring": ("/docs/alerts", "/docs/monitoring", "/docs/watch", "/docs/agents"),
    "Security": ("/docs/security", "/SECURITY"),
    "Reference": (
        "/docs/tables",
        "/docs/versions",
        "/docs/corpus",
        "/docs/puzzles",
        "/docs/peers",
        "/docs/performance",
        "Release notes </CHANGELOG>",
    ),
    "Contributing": ("/CONTRIBUTING", "/docs/language", "/docs/rooms", "/docs/adr/README", "/docs/releases"),
}

project = "kafka-audit"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name != "docs"]
myst_heading_anchors = 4
highlight_language = "text"

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


def _copy_first_page(app: Sphinx, failed: Exception | None) -> None:
    """Show the README at the address of the site itself."""
    if not failed and app.builder.format == "html":
        shutil.copy(app.outdir / "README.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    """Register what Sphinx calls."""
    app.connect("source-read", _add_navigation)
    app.connect("build-finished", _copy_first_page)
