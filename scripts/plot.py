"""plot.py: draws the charts for plot.sh, whose head describes them.

Text and lines have medium brightness. An SVG file has a transparent background and is readable
on white and on dark pages; a PNG file is white, for what drops transparency.
"""
import collections
import csv
import itertools
import math
import os
import re
import statistics
import sys
import textwrap
import zlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from csv_rows import CLASSES, COUNTED, UsageError, files_of, value_of  # noqa: E402
from matplotlib.text import Text  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator  # noqa: E402

GREY = "#7d8590"
PALETTE = ["#d55e00", "#1f7fc0", "#00966d", "#b5509c", "#a5762a", "#4c9ad6"]
DASHES = ["solid", "dashed", "dotted", "dashdot"]
LABEL_PT = 9
MAX_LINES = 8 # of a chart; more cannot be told apart
ONLY = set()  # --only
MARKERS = ["o", "s", "^", "D", "v", "P"]
# What tells lines of one picture apart, besides the algorithm, and how it is written. One of
# a kind is not.
TELLING = {"threads": "{} threads", "device": "{}", "block": "block {}", "gpus": "{} GPUs", "ranks": "{} processes",
           "engine": "{}", "simd": "{}"}
# Axes, dates and versions that belong to an algorithm, and whatever follows from them.
WITHIN_A_PICTURE = {"algo", "kernel", "launch", "line", "n", "pot", "library_version", "nodes", "date", *TELLING}
# The columns that rows of one picture have in common.
CONFIGURATION = [name for name, column_class in CLASSES.items()
                 if column_class not in ("MEASURE", "OUTCOME") and name not in WITHIN_A_PICTURE]
# What a CPU and a GPU that one picture compares have in common.
DATA = ["type", "operator", "segments", "kind", "input", "max", "keep", "seed", "values"]

plt.rcParams.update({
    "svg.hashsalt": "scanbench",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": GREY,
    "axes.labelcolor": GREY,
    "axes.edgecolor": GREY,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
})


# ---- Reading ----


def rows_with_times(columns, rows):
    """The rows that passed, as dictionaries of text."""
    named = (dict(zip(columns, row)) for row in rows)
    return [row for row in named if row["check"] == "passed" and number(row, "time_ms")]


def number(row, column):
    """The value of a column, or None if it is empty."""
    text = row.get(column)
    return float(text) if text else None


def series_name(row, telling):
    """The label of a line: the algorithm, and what tells it from other lines."""
    return ", ".join([row["algo"], *(TELLING[c].format(row[c]) for c in telling if row.get(c) not in (None, "", "1"))])


def tells_apart(column, rows):
    """Does any algorithm have several values in the column?"""
    values = {}
    for row in rows:
        values.setdefault(row["algo"], set()).add(row.get(column))
    return any(len(own) > 1 for own in values.values())


def lines_of(rows, x, y):
    """{name: [(x, y), ...]} in order of x; of several rows for one point the median."""
    telling = [c for c in TELLING if c != x and tells_apart(c, rows)]
    points = {}
    for row in rows:
        if number(row, x) and number(row, y) is not None:
            line = points.setdefault(series_name(row, telling), {})
            line.setdefault(number(row, x), []).append(number(row, y))
    return {name: sorted((at, statistics.median(values)) for at, values in line.items()) for name, line in points.items()}


def groups_of(rows, columns=CONFIGURATION):
    """[(what sets it apart from the other groups, rows)]: each of one configuration.

    Of several states of the caches, cold is drawn, if it is there.
    """
    caches = {row.get("cache") for row in rows}
    if "cold" in caches:
        rows = [row for row in rows if row.get("cache") == "cold"]
    used = {(row["algo"], row["device"], c) for row in rows for c in columns if value_of(row, c)}
    groups = {}
    for row in rows:
        key = tuple(value_of(row, c) if (row["algo"], row["device"], c) in used else None for c in columns)
        groups.setdefault(key, []).append(row)

    # Rows of an algorithm that never uses a column on its device belong to the groups of all its values.
    def covers(key, part):
        return all(a in (b, None) for a, b in zip(part, key))

    whole = {key: [] for key in groups if not any(key != other and covers(other, key) for other in groups)}
    for key, other in itertools.product(groups, whole):
        if covers(other, key):
            whole[other] += groups[key]
    differs = [i for i in range(len(columns)) if len({key[i] for key in whole}) > 1]
    return [("-".join(apart(columns[i], key[i]) for i in differs if key[i]), group)
            for key, group in whole.items()]


