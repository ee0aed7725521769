# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws what every_m.py measured: a panel for each N and K with the time over M,
fp8.gemm's and the peers', both axes logarithmic.

usage: plot_every_m.py RESULTS.csv OUT.svg

A user of DeepGEMM can pad A to a multiple of 64 rows, so its time at M is no more
than that at the next such M.
"""

import csv
import math
import sys

import inputs
import plot

OURS = "fp8.gemm"
PADS_TO = {"deepgemm": 64}
COLUMNS_OF_PANELS = 2
PANEL_WIDTH, PANEL_HEIGHT = 370, 210
LEFT, TOP, GAP_X, GAP_Y = 60, 76, 70, 58


def read(path: str) -> tuple[dict, dict[tuple[int, int], dict[str, dict[int, float]]]]:
    """The first line, and of each (n, k) and product the microseconds of each m."""
    cure = "give a file that every_m.py wrote"
    with inputs.reading(path, cure) as file:
        rows = list(csv.DictReader(file))
        panels: dict[tuple[int, int], dict[str, dict[int, float]]] = {}
        for row in rows:
            of_shape = panels.setdefault((int(row["n"]), int(row["k"])), {})
            of_shape.setdefault(row["peer"], {})[int(row["m"])] = float(row["us"])
    if not rows:
        inputs.fail(path, "has no measurement", cure)
    return rows[0], panels


def with_padding(times: dict[int, float], multiple: int) -> dict[int, float]:
    """The times where A is padded to a multiple of so many rows if that is faster."""
    padded = lambda m: times.get(m + -m % multiple, math.inf)
    return {m: min(us, padded(m)) for m, us in times.items()}


def lead(ours: dict[int, float], others: list[dict[int, float]]) -> tuple[float, float, int]:
    """The geometric mean and the least of the best peer's time over ours, and of how many M."""
    ratios = [min(times[m] for times in others if m in times) / us for m, us in ours.items() if any(m in times for times in others)]
    if not ratios:
        return 0.0, 0.0, 0
    return math.exp(sum(map(math.log, ratios)) / len(ratios)), min(ratios), len(ratios)


class Axes:
    """Where a panel has a value; both axes are logarithmic."""

    def __init__(self, x: float, y: float, ms: list[int], us: list[float]):
        self.x, self.y = x, y
        self.most_m = max(ms)
        self.low, self.high = min(us) * 0.9, max(us) * 1.1

    def point(self, m: float, us: float) -> tuple[float, float]:
        across = math.log(m) / math.log(max(self.most_m, 2))
        up = math.log(us / self.low) / math.log(self.high / self.low)
        return self.x + across * PANEL_WIDTH, self.y + (1 - up) * PANEL_HEIGHT

    def draw(self, svg: plot.Svg, title: str) -> None:
        svg.text(self.x, self.y - 8, title, weight="bold")
        for exponent in range(0, int(math.log2(self.most_m)) + 1, 2):
            x, _ = self.point(2**exponent, self.low)
            svg.line(x, self.y, x, self.y + PANEL_HEIGHT, "#e5e5e5", 1)
            svg.text(x, self.y + PANEL_HEIGHT + 14, str(2**exponent), "middle", 10)
        for us in (factor * 10**power for power in range(-1, 6) for factor in (1, 2, 5)):
            if self.low <= us <= self.high:
                _, y = self.point(1, us)
                svg.line(self.x, y, self.x + PANEL_WIDTH, y, "#e5e5e5", 1)
                svg.text(self.x - 6, y + 3, "%g" % us, "end", 10)


def draw_panel(svg: plot.Svg, axes: Axes, products: dict[str, dict[int, float]], title: str) -> None:
    axes.draw(svg, title)
    # Ours last, above the others.
    for peer in sorted(products, key=lambda name: name == OURS):
        times = products[peer]
        points = [axes.point(m, us) for m, us in sorted(times.items())]
        svg.path(points, plot.colour_of(colour_name(peer)), 1.2)
        if peer != OURS:
            for x, y in points:
                svg.rectangle(x - 1.5, y - 1.5, 3, 3, plot.colour_of(colour_name(peer)))


def colour_name(peer: str) -> str:
    return "fp8" if peer == OURS else peer


def draw(path: str) -> str:
    first, panels = read(path)
    svg = plot.Svg()
    svg.text(12, 24, "Microseconds of D = A B for every M on one %s, %s" % (first["gpu"], first["date"]), size=15, weight="bold")
    svg.text(12, 41, "fp8.gemm as installed, each M of 1 to 1,100 and random ones above; peers at the squares, DeepGEMM's A padded where that helps it.", size=10)
    x = LEFT
    for peer in (OURS, *sorted({peer for products in panels.values() for peer in products} - {OURS})):
        svg.rectangle(x, 53, 10, 10, plot.colour_of(colour_name(peer)))
        svg.text(x + 14, 62, "fp8.gemm (ours)" if peer == OURS else plot.TITLES.get(peer, peer))
        x += 130
    y = TOP
    for index, ((n, k), products) in enumerate(panels.items()):
        column = index % COLUMNS_OF_PANELS
        y = TOP + 20 + index // COLUMNS_OF_PANELS * (PANEL_HEIGHT + GAP_Y)
        products = {peer: with_padding(times, PADS_TO.get(peer, 1)) for peer, times in products.items()}
        mean, least, count = lead(products.get(OURS, {}), [times for peer, times in products.items() if peer != OURS])
        title = "N = %d, K = %d" % (n, k) + (": %.2f times the best peer, least %.2f" % (mean, least) if count else "")
        axes = Axes(LEFT + column * (PANEL_WIDTH + GAP_X), y, [m for times in products.values() for m in times],
                    [us for times in products.values() for us in times.values()])
        draw_panel(svg, axes, products, title)
    return svg.document(y + PANEL_HEIGHT + GAP_Y)


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) != 2:
        print(__doc__.strip().splitlines()[3], file=sys.stderr)
        return 2
    results, output = arguments
    text = draw(results)
    with inputs.writing(output, newline="\n") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    inputs.run(main)
