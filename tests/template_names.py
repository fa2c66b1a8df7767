"""The names that a template of a sentence has values for."""

from jinja2 import meta

from kafka_audit.words import sentences


def names_in(template):
    return meta.find_undeclared_variables(sentences._environment().parse(template))