def apart(column, value):
    """A value as part of a file name."""
    word = "".join(c if c.isalnum() or c == "." else "-" for c in value.lower())
    return f"{column}-{word}" if column in ("keep", "max", "values", "seed") else word


# ---- Looks ----


def load_looks():
    """{algorithm: (colour, dash)} from colors.csv."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "colors.csv")
    with open(path, newline="", encoding="utf-8") as file:
        return {row["algorithm"]: (row["colour"], row["dash"]) for row in csv.DictReader(file)}


LOOKS = load_looks()


def load_charts():
    """charts.csv: {picture: algorithms, most important first} and {picture: its excerpts}.

    An excerpt is a picture of its own, of the same chart with these algorithms alone.
    """
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "charts.csv")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    excerpts = collections.defaultdict(list)
    for row in rows:
        if row["from"]:
            excerpts[row["from"]].append(row["picture"])
    return {row["picture"]: row["algorithms"].split() for row in rows}, dict(excerpts)


IMPORTANT, EXCERPTS = load_charts()


def look_of(name):
    """Colour, dash and width of a line, the same for an algorithm in every picture."""
    algorithm = name.split(",")[0]
    seed = zlib.crc32(algorithm.encode())
    colour, dash = LOOKS.get(algorithm, (PALETTE[seed % len(PALETTE)], DASHES[seed // 7 % 4]))
    if ", copies" in name:
        dash = "dotted" if "pinned" in name else "dashed"
    width = 2.6 if algorithm in ("auto", "cub", "memcpy") else 1.5
    return {"color": colour, "linestyle": dash, "linewidth": width}


def plain(text):
    """Text from a file, made literal for matplotlib: no $ begins a formula, and
    unprintable characters are question marks."""
    return "".join(c if c.isprintable() else "?" for c in text).replace("$", r"\$")


def power_label(value, _position=None):
    """2^k, or the number itself if it is not a power of two."""
    exponent = math.log2(value) if value > 0 else 0.5
    return f"$2^{{{exponent:.0f}}}$" if exponent == round(exponent) else f"{value:.15g}"


def size_name(n):
    """The same for what is no formula."""
    return power_label(n).strip("$").replace("{", "").replace("}", "")


def time_label(milliseconds, _position=None):
    """A time with a suitable unit."""
    for unit, size in (("s", 1e3), ("ms", 1), ("µs", 1e-3), ("ns", 1e-6)):
        if milliseconds >= size * 0.9999:
            return f"{milliseconds / size:.3g} {unit}"
    return f"{milliseconds:.3g} ms"


def whole_bits(text):
    """The k of 2^k-1, also written in decimal; None for another number or text."""
    typed = re.fullmatch(r"(\d+)(?:\^(\d+)-1)?", text, re.ASCII)
    if typed is None:
        return None
    count = int(typed[1]) + 1 if typed[2] is None else int(typed[1]) ** min(int(typed[2]), 64)
    return count.bit_length() - 1 if count > 1 and count & (count - 1) == 0 else None


def key_words(row):
    """Which bits the keys of a sort have, and how they are spread: "all 32 bits, uniform"."""
    words = []
    if row.get("max"):
        bits = whole_bits(row["max"])
        whole = row["type"] == f"u{bits}"
        words.append(f"all {bits} bits" if whole else f"{bits} bits" if bits else f"0 to {plain(row['max'])}")
    return words + ([plain(row["input"])] if row.get("input") else [])


def data_words(rows):
    """The operation and its data: "Scan of i32, exclusive"."""
    first = rows[0]
    operation = {"compact": "Compaction", "reduce": "Reduction"}.get(first["op"], plain(first["op"].capitalize()))
    types = " and ".join(plain(word) for word in sorted({row["type"] for row in rows}))
    words = [plain(kind) for kind in sorted({row["kind"] for row in rows if row.get("kind")})]
    words += [f"{float(keep):.0%} kept" for keep in sorted({row["keep"] for row in rows if row.get("keep")})]
    words += key_words(first) if first["op"] == "sort" else []
    words += [f"{plain(values)} values" for values in sorted({value_of(row, "values") for row in rows} - {"none", ""})]
    return ", ".join([f"{operation} of {types}", *words])


def origin_words(rows):
    """The devices, the versions of the libraries and of this program, the caches and the date."""
    devices = sorted({row.get("device_name") or row["device"] for row in rows})
    libraries = sorted({row["library_version"] for row in rows if row.get("library_version")})
    caches = sorted({row["cache"] for row in rows if row.get("cache")})
    dates = sorted({row["date"][:10] for row in rows if row.get("date")})
    builds = sorted({f"scanbench {row['version']} {row['commit']}" for row in rows if row.get("version") and row.get("commit")})
    words = [" and ".join(devices), *libraries, *builds, *([" and ".join(caches) + " caches"] if caches else []), *dates[-1:]]
    return "\n".join(map(plain, textwrap.wrap(", ".join(words), 96, break_long_words=False)))


def title_of(rows, what, better):
    """The title: which data, what is drawn, which of it is better; where it comes from."""
    return f"{data_words(rows)}: {what} ({better} is better)\n{origin_words(rows)}"


def rows_of_lines(rows, lines):
    """The rows of the algorithms that are drawn."""
    algorithms = {name.split(",")[0] for name in lines}
    return [row for row in rows if row["algo"] in algorithms] or rows


def new_chart(rows, lines, what, better):
    """A figure and its axes, with a title and light rules."""
    figure, axes = plt.subplots(figsize=(9, 5.6))
    axes.set_title(title_of(rows_of_lines(rows, lines), what, better), pad=12)
    axes.grid(True, which="major")
    return figure, axes


# ---- Which lines ----


def chosen(stem, lines, better):
    """The lines of a picture, at most MAX_LINES, and the names of the others.

    First come the algorithms that charts.csv lists for the picture, in its order; then auto,
    cub and memcpy; then those that are best at their last point. An excerpt has the listed ones
    alone, and no lines if one of them is missing.
    """
    picture = os.path.basename(stem)
    listed = IMPORTANT.get(picture, [])
    first = dict.fromkeys([*listed, "auto", "cub", "memcpy"])
    sign = -1 if better == "higher" else 1

    def place(name):
        algorithm = name.split(",")[0]
        return list(first).index(algorithm) if algorithm in first else len(first), sign * lines[name][-1][1]

    order = sorted(lines, key=place)
    if any(picture in excerpts for excerpts in EXCERPTS.values()):
        order = [name for name in order if name.split(",")[0] in listed]
        complete = {name.split(",")[0] for name in order} == set(listed)
        return {name: lines[name] for name in order if complete}, []
    drawn = set(order[:MAX_LINES])
    return {name: lines[name] for name in lines if name in drawn}, sorted(order[MAX_LINES:])


def wanted_pictures(stem):
    """The picture and its excerpts, as far as they are asked for. Without --only, all are."""
    folder, picture = os.path.split(stem)
    return [os.path.join(folder, name) for name in (picture, *EXCERPTS.get(picture, [])) if not ONLY or name in ONLY]


def add_caption(axes, others):
    """Names below the chart what is not drawn."""
    if others:
        words = textwrap.wrap("not drawn: " + "; ".join(others), 100, break_on_hyphens=False)
        axes.set_xlabel("\n".join([axes.get_xlabel(), *map(plain, words)]))


def spread(wanted, distance, low, high):
    """Positions at least `distance` apart, in the order of the wanted ones and as near to
    them as possible: positions that would touch form a pile around the mean of theirs."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    piles = []  # [members, middle]
    for i in order:
        piles.append([[i], wanted[i]])
        while True:
            members, middle = piles[-1]
            half = distance * (len(members) - 1) / 2
            piles[-1][1] = min(max(middle, low + half), high - half)
            if len(piles) < 2:
                break
            below = piles[-2]
            if piles[-1][1] - half >= below[1] + distance * (len(below[0]) + 1) / 2:
                break
            both = below[0] + members
            piles[-2:] = [[both, sum(wanted[i] for i in both) / len(both)]]
    places = [0.0] * len(wanted)
    for members, middle in piles:
        for rank, i in enumerate(members):
            places[i] = middle + distance * (rank - (len(members) - 1) / 2)
    return places


