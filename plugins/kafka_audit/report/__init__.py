"""Reports: the terminal page, `findings.json`, HTML, Markdown and formats of CI."""
