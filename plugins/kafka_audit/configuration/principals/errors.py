"""What comes instead of a principal."""


class RulesError(ValueError):
    """Kafka refuses the rules: the broker does not start. The message is Kafka's own, in one line."""


class MappingError(ValueError):
    """The rules give this name no principal: the connection fails. The message is Kafka's own."""


class UnsupportedError(ValueError):
    """Kafka may take the rules, but what they do is not known here; the message says what of them is not."""
