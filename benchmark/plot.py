# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the results of the comparison on a GPU: for each row of rows.csv bars of
TFLOP/s, ours and the peers', the limit as a line, and our ratio to the best peer. Of
several files each peer's fastest result counts.

usage: plot.py RESULTS.csv... OUT.svg
"""

import csv
import math
import os
import sys
from xml.sax.saxutils import escape

GPU = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu")
sys.path.insert(0, GPU)
import inputs
import report
import table

# Colours that the colour-blind can tell apart (Okabe and Ito). Others follow in grey.
COLOURS = {"fp8": "#0072b2", "deepgemm": "#d55e00", "cublaslt": "#009e73", "cutlass": "#cc79a7", "triton": "#e69f00"}
TITLES = {"fp8": "fp8 (ours)", "deepgemm": "DeepGEMM", "cublaslt": "cuBLASLt", "cutlass": "CUTLASS", "triton": "Triton"}
OTHER_COLOUR = "#888888"

WIDTH, LEFT, RIGHT = 900, 150, 70
BAR, GAP = 7, 9
HEAD, FOOT = 76, 34


def read_measurements(path: str) -> list[dict]:
    """What CsvFile wrote, as report.Comparison takes it."""
    with inputs.reading(path, inputs.RESULTS) as file:
        measurements = list(csv.DictReader(file))
        missing = {"m", "n", "k", "peer", "us", "right", "date", "gpu"} - set(measurements[0] if measurements else {})
        if missing:
            raise KeyError(min(missing))
        for one in measurements:
            one.update({key: int(one[key]) for key in "mnk"}, right=one["right"] == "True", us=float(one["us"]) if one["us"] else None)
    return measurements


def compare(rows: list[table.Row], measurements: list[dict]) -> list[report.Comparison]:
    """The rows that were measured, in the table's order."""
    comparisons = []
    for row in rows:
        of_row = [one for one in measurements if tuple(int(one[key]) for key in "mnk") == row.shape]
        if of_row:
            comparisons.append(report.Comparison(row, of_row))
    return comparisons


class Bar:
    def __init__(self, peer: str, tflops: float, pale: bool):
        self.peer, self.tflops, self.pale = peer, tflops, pale


def bars(comparison: report.Comparison) -> list[Bar]:
    """Ours, then the peers, cuBLASLt by the better of its two."""
    best: dict[str, Bar] = {}
    for peer, tflops in comparison.peers.items():
        name = peer.removesuffix("-best")
        if name not in best or best[name].tflops < tflops:
            best[name] = Bar(name, tflops, peer in comparison.represented)
    order = [name for name in COLOURS if name in best] + sorted(set(best) - set(COLOURS))
    ours = [Bar(report.OURS, comparison.tflops, False)] if comparison.ours else []
    return ours + [best[name] for name in order]


def colour_of(peer: str, pale: bool = False) -> str:
    """On white, 40 % of it if pale."""
    colour = COLOURS.get(peer, OTHER_COLOUR)
    if not pale:
        return colour
    return "#" + "".join("%02x" % (255 - (255 - int(colour[i:i + 2], 16)) * 2 // 5) for i in (1, 3, 5))


def limit(comparison: report.Comparison) -> float:
    return comparison.row.tflops(comparison.row.limit_us)


def step(most: float) -> int:
    """Between the lines of a grid of at most ten."""
    power = 10 ** math.floor(math.log10(most / 10))
    return next(int(power * factor) for factor in (1, 2, 5, 10) if most / (power * factor) <= 10) or 1


class Svg:
    """Shapes, with coordinates of one decimal."""

    def __init__(self):
        self.lines: list[str] = []

    def rectangle(self, x, y, width, height, colour):
        self.lines.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>' % (x, y, width, height, colour))

    def line(self, x0, y0, x1, y1, colour, width):
        self.lines.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%.1f"/>' % (
            x0, y0, x1, y1, colour, width))

    def path(self, points, colour, width):
        """A line through all points, (x, y) each."""
        text = " ".join("%.1f,%.1f" % point for point in points)
        self.lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="%.1f"/>' % (text, colour, width))

    def text(self, x, y, text, anchor="start", size=11, weight="normal"):
        self.lines.append('<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" font-weight="%s">%s</text>' % (
            x, y, anchor, size, weight, escape(text)))

    def document(self, height: float) -> str:
        # An own background: it is read on light pages and on dark ones.
        head = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
                'font-family="Helvetica, Arial, sans-serif" fill="#222222">' % (WIDTH, height, WIDTH, height))
        ground = '<rect width="%d" height="%d" rx="6" fill="#ffffff"/>' % (WIDTH, height)
        return "\n".join([head, ground, *self.lines, "</svg>"]) + "\n"


