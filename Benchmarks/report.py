"""What a run found, as a table for the terminal and as the document that belongs to the repository."""
import os
import statistics
import time

import machine
import rows

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = f"{HERE}/RESULTS.md"


def table(found):
    """The findings, aligned: figure, median, range of the rounds, target, verdict."""
    lines = [("figure", "median", "rounds", "target", "verdict")]
    lines += [(each.figure.title.replace("`", ""), *numbers(each), each.verdict) for each in found]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def numbers(finding):
    least, most = finding.text(min(finding.values)), finding.text(max(finding.values))
    return finding.text(finding.median), f"{least}–{most}", finding.figure.target


def write(measurement, found, root):
    """Renews the document."""
    with open(DOCUMENT, "w") as f:
        f.write(document(measurement, found, summaries(measurement.loads), root))


def document(measurement, found, shown, root):
    options, answers = measurement.options, measurement.programs.answers
    lines = [
        "# Results", "", "<!-- Written by Benchmarks/run --write. Do not edit. -->", "",
        f"Measured on {time.strftime('%Y-%m-%d')}, {options.rounds} rounds at most, {options.seconds} s for each load after a second of the "
        f"same, lists of ten tasks in {answers['list.json']:,} bytes, 64 connections from the same machine where a row does not say otherwise. task-server ran with "
        "its defaults, its log on and written to a file. [README.md](README.md) says what each row is.", "",
        *(f"- {name}: {value}" for name, value in machine.description(root).items()), "",
        "## Targets", "",
        "[README.md](README.md#how-a-figure-comes-about) says how a figure and a verdict come about.", "",
        "| Figure | Median (rounds) | Target: verdict |", "| --- | ---: | --- |"]
    lines += [f"| {each.figure.title} | **{median}** ({spread}) | {': '.join(filter(None, (target, each.verdict)))} |"
              for each in found for median, spread, target in [numbers(each)]]
    lines += ["", *loads_table(shown)]
    if measurement.wrong:
        lines += ["", "Wrong answers in this run:", "", *(f"- {sentence}" for sentence in measurement.wrong)]
    return "\n".join(lines) + "\n"


def loads_table(shown):
    yield from ("## Loads", "", "Medians of the rounds. With PostgreSQL, CPU is that of the server and that of the database.", "",
                "| Row, program: requests | CPU each, us | a second | p50–p99, us |", "| --- | ---: | ---: | ---: |")
    for (row, program, requests), load in shown.items():
        cpu = " + ".join(number(load[name], "{:.1f}") for name in ("cpu_us", "helper_cpu_us") if load[name] is not None)
        rate, p50, p99 = (number(load[name], "{:,.0f}") for name in ("rate", "p50_us", "p99_us"))
        yield f"| `{row}`, {program}: {requests} | {cpu} | {rate} | {p50}–{p99} |"


def number(value, form):
    return "" if value is None else form.format(value)


def summaries(loads):
    """The medians of the loads with the same row, program and requests."""
    grouped = {}
    for load in loads:
        grouped.setdefault((load.row, load.program, load.requests), []).append(load)
    names = ("cpu_us", "helper_cpu_us", "rate", "p50_us", "p99_us", "others")
    order = {row.__name__: number for number, row in enumerate(rows.ROWS)}
    return {key: {name: median(getattr(each, name) for each in group) for name in names}
            for key, group in sorted(grouped.items(), key=lambda item: order[item[0][0]])}


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None
