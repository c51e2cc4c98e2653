#!/usr/bin/env python3
"""trace.py json|steps|check PAGE.html [RUN]: what --trace wrote.

json    The runs, as the page has them.
steps   A line for each step of a run: its number, "reads" and "writes" with ARRAY[INDEX]=VALUE each.
check   Each run has launches unless it has no elements, and its arrays have as many cells as are touched; what is
        read from global memory is what was there. Prints each error, and then exits with 1.
"""
import json
import re
import sys

KEYS = {"kind", "block", "warp", "lanes", "array", "cells", "index", "value", "time"}
WRITES = ("store", "atomic", "give")


def runs_of(path):
    with open(path, encoding="utf-8") as file:
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)
    return json.loads(data)


def cells_of(run, request, values):
    """(array, index, value) of each cell, lane by lane."""
    name = run["arrays"][request["array"]]["name"]
    for i, first in enumerate(request["index"]):
        for k in range(request["cells"]):
            yield name, first + k, request[values][i * request["cells"] + k]


def written(cells):
    return "".join(f" {name}[{index}]={value}" for name, index, value in cells)


def print_steps(run):
    number = 0
    for launch in run["launches"]:
        for step in launch["steps"]:
            number += 1
            parts = {"reads": [], "writes": []}
            for request in step["requests"]:
                side = "writes" if request["kind"] in WRITES else "reads"
                parts[side] += cells_of(run, request, "value")
            print(f"{number} reads{written(sorted(parts['reads']))} writes{written(sorted(parts['writes']))}")


def wrong_requests(run):
    memory = {}
    requests = [request for launch in run["launches"] for step in launch["steps"] for request in step["requests"]]
    for request in sorted(requests, key=lambda request: request["time"]):
        array = run["arrays"][request["array"]]
        lanes = bin(request["lanes"]).count("1")
        if not KEYS <= request.keys() or len(request["index"]) != lanes or len(request["value"]) != lanes * request["cells"]:
            yield f"a request is not whole: {request}"
        if max(request["index"]) + request["cells"] > array["cells"]:
            yield f"a request is outside its array: {request}"
        if array["name"] == "input" and request["kind"] == "load":
            for cell in cells_of(run, request, "value"):
                if memory.setdefault(cell[:2], cell[2]) != cell[2]:
                    yield f"the input changes: {cell}"


def wrong_results(run):
    """Of an exclusive scan, which is all in order."""
    title, output = run["title"], {}
    if title["op"] != "scan" or title["kind"] != "exclusive" or run["steps_left_out"]:
        return
    requests = [request for launch in run["launches"] for step in launch["steps"] for request in step["requests"]]
    given = {}
    for request in sorted(requests, key=lambda request: request["time"]):
        for name, index, value in cells_of(run, request, "value"):
            if name == "output" and request["kind"] in WRITES:
                output[index] = float(value)
            if name == "input":
                given[index] = float(value)
    if len(given) < int(title["n"]) - 1 or len(output) < int(title["n"]):
        return  # copies by the engine, or no scan at all
    if title["algo"] in ("memcpy", "empty"):
        return
    for i in range(1, int(title["n"])):
        if abs(output[i] - output[i - 1] - given[i - 1]) > 1e-3:
            yield f"{title['algo']}: output[{i}] is {output[i]} after {output[i - 1]} and {given[i - 1]}"


def main(what, path, number="0"):
    runs = runs_of(path)
    if what == "json":
        json.dump(runs, sys.stdout)
    elif what == "steps":
        print_steps(runs[int(number)])
    else:
        wrong = [error for run in runs for check in (wrong_requests, wrong_results) for error in check(run)]
        wrong += [f"no launch: {run['title']}" for run in runs if not run["launches"] and int(run["title"]["n"]) > 1
                  and run["title"]["algo"] not in ("memcpy",)]
        print("\n".join(wrong) or f"{len(runs)} runs")
        return 1 if wrong or not runs else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
