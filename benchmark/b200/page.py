# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page: what passed, what failed, what each means and what to do next."""

import collections

import figures
import questions
import verdict
import waits

HEAD = ("name", "gpu", "capability", "driver", "cuda", "chip", "multiprocessors", "pack", "python", "system", "started")


def number(value):
    return "–" if value is None else ("%.0f" % value if abs(value) >= 1000 else "%.4g" % value)


def sentence(text):
    return text[:1].upper() + text[1:]


def cell(text):
    return " ".join(str(text).replace("|", "\\|").split())


def table(head, rows):
    return ["| %s |" % " | ".join(head), "|%s" % ("--|" * len(head))] + ["| %s |" % " | ".join(map(cell, row)) for row in rows] + [""]


def summary(steps):
    """The first lines: one that says it all, and what to do next."""
    counts = collections.Counter(step["verdict"] for step in steps)
    failed = [step for step in steps if not fine(step) and step["verdict"] != verdict.NOT_RUN]
    left = [step for step in steps if step["verdict"] == verdict.NOT_RUN]
    lines = ["**%d of %d steps are as they should be**%s." % (sum(map(fine, steps)), len(steps), "; " + ", ".join(
        "%d %s" % (count, name) for name, count in sorted(counts.items()) if name != verdict.PASSED) if failed or left else ""), ""]
    differ = sum(figure.get("verdict") == figures.DIFFERS for step in steps for figure in step.get("figures", []))
    count = sum("median" in figure for step in steps for figure in step.get("figures", []))
    if count:
        lines += ["%d figures were measured; %d differ from what is assumed or published." % (count, differ), ""]
    if failed:
        lines += ["What to do next, in this order:", ""]
        lines += ["%d. `%s`: %s." % (index, step["step"], step.get("next") or verdict.MEANINGS[step["verdict"]][1] or "read its log")
                  for index, step in enumerate(failed, 1)] + [""]
    return lines


def fine(step):
    return step["verdict"] == step.get("expect", verdict.PASSED)


def told(step):
    """What the table says of a step."""
    text = step.get("text") or verdict.MEANINGS[step["verdict"]][0]
    if step["verdict"] == verdict.PASSED and "sums" in step:
        text = "; ".join(kind["says"] for kind in step["sums"])
    elif step["verdict"] == verdict.PASSED and "figures" in step:
        count = sum(figure.get("verdict") == figures.DIFFERS for figure in step["figures"])
        text = "figures: %d; not as assumed: %d" % (len(step["figures"]), count)
    if "cubin_refused" in step:
        text += " (from PTX; the driver refused the cubin)"
    if "expect" in step:
        text = "%s: %s" % ("found as it was planted" if fine(step) else "planted a fault (%s) that was NOT found" % step["expect"], text)
    return text.splitlines()[0] if text else ""


def failures(steps):
    lines = []
    for step in steps:
        if fine(step) and "expect" not in step or step["verdict"] in (verdict.PASSED, verdict.NOT_RUN):
            continue
        meaning, cure = verdict.MEANINGS[step["verdict"]]
        lines += ["### %s: %s" % (step["step"], step["verdict"]), "", "%s. This means: %s." % (sentence(step["title"]), meaning), ""]
        if step.get("command"):
            lines += ["The run: `%s`" % step["command"], ""]
        if step.get("text"):
            lines += ["```text", step["text"].strip(), "```", ""]
        if step.get("diagnosis"):
            lines += ["**Who waits.** %s." % step["diagnosis"], ""]
            found = [waits.Wait(*wait) for wait in step.get("waits", [])]
            if found:
                lines += table(["role", "warp", "CTA", "alike", "waits for", "stage", "parity", "s", "needs"], [
                    (one.role, one.warp, tuple(one.cta), one.warps, "%s of '%s'" % (one.barrier, one.ring), one.stage, one.parity, one.seconds, one.needs) for one in found])
        if cure and not fine(step):
            lines += ["Next: %s." % (step.get("next") or cure), ""]
    return ["## What went wrong", ""] + lines if lines else []


def measured(steps):
    """The figures by the question that they answer; the constants of the project first."""
    by_line = collections.defaultdict(list)
    for step in steps:
        for figure in step.get("figures", []):
            by_line[figure["line"]].append(figure)
    lines = ["## Figures", "", "Medians, and between the 10th and the 90th of a hundred samples. *agrees*: within the tolerance of what is assumed.", ""] if by_line else []
    for line in sorted(by_line):
        lines += ["### %s%s" % ("%d. " % line if line else "", sentence(questions.QUESTIONS[line])), ""]
        rows = []
        for figure in by_line[line]:
            if "median" not in figure:
                rows.append((figure["name"], "–", "", number(figure.get("assumed")), figure.get("where", ""), figure.get("error", "not measured")))
                continue
            rows.append((figure["name"], "%s %s" % (number(figure["median"]), figure["unit"]), "%s to %s" % (number(figure["low"]), number(figure["high"])),
                         number(figure.get("assumed")), figure.get("where") or "nobody has published it",
                         figure["verdict"] if figure["verdict"] != figures.DIFFERS else "**differs**: %.2f times" % figure["ratio"]))
        lines += table(["figure", "measured", "spread", "assumed", "where", "verdict"], rows)
    return lines


def sums_told(steps):
    rows = [(kind["kind"], kind["elements"], kind["differ"], kind["assumed"], "; ".join(kind["explained"]) or "none of those tried", kind["says"])
            for step in steps for kind in step.get("sums", [])]
    if not rows:
        return []
    return ["## Sums, bit by bit", "", "What the simulator computes with a row of `lib/Chip/SumRules.cpp`, and the rules that give every bit measured.", ""] + table(
        ["kind", "sums", "other bits", "row", "explained by", "so"], rows)


def products(steps):
    rows = []
    for step in steps:
        for run in step.get("runs", []):
            numbers = run.get("numbers") or {}
            if run["verdict"] == verdict.PASSED and numbers.get("elements"):
                rows.append((step["step"], run["arguments"], numbers["elements"], "%.2e" % numbers["frobenius"] if "frobenius" in numbers else "–",
                             "%.1e" % numbers["frobenius_floor"] if "frobenius_floor" in numbers else "–", "%.2f" % numbers.get("max_bound_ratio", 0),
                             number(numbers["us"]) if "us_fastest" in numbers else "–", number(numbers["tflops"]) if "us_fastest" in numbers else "–"))
    if not rows:
        return []
    return ["## Right products", ""] + table(["step", "run", "elements", "error (Frobenius)", "floor", "largest error / bound", "us", "TFLOP/s"], rows)


def page(results):
    facts, steps = results.facts(), results.steps()
    lines = ["# First hour on %s" % facts.get("gpu", "a machine without a GPU that answers"), ""]
    lines += summary(steps) if steps else ["Nothing ran.", ""]
    lines += ["## Steps", ""] + table(["step", "what", "verdict", "", "s"], [
        (step["step"], step["title"], ("" if fine(step) else "**") + step["verdict"] + ("" if fine(step) else "**"), told(step), "%.0f" % step.get("seconds", 0)) for step in steps])
    lines += failures(steps) + sums_told(steps) + products(steps) + measured(steps)
    lines += ["## Machine", ""] + table(["fact", "value"], [(key, facts[key]) for key in HEAD if key in facts] + [
        (key, value) for key, value in facts.items() if key not in HEAD])
    return "\n".join(lines)
