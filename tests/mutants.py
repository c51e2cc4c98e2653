#!/usr/bin/env python3
"""mutants.py [--quick] [--tap] [--jobs=N] [PATTERN...]: do the tests find wrong code?

Each tests/mutants/NAME.mutant is a small wrong change to one source file, with the
commands that must find it. The change is made in a copy of the tree, which is rebuilt
without CUDA. The commands must pass in an unchanged copy, and are then run in the
changed one. What `make` has built is not built again. tests/README.md explains how to
write a mutant.

Prints a line per mutant with what found it, and exits with 1 if one was not found.
PATTERN: names, or parts of them. --quick: only those that `make test-long` runs or, without LONG
in the environment, the fifth of them that `make test` runs. --tap: output for tests/run.sh."""

import argparse
import concurrent.futures
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests/mutants"
WORK = ROOT / "build/mutants"
RIGHT = "right"  # the unchanged copy
MAKE = ["make", "--no-print-directory", "-s", "NVCC="]
BUILT = ["bench", "cpu", "emulated", "emulator", "timing", "flags", "scanbench.o", "scanbench.d"]
NOT_COPIED = {"build", "results", "scanbench", "fuzz", "mutants"}
SECONDS = 600  # time limit of a command
FIELDS = {"in", "by", "quick"}


class Bad(Exception):
    """Why a mutant was not found, or proves nothing."""


# ---- Reading a mutant ----


class Mutant:
    """A wrong change, read from its file."""

    def __init__(self, path):
        self.name = path.stem
        try:
            title, header, body = path.read_text().split("\n\n", 2)
        except ValueError:
            raise Bad("not a title, fields and a change, with empty lines between") from None
        fields = [line.split(": ", 1) for line in header.splitlines() if ": " in line]
        if not {"in", "by"} <= {name for name, _ in fields} <= FIELDS:
            raise Bad("its fields are not `in`, `by` and, if it is so, `quick`")
        self.title = title
        self.file = dict(fields)["in"]
        self.commands = [value.split() for name, value in fields if name == "by"]
        self.quick = ["quick", "yes"] in fields
        self.hunks = [read_hunk(hunk) for hunk in body.strip("\n").split("\n@@\n")]

    def change(self, text):
        """The text with every hunk's old lines replaced."""
        for old, new in self.hunks:
            found = ("\n" + text).count("\n" + old)
            if found != 1:
                raise Bad(f"its old text is in {self.file} {found} times, where once is right")
            text = ("\n" + text).replace("\n" + old, "\n" + new)[1:]
        return text


def read_hunk(hunk):
    """The old text, with the lines marked -, and the new text, with those marked +."""
    lines = hunk.splitlines()
    if any(line[:1] not in ("", " ", "-", "+") for line in lines):
        raise Bad("a line of its change begins with none of `-`, `+` and a space")
    old = "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
    new = "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
    if old == new or not old:
        raise Bad("it changes nothing")
    return old, new


# ---- Copies of the tree ----


def copy_tree(source, to):
    """Copies like cp -a, so that what make has built stays up to date."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(source, to, symlinks=True)


def sources_here():
    sources = set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in NOT_COPIED and not f.startswith(".")]
        for file in files:
            path = (Path(folder) / file).relative_to(ROOT)
            if not str(path).startswith(".") and path.name not in NOT_COPIED:
                sources.add(path)
    return sources


def built_here():
    """What `make` has built that is the same without CUDA, or that make will build anew."""
    files = (path for name in BUILT for path in [ROOT / "build" / name, *(ROOT / "build" / name).rglob("*")])
    return {path.relative_to(ROOT) for path in files if path.is_file()}


def update_right():
    """Updates the unchanged copy, and keeps what make has built there."""
    right = WORK / RIGHT
    sources = sources_here()
    for path in sources | (set() if (right / "build").exists() else built_here()):
        there = right / path
        mtime = (ROOT / path).stat().st_mtime
        if not there.exists() or there.stat().st_mtime != mtime:
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, there)
    for folder, folders, files in os.walk(right):
        folders[:] = [f for f in folders if f not in NOT_COPIED]
        for file in files:
            path = Path(folder) / file
            if path.relative_to(right) not in sources and file not in NOT_COPIED:
                path.unlink()


def target_of(command):
    """The make target of a command's program."""
    return "scanbench" if command[0] == "scanbench" else f"build/tests/{command[0]}"


def build(tree, targets, jobs=1):
    # A make that runs this has flags and jobs of its own.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(MAKE + [f"-j{jobs}", *sorted(targets)], cwd=tree, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        errors = re.findall(r"^.*[Ee]rror:.*$", done.stdout, re.M) or done.stdout.splitlines()
        raise Bad("it does not build: " + (errors or ["?"])[0])


# ---- Running a command ----


