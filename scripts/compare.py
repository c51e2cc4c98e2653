"""compare.py: compares two files of rows or samples for compare.sh, whose head describes it."""
import math
import os
import re
import statistics
import sys
from bisect import bisect_left
from dataclasses import dataclass, field

from csv_rows import AXES, COUNTED, UsageError, read_rows, value_of
from noise import CONFIDENCE, RUN_TO_RUN, RUN_TO_RUN_MS, SAME, WIDER, one_run_differs
from scipy.stats import mannwhitneyu

# Six runs on each side are the fewest that a rank test can tell apart at this confidence.
ENOUGH_RUNS = 6
MOST_EXACT = 20
TINY = 1e-9
MOST_NAMED = 3
EXIT_OK, EXIT_ERROR, EXIT_USAGE, EXIT_WRONG_ANSWER, EXIT_SLOWER = 0, 1, 2, 3, 5
MACHINE = ("device_name", "host", "driver")
BUILD = ("version", "commit", "compiler", "cuda", "library_version")


@dataclass
class Runs:
    """The runs of one configuration: their median times, and the noise of each as a fraction."""

    times_ms: list = field(default_factory=list)
    noises: list = field(default_factory=list)
    machine: tuple = ()


@dataclass
class Change:
    """One line of the comparison. Between low and high is what cannot be told from the ratio; that is
    an interval of known confidence unless few runs are compared."""

    configuration: tuple
    old_ms: float
    new_ms: float
    ratio: float
    low: float
    high: float
    is_interval: bool
    verdict: str = ""


# ---- Reading ----


def median_noise(times):
    """Half the width of the distribution-free 95 % interval of a median, as a fraction of it."""
    ordered, middle, half = sorted(times), len(times) / 2, 0.98 * math.sqrt(len(times))
    low, high = max(0, math.floor(middle - half)), min(len(times) - 1, math.ceil(middle + half))
    return (ordered[high] - ordered[low]) / 2 / statistics.median(ordered)


def has_time(row):
    return row["time_ms"] != "" and float(row["time_ms"]) > 0


def runs_of_rows(rows):
    """{configuration: Runs} from one row per run."""
    found = {}
    for row in filter(has_time, rows):
        runs = found.setdefault(configuration_of(row), Runs(machine=identity_of(row, MACHINE)))
        runs.times_ms.append(float(row["time_ms"]))
        runs.noises.append(float(row.get("noise_pct") or 0) / 100)
    return found


def runs_of_samples(rows):
    """{configuration: Runs} from one row per sample."""
    samples, machines = {}, {}
    for row in rows:
        # A run is what has the same date; its samples are numbered from 1.
        key = configuration_of(row)
        machines[key] = identity_of(row, MACHINE)
        runs = samples.setdefault(key, [])
        if row["sample"] == "1" or not runs:
            runs.append([])
        if has_time(row):
            runs[-1].append(float(row["time_ms"]))
    timed = {key: [run for run in runs if run] for key, runs in samples.items()}
    return {key: Runs([statistics.median(run) for run in runs], [median_noise(run) for run in runs], machines[key])
            for key, runs in timed.items() if runs}


def configuration_of(row):
    return tuple(value_of(row, axis) for axis in AXES)


def identity_of(row, columns):
    return tuple(row.get(column) or "" for column in columns)


def without_mixture(path, rows, columns, what):
    """Of each configuration the rows that agree with its last one in the columns, as --baseline
    chooses them. Says if that leaves some out."""
    last = {configuration_of(row): identity_of(row, columns) for row in rows}
    others = [row for row in rows if identity_of(row, columns) != last[configuration_of(row)]]
    if not others:
        return rows
    other, kept = identity_of(others[0], columns), last[configuration_of(others[0])]
    differing = [i for i, text in enumerate(other) if text != kept[i]]
    names = [" ".join(identity[i] or "unknown" for i in differing) for identity in (other, kept)]
    print(f"compare.sh: {path}: it has rows of two {what}, such as {names[0]} and {names[1]}; of each configuration, "
          f"those like its last row are compared, and {len(others)} are not", file=sys.stderr)
    return [row for row in rows if identity_of(row, columns) == last[configuration_of(row)]]


def say_bad_times(path, rows):
    bad = [row for row in rows if not has_time(row)]
    if bad:
        print(f'compare.sh: {path}: time_ms is not a time in {len(bad)} row{"s" * (len(bad) > 1)} '
              f'("{bad[0]["time_ms"]}"), which {"are" if len(bad) > 1 else "is"} not compared', file=sys.stderr)