def label_lines(figure, axes, lines):
    """Writes each line's name in its colour where the line ends: in the right margin, with a thin
    leader, if it ends there, else beside its last point, unless no place is free there."""
    figure.canvas.draw()
    box = axes.get_window_extent()
    taken = [point for line in lines.values() for point in pixels_along(axes, line)]
    at_the_edge = {}
    # From the top, so that names are in the order of the ends.
    for name, line in sorted(lines.items(), key=lambda item: -axes.transData.transform(item[1][-1])[1]):
        near_the_edge = axes.transData.transform(line[-1])[0] > box.x0 + 0.93 * box.width
        if near_the_edge or not label_beside(figure, axes, name, line[-1], taken):
            at_the_edge[name] = line
    label_margin(figure, axes, at_the_edge)


def leader(name):
    """A thin line from a name to the end of its line."""
    return {"arrowstyle": "-", "color": look_of(name)["color"], "linewidth": 0.5, "alpha": 0.6, "relpos": (0, 0.5),
            "shrinkA": 2, "shrinkB": 2}


def label_style(name):
    look = look_of(name)
    return {"color": look["color"], "fontsize": LABEL_PT, "va": "center", "annotation_clip": False,
            "fontweight": "bold" if look["linewidth"] > 2 else "normal"}


def label_margin(figure, axes, lines):
    """Writes names into the right margin, moved up or down if two would touch."""
    box = axes.get_window_extent()
    pixels = figure.dpi / 72
    ends = [axes.transData.transform(line[-1])[1] for line in lines.values()]
    height = (LABEL_PT + 2.5) * pixels
    places = spread([min(max(y, box.y0), box.y1) for y in ends], height, box.y0, box.y1)
    for (name, line), place in zip(lines.items(), places):
        axes.annotate(plain(name), xy=line[-1], textcoords="axes points",
                      xytext=((box.width + 22 * pixels) / pixels, (place - box.y0) / pixels),
                      arrowprops=leader(name), **label_style(name))


