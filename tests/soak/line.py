"""A straight line through samples, its slope with its error, and a picture of both. Pure."""

import itertools
import math
from dataclasses import dataclass
from html import escape

ERRORS = 2.0  # standard errors: 97 of 100 flat series pass


@dataclass(frozen=True, kw_only=True)
class Line:
    """y = start + slope * x; `error` is the slope's standard error."""

    start: float
    slope: float
    error: float

    @property
    def grows(self):
        """Whether the slope is above zero by more than its error."""
        return self.slope > ERRORS * self.error


def fit(xs, ys):
    """Return the line of least squares; three samples at least.

    Samples of memory hang together: a heap that grew once stays so. What is left after the line is that much less evidence, so
    the error is that of as many independent samples as the correlation of neighbours leaves.
    """
    count = len(xs)
    middle_x, middle_y = sum(xs) / count, sum(ys) / count
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread
    start = middle_y - slope * middle_x
    rest = [y - start - slope * x for x, y in zip(xs, ys, strict=True)]
    squares = sum(value * value for value in rest)
    if squares < 1e-12 * max(1.0, middle_y * middle_y):
        return Line(start=start, slope=0.0 if abs(slope) < 1e-12 else slope, error=0.0)
    neighbours = sum(one * other for one, other in itertools.pairwise(rest)) / squares
    correlation = min(0.95, max(0.0, neighbours))
    independent = max(3.0, count * (1 - correlation) / (1 + correlation))
    variance = squares / count * independent / max(1.0, independent - 2)
    return Line(start=start, slope=slope, error=math.sqrt(variance / spread * count / independent))


WIDTH, HEIGHT, LEFT, TOP = 760, 130, 90, 34


def picture(title, charts):
    """Return an SVG: a chart for each (name, unit, samples as (x, y), line, first x that counts)."""
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + LEFT + 20}" height="{TOP + len(charts) * (HEIGHT + 56)}" '
            'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>'
        )
    ]
    for number, (name, unit, samples, line, begin) in enumerate(charts):
        top = TOP + number * (HEIGHT + 56) + 24
        parts.extend(_chart(name, unit, samples, line, begin, top))
    return "".join([*parts, "</svg>\n"])


def _chart(name, unit, samples, line, begin, top):  # noqa: PLR0913, PLR0917 -- parts of one chart
    xs, ys = [x for x, _ in samples], [y for _, y in samples]
    right, low, high = max(xs) or 1, 0, max(ys) * 1.1 or 1

    def at(x, y):
        return f"{LEFT + WIDTH * x / right:.1f},{top + HEIGHT * (1 - (y - low) / (high - low)):.1f}"

    text = f"{name}: {line.slope:+.4g} ± {line.error:.2g} {unit} a minute, {'GROWS' if line.grows else 'does not grow'}"
    yield f'<text x="{LEFT}" y="{top - 6}">{escape(text)}</text>'
    yield f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="#f6f7f9"/>'
    for value in (0, max(ys)):
        yield f'<text x="{LEFT - 6}" y="{at(0, value).partition(",")[2]}" text-anchor="end">{value:.4g} {escape(unit)}</text>'
    yield f'<text x="{LEFT + WIDTH}" y="{top + HEIGHT + 14}" text-anchor="end">{right:.0f} min</text>'
    yield f'<polyline fill="none" stroke="#0b5fad" points="{" ".join(at(x, y) for x, y in samples)}"/>'
    ends = [at(x, line.start + line.slope * x) for x in (begin, right)]
    yield f'<polyline fill="none" stroke="#c22" stroke-dasharray="5 3" points="{" ".join(ends)}"/>'