def has_passed(row):
    return row.get("check", "passed") == "passed"


def is_wrong(row):
    return row.get("check") == "failed"


def not_passed(rows):
    """{configuration: its last row}, if none passed, or a wrong one if there is any; of rows of the machine and build
    of the last one."""
    last = {configuration_of(row): row for row in rows}
    like_last = [row for row in rows if identity_of(row, MACHINE + BUILD)
                 == identity_of(last[configuration_of(row)], MACHINE + BUILD)]
    passed = {configuration_of(row) for row in like_last if has_passed(row)}
    found = {key: row for key, row in last.items() if key not in passed}
    return found | {configuration_of(row): row for row in like_last if is_wrong(row)}


def load(path):
    """({configuration: Runs}, {configuration: its last row} of the emulator, {configuration: a row that did not pass})"""
    columns, rows = read_rows(path, {"algo", "n", "time_ms"})
    named = [row for row in (dict(zip(columns, row)) for row in rows) if not row.get("kernel")]
    failed, passed = not_passed(named), list(filter(has_passed, named))
    for identity, what in ((MACHINE, "machines"), (BUILD, "builds")):
        passed = without_mixture(path, passed, identity, what)
    # Its times say nothing about a GPU.
    emulated = {configuration_of(row): row for row in passed if row.get("device") == "emulator"}
    passed = [row for row in passed if row.get("device") != "emulator"]
    say_bad_times(path, passed)
    runs = runs_of_samples(passed) if "sample" in columns else runs_of_rows(passed)
    if not runs and not emulated and not any(map(is_wrong, failed.values())):
        raise UsageError(f"{path}: no row that passed")
    return runs, emulated, failed


# ---- Comparing ----


def ranked(old, new):
    """The ratio of two sets of times, and the interval of all ratios that a rank test does not
    reject: the Hodges-Lehmann estimate and its interval."""
    old, new = [math.log(t) for t in old], [math.log(t) for t in new]
    shifts = sorted(b - a for b in new for a in old)

    # The asymptotic test would not let two times six runs differ, however far apart.
    method = "exact" if max(len(old), len(new)) <= MOST_EXACT else "asymptotic"

    def rejected(shift, alternative):
        test = mannwhitneyu(new, [a + shift for a in old], alternative=alternative, method=method)
        return test.pvalue < (1 - CONFIDENCE) / 2

    # The statistic jumps at each of the shifts, so the test is made just inside of them.
    low = bisect_left(shifts, True, key=lambda shift: not rejected(shift + TINY, "greater"))
    high = bisect_left(shifts, True, key=lambda shift: rejected(shift - TINY, "less")) - 1
    return math.exp(statistics.median(shifts)), math.exp(shifts[low]), math.exp(shifts[high])


def allowed(configuration, old, new):
    """The ratio of the medians, and by what it may be off: the noise, and what processes differ by."""
    old_ms, new_ms = statistics.median(old.times_ms), statistics.median(new.times_ms)
    noise = WIDER * math.hypot(max(old.noises), max(new.noises))
    spread = max(max(runs.times_ms) - min(runs.times_ms) for runs in (old, new))
    differ = one_run_differs(configuration[AXES.index("device")], int(float(configuration[AXES.index("n")])))
    margin = noise + max(RUN_TO_RUN, differ, (RUN_TO_RUN_MS + spread) / old_ms)
    return new_ms / old_ms, new_ms / old_ms / (1 + margin), new_ms / old_ms * (1 + margin)


def verdict_of(change, same):
    if max(change.high - 1, 1 / change.low - 1) <= same:
        return "same"
    return "slower" if change.low > 1 else "faster" if change.high < 1 else "undecided"


def compare(old, new, same):
    changes = []
    for key in old.keys() & new.keys():
        a, b = old[key], new[key]
        enough = min(len(a.times_ms), len(b.times_ms)) >= ENOUGH_RUNS
        ratio, low, high = ranked(a.times_ms, b.times_ms) if enough else allowed(key, a, b)
        change = Change(key, statistics.median(a.times_ms), statistics.median(b.times_ms), ratio, low, high, enough)
        change.verdict = verdict_of(change, same)
        changes.append(change)
    return sorted(changes, key=lambda change: (-change.ratio, change.configuration))


