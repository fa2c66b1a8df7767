"""One way to write a sentence: templates of this package (Jinja2), filled with values that other parties supplied."""
