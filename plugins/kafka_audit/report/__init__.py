"""Tell what was found: words, causes, incidents, terminal page, `findings.json`."""