def compare_counts(old, new):
    """{configuration: [(count, old, new)]}: the counts that both files have of the emulator."""
    both = {key: [(name, old[key][name], new[key][name]) for name in COUNTED if old[key].get(name) and new[key].get(name)]
            for key in sorted(old.keys() & new.keys())}
    return {key: counts for key, counts in both.items() if counts}


def means_over_sizes(changes):
    """[(configuration without n, number of sizes, geometric mean of the ratios)]"""
    ratios = {}
    for change in changes:
        key = tuple("" if axis == "n" else value for axis, value in zip(AXES, change.configuration))
        ratios.setdefault(key, []).append(change.ratio)
    return sorted(((key, len(all_), statistics.geometric_mean(all_)) for key, all_ in ratios.items()),
                  key=lambda mean: (-mean[2], mean[0]))


# ---- Writing ----


def time_text(ms):
    unit, size = next(((u, s) for u, s in (("s", 1e3), ("ms", 1)) if ms >= s), ("us", 1e-3))
    return f"{ms / size:.4g} {unit}"


def size_text(text):
    n = int(text) if text.isdigit() else 0
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else text


def print_aligned(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def shown_axes(configurations):
    """The places of the axes that tell the configurations apart, and always the algorithm."""
    return [i for i, axis in enumerate(AXES) if axis == "algo" or len({c[i] for c in configurations}) > 1]


def cells(configuration, places):
    return [size_text(configuration[i]) if AXES[i] == "n" else configuration[i] or "-" for i in places]


def reach_of(change):
    """[interval, what is undecided]: one of them is known."""
    if change.is_interval:
        return [f"{change.low:.3f}..{change.high:.3f}", "-"]
    return ["-", f"{100 * (change.high / change.ratio - 1):.1f} %"]


def print_changes(changes):
    places = shown_axes([change.configuration for change in changes])
    titles = ["99.5 % interval", "undecided up to"]
    shown = [i for i, kind in enumerate((True, False)) if any(c.is_interval == kind for c in changes)]
    print_aligned([[*(AXES[i] for i in places), "old", "new", "new/old", *(titles[i] for i in shown), "change"]] + [
        [*cells(c.configuration, places), time_text(c.old_ms), time_text(c.new_ms), f"{c.ratio:.3f}",
         *(reach_of(c)[i] for i in shown), c.verdict] for c in changes])


def print_means(changes):
    means = means_over_sizes(changes)
    places = shown_axes([key for key, _, _ in means])
    print()
    print_aligned([[*(AXES[i] for i in places), "sizes", "geometric mean of new/old"]] + [
        [*cells(key, places), str(count), f"{mean:.3f}"] for key, count, mean in means])


def print_verdicts(changes):
    count = {word: sum(c.verdict == word for c in changes) for word in ("slower", "faster", "same", "undecided")}
    print("\n" + ", ".join(f"{number} {word}" for word, number in count.items()))


def print_counts(counts):
    """Those that differ, and of how many configurations."""
    differing = {key: [count for count in own if float(count[1]) != float(count[2])] for key, own in counts.items()}
    differing = {key: own for key, own in differing.items() if own}
    if differing:
        places = shown_axes(counts.keys())
        print_aligned([[*(AXES[i] for i in places), "count", "old", "new", "new/old"]] + [
            [*cells(key, places), name, a, b, f"{float(b) / float(a):.3f}" if float(a) else "-"]
            for key, own in differing.items() for name, a, b in own])
        print()
    print(f"counts in the emulator: {len(differing)} changed, {len(counts) - len(differing)} same")


def counted(configurations):
    return f"{len(configurations)} configuration{'s' * (len(configurations) != 1)}"


def say_not_passed(failed, others, name):
    """Says which configurations did not pass, if the other file has times of them or their results are wrong."""
    said = sorted(key for key, row in failed.items() if key in others or is_wrong(row))
    if not said:
        return
    texts = []
    for key in said[:MOST_NAMED]:
        row = failed[key]
        reason = ", ".join(text for text in (row["check"] * (not is_wrong(row)), row.get("reason")) if text)
        texts.append(f"{row['algo']} n={size_text(row['n'])}" + f" ({reason})" * bool(reason))
    print(f"compare.sh: {counted(said)} of the {name} file did not pass: {'; '.join(texts)}"
          f"{'; ...' * (len(said) > MOST_NAMED)}", file=sys.stderr)


def say_uncounted(old, new, counts):
    without = (old.keys() & new.keys()) - counts.keys()
    if without:
        print(f"compare.sh: {counted(without)} of the emulator without counts in both files, and its times are not compared; "
              "run both with --counts", file=sys.stderr)


def say_missing(old, new, old_failed, new_failed):
    for runs, others, failed, name in ((old, new, new_failed, "old"), (new, old, old_failed, "new")):
        only = runs.keys() - others.keys() - failed.keys()
        if only:
            print(f"compare.sh: {counted(only)} only in the {name} file", file=sys.stderr)


def say_nothing_in_common(old, new):
    filled = [{axis for axis, values in zip(AXES, zip(*keys)) if any(values)} for keys in (old, new)]
    only = [axis for axis in AXES if old and new and axis in filled[0] ^ filled[1]]
    print("compare.sh: the files have no configuration in common"
          + f"; only one of them has values of {', '.join(only)}" * bool(only), file=sys.stderr)


def say_machines(changes, old, new):
    """Times of two machines are compared, but not in silence."""
    for key in (change.configuration for change in changes):
        pair = old[key].machine, new[key].machine
        differing = [i for i in range(len(MACHINE)) if all(m[i] for m in pair) and pair[0][i] != pair[1][i]]
        if differing:
            names = [" ".join(machine[i] for i in differing) for machine in pair]
            print(f"compare.sh: the files are of two machines: {names[0]} and {names[1]}", file=sys.stderr)
            return


# ---- The command line ----


def percentage(argument, default):
    flag, _, text = argument.partition("=")
    if not text:
        if default is None:
            raise UsageError(f"{flag} needs a percentage, such as {flag}=0.5")
        return default
    if not re.fullmatch(r"[0-9]+(\.[0-9]*)?%?", text):
        raise UsageError(f"{argument} is not a percentage, such as {flag}=0.5")
    return float(text.rstrip("%")) / 100


def main(arguments):
    same, fail_slower, paths = SAME, None, []
    for argument in arguments:
        if argument.split("=")[0] == "--fail-slower":
            fail_slower = percentage(argument, 0.0)
        elif argument.split("=")[0] == "--same":
            same = percentage(argument, None)
        elif argument.startswith("-"):
            raise UsageError(f"{argument} is not known; it must be --fail-slower, --same=PERCENT, --help, or a file")
        else:
            paths.append(argument)
    if len(paths) != 2:
        raise UsageError(f"two files are compared, and {len(paths)} are named: OLD.csv NEW.csv")
    (old, old_emulated, old_failed), (new, new_emulated, new_failed) = load(paths[0]), load(paths[1])
    changes, counts = compare(old, new, same), compare_counts(old_emulated, new_emulated)
    if changes:
        print_changes(changes)
        print_means(changes)
        print_verdicts(changes)
    if counts:
        print("\n" * bool(changes), end="")
        print_counts(counts)
    all_old, all_new = old | old_emulated, new | new_emulated
    say_not_passed(old_failed, all_new, "old")
    say_not_passed(new_failed, all_old, "new")
    say_uncounted(old_emulated, new_emulated, counts)
    if all_old.keys() & all_new.keys():
        say_missing(all_old, all_new, old_failed, new_failed)
        say_machines(changes, old, new)
    else:
        say_nothing_in_common(all_old, all_new)
    if fail_slower is not None and counts and not changes:
        print("compare.sh: --fail-slower: no time is compared; those of the emulator say nothing about a GPU", file=sys.stderr)
    if any(map(is_wrong, new_failed.values())):
        return EXIT_WRONG_ANSWER
    if fail_slower is not None and any(c.verdict == "slower" and c.ratio > 1 + fail_slower for c in changes):
        return EXIT_SLOWER
    lacks = fail_slower is not None and (old.keys() - new.keys() or not changes)
    return EXIT_ERROR if lacks or not changes and not counts else EXIT_OK


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
        print(end="", flush=True)
        sys.exit(code)
    except UsageError as error:
        print(f"compare.sh: {error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except OSError as error:
        print(f"compare.sh: stdout: cannot write: {error.strerror}", file=sys.stderr)
        os._exit(EXIT_ERROR)  # sys.exit() would write once more
    except BrokenPipeError:
        # Python would fail once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print("compare.sh: stdout: cannot write: Broken pipe", file=sys.stderr)
        sys.exit(EXIT_ERROR)