def run(tree, command):
    """Exit code and output. A run of scanbench has a row for each size and so on."""
    arguments = command[1:]
    if command[0] == "scanbench":
        arguments = ["--samples=2", *arguments, "--quiet", "--format=csv", "--columns=check,reason"]
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_WAIT_POLICY="passive",
                       CMOCKA_MESSAGE_OUTPUT="TAP")
    try:
        done = subprocess.run([f"./{target_of(command)}", *arguments], cwd=tree, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Bad(f"it had not ended after {SECONDS} s") from None
    return done.returncode, done.stdout, done.stderr


def verdict(command, code, output, errors):
    """What the command has found, or None. Raises Bad if the result proves neither."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    if command[0] == "scanbench":
        if code == 3 and " touched memory " in errors:
            return errors.strip()
        rows = list(csv.DictReader(output.splitlines()))
        if not rows or any(row["check"] not in ("passed", "failed", "error") for row in rows):
            raise Bad(f"a row was not run: {errors or output}")
        wrong = [row for row in rows if row["check"] != "passed"]
        defect = "--check" in command or any(row["check"] == "failed" for row in wrong)
        if code != (0 if not wrong else 3 if defect else 1):
            raise Bad(f"exit {code}, where {len(wrong)} of {len(rows)} rows did not pass")
        return wrong[0]["reason"] if wrong else None
    if code == 0:
        return None
    lines = [line for line in (output + errors).splitlines()
             if re.search(r"^WRONG|^not ok|^# .*:|^stress:", line)]
    if not lines:
        raise Bad(f"exit {code}, without a word of what is wrong")
    return re.sub(r"\s+", " ", " ".join(lines[:2]).lstrip("# "))


class Commands:
    """The results of commands in the unchanged copy, each run once."""

    def __init__(self):
        self.results = {}
        self.lock = threading.Lock()

    def require(self, command):
        """Raises unless the command passes there."""
        key = tuple(command)
        with self.lock:
            first = key not in self.results
            future = self.results.setdefault(key, concurrent.futures.Future())
        if first:
            try:
                future.set_result(verdict(command, *run(WORK / RIGHT, command)))
            except Bad as bad:
                future.set_result(str(bad))
        if future.result() is not None:
            raise Bad(f"its command fails without it: {future.result()}")


def hunt(mutant, commands):
    """What the first command found. Raises Bad if one of them found nothing."""
    for command in mutant.commands:
        commands.require(command)
    tree = WORK / mutant.name
    copy_tree(WORK / RIGHT, tree)
    (tree / mutant.file).write_text(mutant.change((ROOT / mutant.file).read_text()))
    build(tree, {target_of(command) for command in mutant.commands})
    findings = []
    for command in mutant.commands:
        findings.append(verdict(command, *run(tree, command)))
        if findings[-1] is None:
            raise Bad("all is well, says " + " ".join(command))
    shutil.rmtree(tree)
    return findings[0]


# ---- Every mutant ----


def read_mutants(patterns, quick):
    """The selected mutants, and (name, what is wrong) for files that are not mutants."""
    mutants, bad = [], []
    for path in sorted(FOLDER.glob("*.mutant")):
        try:
            mutant = Mutant(path)
            # Also of those that are not run, so that none goes stale unseen.
            mutant.change((ROOT / mutant.file).read_text())
        except (Bad, OSError) as error:
            bad.append((path.stem, str(error)))
            continue
        named = not patterns or any(pattern in mutant.name for pattern in patterns)
        if named and (mutant.quick or not quick):
            mutants.append(mutant)
    return mutants, bad


def without_a_mutant(mutants):
    """Files of our own algorithms that no mutant changes."""
    changed = {mutant.file for mutant in mutants}
    for folder in ("cpu", "kernels"):
        for path in sorted((ROOT / folder).rglob("*.*")):
            file = str(path.relative_to(ROOT))
            if file in changed or path.suffix == ".md":
                continue
            if not re.search(r"#include [<\"](cub/|thrust|library\.hpp)", path.read_text()):
                yield file


class Report:
    """Prints a line for each mutant as it finishes."""

    def __init__(self, tap, count):
        self.tap, self.found, self.lost, self.lock = tap, 0, 0, threading.Lock()
        if tap:
            print(f"1..{count}", flush=True)

    def line(self, found, name, text):
        with self.lock:
            self.found += found
            self.lost += not found
            if self.tap:
                text = f"{'ok' if found else 'not ok'} {self.found + self.lost} - {name}: {text}"
            else:
                text = f"{'found' if found else 'NOT FOUND':<10} {name:<44} {text}"
            print(text, flush=True)


def hunt_all(mutants, bad, report, jobs):
    commands = Commands()
    for name, reason in bad:
        report.line(False, name, reason)
    if not mutants:
        return
    update_right()
    build(WORK / RIGHT, {target_of(c) for mutant in mutants for c in mutant.commands}, jobs)

    def one(mutant):
        try:
            report.line(True, mutant.name, hunt(mutant, commands))
        except Bad as error:
            report.line(False, mutant.name, f"{error} ({mutant.title})")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, mutants))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    mutants, bad = read_mutants(options.patterns, options.quick)
    if not options.quick:
        os.environ["LONG"] = "1"  # a part of a test may not be the one that finds it
    elif not os.environ.get("LONG"):
        mutants = mutants[::5]
    report = Report(options.tap, len(mutants) + len(bad))
    try:
        hunt_all(mutants, bad, report, options.jobs)
    except Bad as error:
        sys.exit(f"mutants.py: without any mutant: {error}")
    if not options.tap:
        if not options.patterns and not options.quick:
            for file in without_a_mutant(mutants):
                print(f"no mutant is in {file}")
        print(f"{report.found} found, {report.lost} not found")
    sys.exit(report.lost > 0 or report.found == 0)


if __name__ == "__main__":
    main()
