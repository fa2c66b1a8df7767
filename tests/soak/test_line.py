"""The line through a soak's samples: a leak is found, a plateau and noise are none."""

import random
from xml.etree import ElementTree as ET

import pytest

from soak.line import fit, picture

XS = [float(number) for number in range(100)]


def noise(seed, size=1.0):
    dice = random.Random(seed)  # noqa: S311 -- no secret
    return [dice.gauss(0, size) for _ in XS]


def test_a_constant_does_not_grow():
    line = fit(XS, [7.0] * 100)
    assert (line.slope, line.error, line.grows) == (0.0, 0.0, False)


@pytest.mark.parametrize("slope", [0.001, -0.5, 3.0])
def test_a_straight_rise_grows_and_a_fall_does_not(slope):
    line = fit(XS, [5 + slope * x for x in XS])
    assert line.grows == (slope > 0)
    assert line.slope == pytest.approx(slope)


def test_noise_does_not_grow_and_a_leak_in_noise_does():
    flat = [fit(XS, [200 + value for value in noise(seed)]).grows for seed in range(100)]
    assert sum(flat) <= 6
    leaks = [fit(XS, [200 + 0.03 * x + value for x, value in zip(XS, noise(seed), strict=True)]).grows for seed in range(100)]
    assert sum(leaks) >= 90


def test_what_drifts_together_is_less_evidence():
    walks = []
    for seed in range(50):
        level, walk = 0.0, []
        for value in noise(seed):
            level = 0.8 * level + value  # goes back to where it was
            walk.append(200 + level)
        walks.append(fit(XS, walk).grows)
    assert sum(walks) <= 10


def test_the_picture_says_what_it_shows():
    line = fit(XS, [5 + 0.1 * x for x in XS])
    svg = ET.fromstring(picture("a <soak>", [("auditor rss", "MB", list(zip(XS, XS, strict=True)), line, 10.0)]))  # noqa: S314 -- ours
    texts = [element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "a <soak>"
    assert texts[1].startswith("auditor rss: +0.1 ± ")
    assert texts[1].endswith("a minute, GROWS")
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}polyline"))) == 2