def pixels_along(axes, line):
    """Points of a line, at most two pixels apart."""
    ends = axes.transData.transform(line)
    for (x0, y0), (x1, y1) in zip(ends, ends[1:]):
        steps = max(1, math.ceil(math.hypot(x1 - x0, y1 - y0) / 2))
        yield from ((x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps + 1))


def label_beside(figure, axes, name, end, taken):
    """Writes the name at the free place that is nearest to the end of its line, with a leader if it
    is not near. Adds what it covers to `taken`; returns False if no place is free."""
    box = axes.get_window_extent()
    near = [(right, up) for up in (0, 10, -10, 16, -16, 24, -24) for right in (7, 0, -16, -32)]
    far = [(right, up) for up in range(-80, 81, 10) for right in (20, 40, 60)]
    for right, up in sorted(near, key=lambda at: math.hypot(*at)) + sorted(far, key=lambda at: math.hypot(*at)):
        text = axes.annotate(plain(name), xy=end, xytext=(right, up), textcoords="offset points",
                             arrowprops=None if (right, up) in near else leader(name), **label_style(name))
        text.update_positions(figure.canvas.get_renderer())
        place = Text.get_window_extent(text).padded(2)  # without its leader
        inside = box.x0 <= place.x0 and place.x1 <= box.x1 and box.y0 <= place.y0 and place.y1 <= box.y1
        if inside and not any(place.contains(*point) for point in taken):
            taken += [(place.x0 + place.width * i / 20, place.y0 + place.height * k / 4)
                      for i in range(21) for k in range(5)]
            return True
        text.remove()
    return False


def draw_lines(figure, axes, lines):
    """Draws the lines with their names, the most important ones on top."""
    seen = collections.Counter()
    for name, line in sorted(lines.items(), key=lambda item: look_of(item[0])["linewidth"]):
        # Lines of one algorithm differ by their markers alone.
        rank = seen[name.split(",")[0]]
        seen[name.split(",")[0]] += 1
        axes.plot(*zip(*line), marker=MARKERS[rank % len(MARKERS)] if rank or len(line) <= 12 else None, markersize=3.5,
                  **look_of(name))
    label_lines(figure, axes, lines)


def draw_chart(rows, lines, stem, written, what, better, set_up):
    """Draws a picture of these lines, and its excerpts. set_up(axes, lines) makes the axes."""
    for picture in wanted_pictures(stem):
        drawn, others = chosen(picture, lines, better)
        if drawn:
            figure, axes = new_chart(rows, drawn, what, better)
            set_up(axes, drawn)
            add_caption(axes, others)
            draw_lines(figure, axes, drawn)
            save(figure, picture, written)


def wanted(stem):
    """Is the picture asked for? Without --only, all are."""
    return not ONLY or os.path.basename(stem) in ONLY


def save(figure, stem, written):
    """Writes both files of a picture; the same rows give the same bytes."""
    kinds = ((".svg", {"Date": None}, {"transparent": True}), (".png", {"Software": None}, {"facecolor": "white"}))
    for suffix, metadata, background in kinds:
        try:
            figure.savefig(stem + suffix, metadata=metadata, dpi=120, bbox_inches="tight",
                           pad_inches=0.15, **background)
        except OSError as error:
            raise UsageError(f"{stem}{suffix}: {error.strerror or error}") from error
    plt.close(figure)
    written.append(stem)


