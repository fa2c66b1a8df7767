"""What is wrong today, by property: the subject, and why. A mend removes its line, because these tests are strict."""

HEADLINES: dict[str, str] = {
    "KA001-wrong_password": "the brokers that accept the login are in no finding",
    "KA202-a_controller_follows_an_old_leader": "the controller that reports the earlier leader is in no evidence",
    "reach-one_broker_refuses_the_right_password": "the brokers that accept the login are in no finding",
}
EXCLUSIONS: dict[str, str] = {}
_BLIND = ("logs and files", "logs, files and vantages")
_LESS_DATA = {
    "KA412-no_rule_names_the_certificate": (("file of 2", "every file", *_BLIND), "KA412 inferred becomes KA302 inferred"),
    "KA401-logs_in_and_is_no_super_user_at_one": (("right to DescribeConfigs",), "two more brokers are said to refuse"),
    "KA408-set_to_true": (("file of 2", *_BLIND), "KA401 is inferred at a broker that lets everyone in"),
}
LESS_DATA = {f"{name} without {what}": why for name, (inputs, why) in _LESS_DATA.items() for what in inputs}
OPEN_PROBES: dict[str, str] = {}
OTHER_NAMES: dict[str, str] = {}
OTHER_ORDER: dict[str, str] = {}
CAUSES: dict[str, str] = {}
