#!/usr/bin/env python3
"""faults.py [--every] FAULTY FOLDER FLAG...: runs FAULTY (tests/commands/faults.cpp) with the flags
once to see which calls it makes, then repeatedly, making a different call fail each time,
and prints after which failures a run did not behave. FOLDER is the working folder; "@" in a
flag stands for it.

Of the calls from one place the first and the last fail; with --every, all. Whatever fails, a run must behave as
follows:
- it ends with exit code 0, 1 or 4, without a signal or a sanitizer's report; where the last call from
  a place fails alone, when most is allocated, its process looks for leaks
- rows.csv or rows.json holds complete, correct rows, none that the undisturbed run does
  not have, and all of those unless a line on stderr says why
- the failure shows in a line on stderr or in a row
- with exit code 0 no row is an error
- a device that works again after a reset costs only one row"""
import filecmp
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import read_csv

CALLS_OF_ONE_PLACE = 2
AXES = ("op", "algo", "type", "kind", "n", "block", "threads", "simd", "device", "cache")
ENVIRONMENT = dict(
    os.environ,
    ASAN_OPTIONS="exitcode=99:allocator_may_return_null=1",
    UBSAN_OPTIONS="exitcode=99",
    OMP_NUM_THREADS="2",
)
WITHOUT_LEAKS = {"ASAN_OPTIONS": ENVIRONMENT["ASAN_OPTIONS"] + ":detect_leaks=0"}
# Calls that may fail unnoticed, since nothing depends on them: a column stays empty or says
# less, or memory is optional.
HARMLESS = {
    "cudaMemGetInfo": "allocating tells",
    "fopen": "what /proc says of the CPU and its memory",
}


class Run:
    def __init__(self, command, folder, fault, leaks, log):
        shutil.copytree(command.folder, folder)
        environment = dict(ENVIRONMENT, FAULT_LOG=log, **({} if leaks else WITHOUT_LEAKS))
        if fault:
            environment["FAULT"] = fault
        flags = [flag.replace("@", folder) for flag in command.flags]
        try:
            done = subprocess.run([command.program, *flags], env=environment, timeout=60,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.code, self.stdout, self.stderr = None, "", ""
        self.rows, self.problems = [], []
        self.read_rows(folder, command.folder)
        with open(log) as file:
            self.calls = [line.split() for line in file]
        shutil.rmtree(folder)
        os.remove(log)

    def read_rows(self, folder, before):
        """Rows of rows.csv or rows.json. An unchanged file need not be complete."""
        path, old = os.path.join(folder, "rows.csv"), os.path.join(before, "rows.csv")
        json_path = os.path.join(folder, "rows.json")
        if os.path.exists(path) and os.path.getsize(path) > 0:
            header, rows, self.problems = read_csv.read(path)
            self.rows = [dict(zip(header, row)) for row in rows if len(row) == len(header)]
            if os.path.exists(old) and filecmp.cmp(path, old, shallow=False):
                self.problems = []
        if os.path.exists(json_path):
            with open(json_path) as file:
                try:
                    self.rows = json.load(file)["rows"]
                except ValueError:
                    if not self.stderr:
                        self.problems.append("no JSON, and no line says why")

    def configurations(self):
        """The rows' configurations; rows of launches come after the measurement."""
        return [tuple(row.get(name) for name in AXES)
                for row in self.rows if not row.get("kernel")]


class Command:
    def __init__(self, program, folder, flags):
        self.program, self.flags = program, flags
        self.folder = os.path.join(folder, "before")
        self.work = folder
        os.makedirs(self.folder, exist_ok=True)

    def run(self, name, fault=None, leaks=True):
        return Run(self, os.path.join(self.work, name), fault, leaks, os.path.join(self.work, name + ".log"))


def what_is_wrong(run, undisturbed, symbol):
    if run.code is None:
        yield "it hung"
        return
    if run.code not in (0, 1, 4) or "Sanitizer" in run.stderr or "runtime error" in run.stderr:
        yield f"exit code {run.code}"
    yield from run.problems
    lines = [line for line in run.stderr.splitlines() if line]
    bad_rows = [row for row in run.rows if row["check"] not in ("passed", "skipped")]
    left_out = [row for row in run.rows if row["check"] == "skipped"]
    if set(run.configurations()) - set(undisturbed.configurations()):
        yield "there are rows that should not be"
    if len(set(run.configurations())) < len(run.configurations()):
        yield "a row is there twice"
    if not lines and len(run.configurations()) < len(undisturbed.configurations()):
        yield "rows are missing, and no line says why"
    if not lines and not bad_rows and not left_out and not any(name in symbol for name in HARMLESS):
        yield "nothing says that something failed"
    if run.code == 0 and bad_rows:
        yield "exit code 0, though a row is an error"
    if run.code != 0 and not lines and not bad_rows:
        yield f"exit code {run.code}, and nothing says why"


def what_is_wrong_after_a_reset(run, undisturbed):
    lost = [row for row in run.rows if (row["reason"] or "").startswith("the device was lost: ")]
    if len(lost) > 1:
        yield f"the device was reset once, and {len(lost)} rows were lost"
    if lost and set(run.configurations()) != set(undisturbed.configurations()):
        yield "rows are missing, though the device was reset"


def chosen_calls(calls, every):
    """Numbers of the calls to fail: a few from each place, spread over the run; and is it the last?"""
    places = {}
    for number, symbol, place in calls:
        places.setdefault((symbol, place), []).append(int(number))
    for (symbol, _), numbers in places.items():
        count = len(numbers) if every else min(CALLS_OF_ONE_PLACE, len(numbers))
        for i in range(count):
            yield numbers[i * (len(numbers) - 1) // max(count - 1, 1)], symbol, i == count - 1


def main(arguments):
    every = arguments[0] == "--every"
    program, folder, *flags = arguments[every:]
    command = Command(os.path.abspath(program), os.path.abspath(folder), flags)
    undisturbed = command.run("undisturbed")
    if undisturbed.code != 0 or undisturbed.problems:
        sys.exit(f"undisturbed: exit code {undisturbed.code}: {undisturbed.stderr}")
    faults = []
    for number, symbol, is_last in sorted(chosen_calls(undisturbed.calls, every)):
        faults.append((str(number), symbol, is_last))
        if "emulator" in symbol:
            faults.append((f"{number}+", symbol, False))
        if "emulator_submit" in symbol or "cudaStreamSynchronize" in symbol:
            faults.append((f"{number}~", symbol, False))

    def attempt(fault):
        return command.run("run-" + fault[0], fault[0], leaks=fault[2])

    bad = 0
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        for (fault, symbol, _), run in zip(faults, pool.map(attempt, faults)):
            problems = list(what_is_wrong(run, undisturbed, symbol))
            if fault.endswith("~"):
                problems += what_is_wrong_after_a_reset(run, undisturbed)
            for problem in problems:
                bad += 1
                print(f"FAULT={fault} ({symbol}): {problem}\n    " +
                      "\n    ".join(run.stderr.splitlines()[:12]))
    print(f"{len(faults)} faults among {len(undisturbed.calls)} calls, {bad} problems")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