def size_axis(axes, lines):
    """Labels the x axis with powers of two, at most a dozen."""
    sizes = [x for line in lines.values() for x, _ in line]
    low, high = math.floor(math.log2(min(sizes))), math.ceil(math.log2(max(sizes)))
    step = max(1, math.ceil((high - low) / 12))
    axes.set_xscale("log", base=2)
    axes.set_xticks([2.0**k for k in range(low, high + 1) if k % step == 0])
    axes.xaxis.set_major_formatter(FuncFormatter(power_label))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(min(sizes) * 0.9, max(sizes) * 1.03)
    axes.set_xlabel("Elements n")


def time_axis(axes, lines, label="Time"):
    """Labels decades of time with their units."""
    times = [y for line in lines.values() for _, y in line]
    axes.set_yscale("log")
    axes.set_ylim(min(times) * 0.8, max(times) * 1.25)
    if max(times) / min(times) < 300:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(time_label))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda value, position: ""))
    axes.set_ylabel(f"{label}, median")


# ---- The charts: each draws if its rows hold what it needs ----


def size_and_time_axes(axes, lines):
    size_axis(axes, lines)
    time_axis(axes, lines)


def values_of(lines):
    return [y for line in lines.values() for _, y in line]


def linear_axis(axes, lines, label):
    """A y axis from 0."""
    axes.set_ylim(0, 1.04 * max(values_of(lines)))
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    axes.set_ylabel(label)


def ratio_axis(axes, lines, label):
    """A logarithmic y axis, since what is ahead at small sizes would be a hair at the bottom of a
    linear one."""
    low, high = min(values_of(lines)), max(values_of(lines))
    axes.set_yscale("log")
    axes.set_ylim(low / 1.1, high * 1.1)
    steps = (1, 2, 5) if high / low > 30 else (1, 1.5, 2, 3, 4, 5, 6, 8)
    axes.yaxis.set_major_locator(LogLocator(subs=steps))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, position: f"{value:.3g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(label)


def chart_keys(rows, stem, written):
    """Keys per second against array size, of the sorts that reach a tenth of the fastest."""
    lines = lines_of([row for row in rows if row["algo"] not in ("empty", "memcpy") and number(row, "gelem_s")], "n", "gelem_s")
    best = {name: max(y for _, y in line) for name, line in lines.items()}
    lines = {name: line for name, line in lines.items() if best[name] >= max(best.values()) / 10}

    def axes_of_keys(axes, drawn):
        size_axis(axes, drawn)
        ratio_axis(axes, drawn, "Effective throughput (10⁹ keys per second)")

    draw_chart(rows, lines, f"{stem}-keys", written, "effective throughput", "higher", axes_of_keys)


def chart_bandwidth(rows, stem, written):
    """GB/s against array size, under the ceiling that memcpy sets."""
    rows = [row for row in rows if row["algo"] != "empty"]

    def axes_of_rates(axes, drawn):
        size_axis(axes, drawn)
        linear_axis(axes, drawn, "Effective throughput (GB/s)")
        ceilings = [line for name, line in drawn.items() if name.split(",")[0] == "memcpy"]
        if len(ceilings) == 1:
            # Some points may lie above it, since cached data may be copied faster than memcpy
            # does.
            axes.fill_between(*zip(*ceilings[0]), color=GREY, alpha=0.10, linewidth=0)

    draw_chart(rows, lines_of(rows, "n", "gb_s"), f"{stem}-bandwidth", written, "effective throughput", "higher",
               axes_of_rates)


def name_with_version(rows, library):
    """CUB 3.6.0, as the rows of the library say; CUB if they do not."""
    versions = {row["library_version"] for row in rows if row["algo"] == library and row.get("library_version")}
    return plain(" and ".join(sorted(versions)) or {"cub": "CUB", "thrust": "Thrust"}[library])


def chart_speedup(rows, reference, stem, written):
    """Speedup of each algorithm over a library, by array size."""
    lines = lines_of([row for row in rows if row["algo"] not in ("empty", "memcpy")], "n", "time_ms")
    base = dict(lines.get(reference, []))
    lines = {name: [(n, base[n] / ms) for n, ms in line if n in base] for name, line in lines.items()}
    lines = {name: line for name, line in lines.items() if len(line) > 1}
    if len(base) < 3 or len(lines) < 2:
        return
    library = name_with_version(rows, reference)

    def axes_of_speedups(axes, drawn):
        size_axis(axes, drawn)
        ratio_axis(axes, drawn, f"Speedup over {library}")

    draw_chart(rows, lines, f"{stem}-over-{reference}", written, f"speedup over {library}", "higher",
               axes_of_speedups)


