#!/usr/bin/env python3
"""one_run.py FILE.csv...: prints bench/rows/one_run.def, by how much two runs of one build differ,
from files that have several processes of each configuration.

For each kind of device and each n, it is the largest ratio of the median times of two processes,
at this n or at a larger one, less 1, in percent. What is measured more than once in one file is
one configuration of one build in several processes: the files must have been made so."""
import math
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from csv_rows import AXES, UsageError, read_rows, value_of  # noqa: E402

HEAD = """\
/* one_run.def: by how many percent the median times of two processes of one build differed at most,
 * at this n or at a larger one. One run cannot show more than that. Made by
 *
 *     python3 scripts/one_run.py {files} >bench/rows/one_run.def
 *
 * ONE_RUN(KIND, N, PERCENT)
 *   KIND     of device, with which the column device begins
 *   N        the row holds from this n up to the next one
 *
{provenance}
 */
"""


def times_of(path):
    """{(configuration): [time_ms]} and a line on where they are from."""
    columns, rows = read_rows(path)
    times, kept = {}, []
    for row in (dict(zip(columns, row)) for row in rows):
        if row["check"] == "passed" and not row.get("kernel"):
            times.setdefault(tuple(value_of(row, axis) for axis in AXES), []).append(float(row["time_ms"]))
            kept.append(row)
    times = {key: found for key, found in times.items() if len(found) > 1}
    if not times:
        raise UsageError(f"{path}: no configuration was measured more than once")
    said = [", ".join(sorted({row.get(name, "") for row in kept})) for name in ("device_name", "op", "algo", "version", "commit")]
    days = sorted({row.get("date", "")[:10] for row in kept})
    least, most = min(map(len, times.values())), max(map(len, times.values()))
    runs = str(most) if least == most else f"{least} to {most}"
    return times, (f" * {path}: {said[0]}; {said[3]} {said[4]}, {' to '.join(days[::max(1, len(days) - 1)])};\n"
                   f" *   {said[1]} by {said[2]}; {len(times)} configurations in {runs} processes")


def differences(times):
    """{(kind, n): largest percentage at this n or a larger one}"""
    found = {}
    for key, own in times.items():
        at = re.match("[a-z]*", key[AXES.index("device")])[0], int(key[AXES.index("n")])
        found[at] = max(found.get(at, 0), 100 * (max(own) / min(own) - 1))
    return {(kind, n): max(pct for (other, size), pct in found.items() if other == kind and size >= n)
            for kind, n in sorted(found)}


def main(paths):
    if not paths or any(path.startswith("-") for path in paths):
        raise UsageError("name files that have several processes of each configuration")
    all_times, provenance = {}, []
    for path in paths:
        times, said = times_of(path)
        provenance.append(said)
        for key, own in times.items():
            all_times[key + (path,)] = own
    print(HEAD.format(files=" ".join(paths), provenance="\n".join(provenance)), end="")
    for (kind, n), pct in differences(all_times).items():
        print(f"ONE_RUN({kind}, {n}, {math.ceil(10 * pct) / 10})")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UsageError as error:
        sys.exit(f"one_run.py: {error}")