def draw_panel(svg: Svg, comparisons: list[report.Comparison], top: float) -> float:
    """A scale of its own and its rows; gives where it ends."""
    most = max([limit(one) for one in comparisons] + [bar.tflops for one in comparisons for bar in bars(one)])
    scale = (WIDTH - LEFT - RIGHT) / most
    bottom = top + sum(BAR * len(bars(one)) + GAP for one in comparisons)
    for value in range(0, int(most) + 1, step(most)):
        svg.line(LEFT + value * scale, top - 4, LEFT + value * scale, bottom, "#dddddd", 1)
        svg.text(LEFT + value * scale, bottom + 14, "%d" % value, "middle", 10)
    y = top
    for one in comparisons:
        height = BAR * len(bars(one))
        svg.text(LEFT - 8, y + height / 2 + 4, "%d x %d x %d" % one.row.shape, "end")
        for index, bar in enumerate(bars(one)):
            svg.rectangle(LEFT, y + index * BAR, bar.tflops * scale, BAR - 1, colour_of(bar.peer, bar.pale))
        x = LEFT + limit(one) * scale
        svg.line(x, y - 2, x, y + height + 1, "#222222", 2)
        if one.ratio:
            svg.text(WIDTH - 12, y + height / 2 + 4, "%.2f" % one.ratio, "end", 11, "bold")
        y += height + GAP
    return bottom + FOOT


def draw_legend(svg: Svg, comparisons: list[report.Comparison], y: float) -> None:
    x = LEFT
    shown = {bar.peer: bar for one in comparisons for bar in bars(one)}
    for peer in [name for name in COLOURS if name in shown] + sorted(set(shown) - set(COLOURS)):
        title = TITLES.get(peer, peer)
        svg.rectangle(x, y - 9, 10, 10, colour_of(peer))
        svg.text(x + 14, y, title)
        x += 95
    svg.line(x + 4, y - 10, x + 4, y + 2, "#222222", 2)
    svg.text(x + 10, y, "limit")
    svg.text(WIDTH - 12, y, "ours / best", "end", 10)


def plot(rows: list[table.Row], measurements: list[dict]) -> str:
    comparisons = compare(rows, measurements)
    if not comparisons:
        raise inputs.InputError("no row of rows.csv was measured; " + inputs.RESULTS)
    svg = Svg()
    one = measurements[0]
    svg.text(12, 24, "Blockwise FP8 GEMM, TFLOP/s on one %s, %s" % (one["gpu"], one["date"].partition("T")[0]), size=15, weight="bold")
    if any(bar.pale for each in comparisons for bar in bars(each)):
        svg.text(12, 41, "Pale: did not run beside us; its figure of the baseline, times cuBLASLt now over cuBLASLt then.", size=10)
    svg.text(12, 62, "M x N x K")
    draw_legend(svg, comparisons, 62)
    y = HEAD
    for small in (True, False):
        panel = [each for each in comparisons if (each.row.shape[0] <= report.SMALL_M) == small]
        if panel:
            y = draw_panel(svg, panel, y)
    return svg.document(y)


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) < 2:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    *results, output = arguments
    measurements = [one for path in results for one in read_measurements(path)]
    text = plot(table.read_rows(os.path.join(GPU, "rows.csv")), measurements)
    with inputs.writing(output, newline="\n") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    inputs.run(main)