Measure = collections.namedtuple("Measure", "columns per what better axis")
# What is drawn against array size or block size: {picture: the columns that are added up, the column that
# their sum is divided by, what it is, which is better, and the y axis}.
MEASURES = {
    "time": Measure(["time_ms"], None, "time", "lower", time_axis),
    "work": Measure(["work_per_element"], None, "additions per element", "lower", linear_axis),
    "depth": Measure(["depth"], None, "longest chain of additions", "lower", linear_axis),
    "bytes": Measure(["read_bytes_per_element", "written_bytes_per_element"], None,
                     "bytes that threads load and store per element", "lower", linear_axis),
    "used": Measure(["sector_use_pct"], None, "bytes used of the memory sectors touched (%)", "higher", linear_axis),
    "shared": Measure(["shared_requests"], "n", "requests to shared memory per element", "lower", linear_axis),
    "conflicts": Measure(["bank_conflicts"], "n", "bank conflicts per element", "lower", linear_axis),
    "barriers": Measure(["barriers_per_block"], None, "barriers per block", "lower", linear_axis),
    "lanes": Measure(["active_lanes"], None, "active lanes of a memory request", "higher", linear_axis),
}


def measured(row, measure):
    """The measure of a row as text; empty if a column of it is."""
    values = [number(row, column) for column in measure.columns]
    return "" if None in values else str(sum(values) / (number(row, measure.per) if measure.per else 1))


def block_axis(axes, lines):
    size_axis(axes, lines)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, position: f"{value:.0f}"))
    axes.set_xlabel("Threads per block")


def chart_measures(rows, x, x_axis, stem, suffix, by, written):
    """Each measure that the rows have against n or block, with words about the chart for the file's name and the title."""
    for picture, measure in MEASURES.items():
        def axes_of_measure(axes, drawn, measure=measure):
            x_axis(axes, drawn)
            measure.axis(axes, drawn, measure.what[0].upper() + measure.what[1:])

        lines = lines_of([{**row, "measured": measured(row, measure)} for row in rows], x, "measured")
        lines = {name: line for name, line in lines.items() if len(line) > 1}
        if any(values_of(lines)):
            draw_chart(rows, lines, f"{stem}-{picture}{suffix}", written, measure.what + by, measure.better, axes_of_measure)


def chart_blocks(rows, stem, written):
    """Each measure against threads per block, for each array size."""
    sizes = sorted({number(row, "n") for row in rows})
    for n in sizes:
        suffix = f"-{size_name(n)}".replace("^", "-") if len(sizes) > 1 else ""
        chart_measures([row for row in rows if number(row, "n") == n], "block", block_axis, stem, suffix,
                       f" by block size, n = {power_label(n)}", written)


