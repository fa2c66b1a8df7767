"""The report as a page: rendered on the server, complete without scripts, nothing loaded from anywhere.

Pure functions from `findings.json` documents and their digests to HTML. `pages` renders what a server shows, `standalone` one
file that carries its own style. All text of a cluster is cleaned and escaped by `templating`.
"""
