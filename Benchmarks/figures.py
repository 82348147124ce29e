"""What the figures of the rows mean, which targets they have, and whether a run shows them."""
import dataclasses
import statistics

# A target is what is good enough: it guards against getting worse. README.md has the aims beyond the targets.

# A run is disturbed if something else used more of the CPUs than this in the middle one of a row's loads.
MOST_OTHERS = 0.25
# With an earlier build beside, no figure may be worse by more than this.
MOST_WORSE = 0.05


@dataclasses.dataclass(frozen=True)
class Figure:
    """A name, what it is in words, its row, its format, and its target: a limit, and whether that is a ceiling."""
    name: str
    title: str
    row: str
    form: str = "{:.2f}"
    limit: float | None = None
    ceiling: bool = True

    @property
    def target(self):
        return f"{'≤' if self.ceiling else '≥'} {self.form.format(self.limit)}" if self.limit is not None else ""

    def is_met(self, value):
        return value <= self.limit if self.ceiling else value >= self.limit


FIGURES = [
    Figure("get", "`GET`, one person: CPU against bare C", "get", limit=1.7),
    Figure("people", "`GET`, 1000 people: CPU against bare C", "people", limit=1.7),
    Figure("new", "`GET`, every token new: CPU against bare C, RSA", "new", limit=1.5),
    Figure("refused", "refused, no token: CPU against bare C", "refused", limit=1.5),
    Figure("expired", "refused, expired token: CPU against a good one", "new", limit=1.1),
    Figure("post_cpu", "`POST`, SQLite, 64 connections: CPU against a `GET` of bare C", "post", limit=4.0),
    Figure("post_rate", "`POST`, SQLite, 64 connections: rate against Go", "post", limit=5, ceiling=False),
    Figure("post_one", "`POST`, SQLite, one connection: latency against a bare commit", "post_one", limit=3.0),
    Figure("mix_cpu", "90/10 mix, 1000 people: CPU against Go", "mix"),
    Figure("mix_rate", "90/10 mix, 1000 people: rate against Go", "mix"),
    Figure("p99", "p99 of `GET` beside 64 writers, against 64 readers", "p99", limit=1.5),
    Figure("idle", "idle connection, bytes of 5,000", "idle", "{:.0f}", 13_500),
    Figure("idle_cpu", "`GET` beside 5,000 idle connections: CPU against without", "idle"),
    Figure("streams", "idle stream of changes, bytes of 5,000", "streams", "{:.0f}", 16_384),
    Figure("streams_cpu", "`GET` beside 5,000 streams of changes: CPU against without", "streams", limit=1.1),
    Figure("resident", "resident memory after start, MB", "start", "{:.1f}", 21),
    Figure("start", "start to first list of tasks, ms", "start", "{:.0f}", 50),
    Figure("pg_get", "PostgreSQL, one person, `GET`: rate against Go", "pg", limit=2, ceiling=False),
    Figure("pg_post", "PostgreSQL, one person, `POST`: rate against Go, ids by owner", "pg", limit=3, ceiling=False),
    Figure("pg_sequence", "PostgreSQL, one person, `POST`: rate against Go, ids of a sequence", "pg"),
    Figure("pg_crowd_get", "PostgreSQL, 64 people, `GET`: rate against Go", "pg_crowd", limit=2, ceiling=False),
    Figure("pg_crowd_post", "PostgreSQL, 64 people, `POST`: rate against Go, ids by owner", "pg_crowd"),
    Figure("pg_crowd_sequence", "PostgreSQL, 64 people, `POST`: rate against Go, ids of a sequence", "pg_crowd"),
    Figure("large_get", "ten million tasks: CPU of `GET` against ten thousand", "large", limit=1.05),
    Figure("large_page", "ten million tasks: CPU of `GET`, not in memory, against ten thousand", "large", limit=1.3),
    Figure("large_post", "ten million tasks: CPU of `POST` against ten thousand", "large", limit=1.1),
    Figure("large_post_one", "ten million tasks: CPU of `POST` of one person against ten thousand", "large", limit=1.1),
    Figure("large_backup", "ten million tasks: p99 of `POST` beside a backup, ms", "large", "{:.1f}", 50),
    Figure("large_export", "ten million tasks: p99 of `POST` beside an export, ms", "large", "{:.1f}", 50),
    Figure("paced", "a request of people who ask every 30 s: CPU, us", "paced", "{:.1f}"),
    Figure("paced_people", "people who ask every 30 s, at half of a core", "paced", "{:,.0f}"),
]


def against_before(name):
    """The figure that compares this build with an earlier one; `name` is `ROW WHAT before REQUESTS`."""
    row, what, _, *requests = name.split(" ", 3)
    title = f"{', '.join([row, *requests])}: {what.replace('cpu', 'CPU')} against the earlier build"
    if what == "rate":
        return Figure(name, title, row, limit=1 - MOST_WORSE, ceiling=False)
    return Figure(name, title, row, limit=1 + MOST_WORSE)


@dataclasses.dataclass
class Finding:
    """The values of a figure in all rounds, and the verdict on its target."""
    figure: Figure
    values: list
    others: float

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def verdict(self):
        if self.figure.limit is None:
            return ""
        if self.others > MOST_OTHERS:
            return f"no verdict: others used {self.others:.2f} CPUs"
        # On a shared machine the rounds of one program differ by a tenth and more. What is missed is missed by their middle half.
        first, _, third = statistics.quantiles(self.values, n=4) if len(self.values) > 1 else self.values * 3
        if self.figure.is_met(self.median):
            return "met"
        return "within the noise" if self.figure.is_met(first) or self.figure.is_met(third) else "missed"

    @property
    def fails(self):
        return self.verdict not in ("", "met", "within the noise")

    def text(self, value):
        return self.figure.form.format(value)


def findings(measurement):
    """Of each figure that was measured."""
    known = [figure for figure in FIGURES if figure.name in measurement.figures]
    compared = [against_before(name) for name in measurement.figures if " before" in name]
    return [Finding(figure, measurement.figures[figure.name], statistics.median(measurement.used_by_others[figure.row]))
            for figure in known + compared]