def chart_kernels(rows, stem, written):
    """Each launch's share of an algorithm's time, at the largest size with launches."""
    launches = [row for row in rows if row.get("kernel") and number(row, "share_pct")]
    if not launches or not wanted(stem + "-kernels"):
        return
    n = max(number(row, "n") for row in launches)
    launches = [row for row in launches if number(row, "n") == n]
    names = list(dict.fromkeys(row["algo"] for row in launches))
    figure, axes = plt.subplots(figsize=(9, 1.6 + 0.42 * len(names)))
    axes.set_title(f"{data_words(launches)}: each launch's share of the time, n = {power_label(n)}\n"
                   f"{origin_words(launches)}", pad=12)
    for place, name in enumerate(names):
        own = [row for row in launches if row["algo"] == name]
        whole_ms = sum(number(row, "time_ms") for row in own)
        left = 0.0
        for row in own:
            share = 100 * number(row, "time_ms") / whole_ms
            axes.barh(place, max(share - 0.25, 0.05), left=left, height=0.7, linewidth=0,
                      color=look_of(name)["color"])
            text = plain(row["kernel"].removesuffix("_kernel").replace("_", " "))
            if share > 1.1 * len(text) + 2:
                axes.text(left + share / 2, place, text, ha="center", va="center", fontsize=8,
                          color="white")
            left += share
        axes.text(101, place, time_label(whole_ms), va="center", fontsize=LABEL_PT)
    axes.set_yticks(range(len(names)), [plain(name) for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("Share of time (%)")
    axes.set_xlim(0, 100)
    save(figure, stem + "-kernels", written)


def chart_efficiency(rows, stem, written):
    """Efficiency against the number of GPUs, for each algorithm and array size."""
    rows = [row for row in rows if number(row, "efficiency_pct") and number(row, "n")]
    lines = {}
    for n in dict.fromkeys(number(row, "n") for row in rows):
        of_n = lines_of([row for row in rows if number(row, "n") == n], "gpus", "efficiency_pct")
        lines.update({f"{name}, n = {size_name(n)}": line for name, line in of_n.items() if len(line) > 1})

    def axes_of_gpus(axes, drawn):
        counts = sorted({x for line in drawn.values() for x, _ in line})
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [f"{count:g}" for count in counts])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("GPUs")
        linear_axis(axes, drawn, "Efficiency: speed per GPU over that of auto on one (%)")

    if lines:
        draw_chart(rows, lines, f"{stem}-efficiency", written, "efficiency of several GPUs", "higher", axes_of_gpus)


def row_length(row):
    """L of segments rows:L, as the flag takes it; None: the row is of something else."""
    form, _, length = (row.get("segments") or "").partition(":")
    base, _, power = length.partition("^")
    if form != "rows" or not base.isdigit() or power and not power.isdigit():
        return None
    return int(base) ** int(power or 1)


def chart_rows(rows, stem, written):
    """Time against the length of rows, for each array size of which there are three lengths."""
    rows = [{**row, "row_length": str(row_length(row))} for row in rows if row_length(row) and not row.get("kernel")]

    def axes_of_lengths(axes, drawn):
        size_axis(axes, drawn)
        axes.set_xlabel("Elements of a row")
        time_axis(axes, drawn)

    for op, n in dict.fromkeys((row["op"], row["n"]) for row in rows):
        of_n = [row for row in rows if (row["op"], row["n"]) == (op, n)]
        if len({row["row_length"] for row in of_n}) > 2:
            draw_chart(of_n, lines_of(of_n, "row_length", "time_ms"), f"{stem}-rows-{apart('n', size_name(float(n)))}",
                       written, f"time, n = {size_name(float(n))}", "lower", axes_of_lengths)


def suffixed(lines, words):
    """The lines, with these words after their names."""
    return {f"{name}, {words}" if words else name: line for name, line in lines.items()}


def gpu_lines(copied):
    """The fastest algorithm, alone and with copies: {name: line}."""
    fastest = min(copied, key=lambda row: (-number(row, "n"), number(row, "copies_ms")))["algo"]
    of_memory = {}
    for row in copied:
        if row["algo"] == fastest:
            of_memory.setdefault(row.get("host_memory") or "", []).append(row)
    lines = suffixed(lines_of(of_memory[max(of_memory)], "n", "time_ms"), "no copies")
    for memory, own in sorted(of_memory.items()):
        lines |= suffixed(lines_of(own, "n", "copies_ms"), f"copies, {memory}")
    return lines


def cpu_lines(rows):
    """The serial loops, and the best of all algorithms and builds at each size: {name: line}."""
    lines, best = {}, {}
    for algorithm in sorted({row["algo"] for row in rows}):
        for apart_by, own in groups_of([row for row in rows if row["algo"] == algorithm]):
            of_one = lines_of(own, "n", "time_ms")
            if algorithm in ("serial-O0", "serial"):
                lines |= suffixed(of_one, apart_by)
            for n, time in itertools.chain(*of_one.values()):
                best[n] = min(best.get(n, math.inf), time)
    return {**lines, "best on the CPU": sorted(best.items())}


def chart_copies(rows, folder, written):
    """The GPU, with and without the copies to it and back, against the CPU."""
    for op in sorted({row["op"] for row in rows}):
        of_op = [row for row in rows if row["op"] == op and row["algo"] != "memcpy"]
        copied = [row for row in of_op if number(row, "copies_ms") and number(row, "n")]
        for apart_by, own in groups_of(copied, [c for c in CONFIGURATION if c != "host_memory"]):
            cpu = [row for row in of_op if row["device"] == "cpu" and number(row, "n")
                   and all(value_of(row, c) == value_of(own[0], c) for c in DATA)]
            stem = os.path.join(folder, f"{op}-copies-{apart_by}" if apart_by else f"{op}-copies")
            if cpu:
                draw_chart(own + cpu, gpu_lines(own) | cpu_lines(cpu), stem, written,
                           "time on the GPU, with and without copies, and on the CPU", "lower", size_and_time_axes)


# ---- All of them ----


def most_values(rows, column):
    """How many values an algorithm has in the column at most: of `n` in all, of others at one array size."""
    values = {}
    for row in rows:
        values.setdefault((row["algo"], column == "n" or row["n"]), set()).add(row.get(column))
    return max(map(len, values.values()), default=0)


def draw_group(rows, stem, written):
    """Draws the charts of one configuration: against GPUs, n or block size, and launches."""
    if len({row["gpus"] for row in rows if number(row, "efficiency_pct")}) > 1:
        chart_efficiency(rows, stem, written)
        return
    whole = [row for row in rows if not row.get("kernel") and number(row, "n")]
    if most_values(whole, "block") > 2:
        chart_blocks(whole, stem, written)
    elif most_values(whole, "n") > 1:
        chart_measures(whole, "n", size_axis, stem, "", "", written)
        (chart_keys if whole[0]["op"] == "sort" else chart_bandwidth)(whole, stem, written)
        chart_speedup(whole, "thrust", stem, written)
        chart_speedup(whole, "cub", stem, written)
    chart_kernels(rows, stem, written)


def only_counts(row):
    """A row of the emulator without its times and what follows from them."""
    return {name: text for name, text in row.items() if CLASSES.get(name) != "MEASURE" or name in COUNTED}


def draw_file(path, rows, stem, written):
    """Draws the charts of one file. Of the emulator's rows only counts are drawn. Returns (the other rows, those rows)."""
    timed = [row for row in rows if row["device"] != "emulator"]
    emulated = [only_counts(row) for row in rows if row["device"] == "emulator" and not row.get("kernel")]
    counted = [row for row in emulated if any(row.get(name) for name in COUNTED)]
    if emulated and not counted:
        print(f"plot.sh: {path}: emulator times say nothing about a GPU: not drawn; --counts adds what is", file=sys.stderr)
    if len({row.get("cache") for row in timed}) > 1 and any(row.get("cache") == "cold" for row in timed):
        print(f"plot.sh: {path}: only the rows of cold caches are drawn", file=sys.stderr)
    for drawn in (timed, counted):
        for apart_by, group in groups_of(drawn):
            draw_group(group, f"{stem}-{apart_by}" if apart_by else stem, written)
    chart_rows(timed, stem, written)
    return timed, counted


def why_nothing(drawable):
    """What the rows lack for a picture."""
    if not drawable:
        return "no row that passed has a time of a CPU or a GPU, or counts (--counts)"
    if ONLY:
        return f"no picture of these files is called {' or '.join(sorted(ONLY))}; without --only all are drawn"
    groups = [[row for row in group if not row.get("kernel")] for _, group in groups_of(drawable)]
    most = [max(most_values(group, column) for group in groups) for column in ("n", "block")]
    return ("a chart needs two array sizes or three block sizes of an algorithm, all else the same, or its launches (--kernels); "
            f"here are at most {most[0]} and {most[1]}")


def main(arguments):
    """Draws the named files and prints the names of the pictures."""
    folder = None
    paths = []
    for argument in arguments:
        if argument.startswith("--output="):
            folder = argument.removeprefix("--output=")
        elif argument.startswith("--only="):
            ONLY.update(filter(None, argument.removeprefix("--only=").split(",")))
        elif argument.startswith("-"):
            raise UsageError(f"{argument} is not known; it must be --output=FOLDER, --only=NAMES, --help, or a file")
        else:
            paths.append(argument)
    if not paths:
        raise UsageError("no file; name CSV files of scanbench, such as results/nvidia-h200/scan.csv")
    files = [(path, rows_with_times(columns, rows)) for path, columns, rows in files_of(paths, below=False)]
    if folder is None:
        first = paths[0] if os.path.isdir(paths[0]) else os.path.dirname(paths[0])
        folder = os.path.join(first, "plots")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output={folder}: {error.strerror}") from error

    written, timed, counted = [], [], []
    for path, rows in files:
        drawn = draw_file(path, rows, os.path.join(folder, os.path.basename(path).removesuffix(".csv")), written)
        timed += drawn[0]
        counted += drawn[1]
    chart_copies(timed, folder, written)
    if not written:
        raise UsageError(f"nothing to draw: {why_nothing(timed + counted)}")
    for stem in written:
        print(f"{stem}.svg")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(f"plot.sh: {error}", file=sys.stderr)
        sys.exit(2)
