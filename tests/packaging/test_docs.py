"""Pages that say what the code says."""

import re

from airflow_environment import ROOT
from kafka_audit import docs
from kafka_audit.checks import catalogue
from kafka_audit.model.tables import TABLES


def test_the_page_of_tables_is_the_tables():
    """`make docs` writes it anew."""
    assert (ROOT / "docs" / "tables.md").read_text(encoding="utf-8") == docs.tables_page()


def test_the_page_of_logs_is_the_signatures():
    assert (ROOT / "docs" / "logs.md").read_text(encoding="utf-8") == docs.logs_page()


def test_every_table_and_column_stands_on_the_page():
    page = docs.tables_page()
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [table.table() for table in TABLES]
    assert "| `brokers_digest` | string | -> ViewBroker |" in page


def test_make_docs_writes_a_page_for_each_check(tmp_path):
    assert docs.main([str(tmp_path)]) == 0
    assert {page.stem for page in (tmp_path / "checks").glob("KA*.md")} == set(catalogue())
    index = (tmp_path / "checks" / "index.md").read_text(encoding="utf-8")
    assert all(f"[{code}]({code}.md)" in index for code in catalogue())


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        if page.is_relative_to(ROOT / "docs" / "checks"):
            continue
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
