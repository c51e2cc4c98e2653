#!/usr/bin/env python3
"""compare_python.py [--gpu] [--type=TYPES] [--n=SIZES] [--samples=N]: measures the library beside numpy or,
with --gpu, beside CuPy and PyTorch, in one process on the same arrays, and prints CSV.

It needs the library (SCANBENCH_LIBRARY=build/libscanbench.so) and numpy; with --gpu CuPy, and PyTorch if it is there.
SIZES is a list like 2^12,2^20,100000. TYPES is a list of i32 (the default), u32, i64, u64, f32, f64, u8, i8, i16, u16
and f16. Integers are of all values of their type. Floats are whole numbers whose sums are exact in any order, except in
recurrences, which are of f64 for f64 and of f32 for every other type. Rows have 64 and 1024 elements; what does not
fill the last one is left out. What a package does not have for a type has no row.

Each sample begins with cold caches: a buffer larger than they are is written first. On a GPU that
keeps the device busy until the call is enqueued, so that times are device times. On the CPU they
are wall times. Each result is compared with that of numpy; steps of a recurrence are checked one by one."""
import dataclasses
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import scanbench  # noqa: E402

COLUMNS = "op,algo,type,operator,segments,n,device,device_name,cache,samples,time_ms,time_min_ms,time_max_ms,library_version,check"
DEFAULT_SIZES = "2^12,2^16,2^20,2^24,2^26,2^28"


# What the package takes, by the program's names; and up to where floats and their differences are whole numbers.
DTYPES = {"i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "f32": "float32", "f64": "float64",
          "u8": "uint8", "i8": "int8", "i16": "int16", "u16": "uint16", "f16": "float16"}
LARGEST = {"f32": 2**23, "f64": 2**52, "f16": 2**10}
# PyTorch sums and sorts no wider unsigned integers.
TORCH_TYPES = [name for name in DTYPES if name not in ("u16", "u32", "u64")]


class Cpu:
    name, module = "cpu", numpy

    def __init__(self):
        cache = subprocess.run(["getconf", "LEVEL3_CACHE_SIZE"], capture_output=True, text=True).stdout
        self.flushed = numpy.empty(2 * max(int(cache or 0), 1 << 25), dtype="uint8")

    def device_name(self):
        models = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
        threads = len(os.sched_getaffinity(0))
        return f"{models[0].split(':')[1].strip() if models else platform.machine()}; {threads} threads"

    def on_host(self, array):
        return array

    def time_ms(self, call):
        self.flushed.fill(1)
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e3


class Gpu:
    name = "gpu0"

    def __init__(self):
        import cupy

        self.module = cupy
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.stream.use()
        self.start, self.stop = cupy.cuda.Event(), cupy.cuda.Event()
        cache = cupy.cuda.Device().attributes["L2CacheSize"]
        self.flushed = cupy.empty(8 * cache, dtype="uint8")

    def device_name(self):
        return self.module.cuda.runtime.getDeviceProperties(0)["name"].decode()

    def on_host(self, array):
        return self.module.asnumpy(array)

    def time_ms(self, call):
        self.flushed.fill(1)
        self.start.record(self.stream)
        call()
        self.stop.record(self.stream)
        self.stop.synchronize()
        return self.module.cuda.get_elapsed_time(self.start, self.stop)


@dataclasses.dataclass(frozen=True)
class Case:
    """What is measured, in the words of the program's columns."""

    op: str
    operator: str = ""
    segments: str = ""
    type: str = "i32"

    @property
    def dtype(self):
        return DTYPES[self.type]

    def inputs(self, n):
        """Arrays of numpy: one, or a and b of a recurrence."""
        random = numpy.random.default_rng(1)
        if self.operator == "recurrence":
            return [random.uniform(-1, 1, n).astype(self.dtype) for _ in range(2)]
        if self.type in LARGEST:
            # Each partial sum is a difference of two of these numbers.
            array = numpy.diff(random.integers(0, LARGEST[self.type], n + 1)).astype(self.dtype)
        else:
            ends = numpy.iinfo(self.dtype)
            array = random.integers(ends.min, ends.max, n, dtype=self.dtype, endpoint=True)
        row = int(self.segments.partition(":")[2] or 0)
        return [array[: n // row * row].reshape(-1, row) if row else array]

    def passes(self, inputs, result):
        if self.operator == "recurrence":
            a, b = inputs
            wanted = numpy.concatenate([b[:1], a[1:] * result[:-1] + b[1:]])
            return bool((abs(result - wanted) < 512 * numpy.finfo(self.dtype).eps).all())
        array, = inputs
        if self.op == "sort":
            return bool((result == numpy.sort(array)).all())
        ufunc = {"sum": numpy.add, "max": numpy.maximum}[self.operator]
        return bool((result == ufunc.accumulate(array, axis=-1, dtype=self.dtype)).all())


def cases_of(types):
    """Each once, in the order of the types."""
    cases = {}
    for name in types:
        sums = [Case("scan", "sum", segments, name) for segments in ("none", "rows:64", "rows:1024")]
        recurrence = Case("scan", "recurrence", "none", "f64" if name == "f64" else "f32")
        cases |= dict.fromkeys([*sums, Case("scan", "max", "none", name), recurrence, Case("sort", type=name)])
    return list(cases)


def own_calls(device, case, inputs, out):
    functions = {"sum": scanbench.cumsum, "max": scanbench.cummax, "recurrence": scanbench.linear_recurrence,
                 "": scanbench.sort}
    version = scanbench._library.load()["version"]()
    version = f"libscanbench {version // 10000}.{version // 100 % 100}.{version % 100}"
    yield "libscanbench", version, lambda: functions[case.operator](*inputs, out=out)


def array_calls(device, case, inputs, out):
    """CuPy has no running maximum, and neither it nor numpy a recurrence."""
    module = device.module
    version = f"{module.__name__} {module.__version__}"
    if case.op == "sort":
        yield f"{module.__name__}.sort", version, lambda: module.sort(inputs[0])
    elif case.operator == "sum":
        # With an axis, CuPy scans an array of one dimension by slower kernels of its own.
        axis = {"axis": -1} if inputs[0].ndim > 1 else {}
        yield f"{module.__name__}.cumsum", version, lambda: module.cumsum(inputs[0], dtype=case.dtype, out=out, **axis)
    elif case.operator == "max" and module is numpy:
        yield "numpy.maximum.accumulate", version, lambda: module.maximum.accumulate(inputs[0], out=out)


def torch_calls(device, case, inputs, out):
    if device.name == "cpu" or case.operator == "recurrence" or case.type not in TORCH_TYPES:
        return
    try:
        import torch
    except ImportError:
        print("no PyTorch here", file=sys.stderr)
        return
    torch.cuda.set_stream(torch.cuda.ExternalStream(device.stream.ptr))
    from_there, to_there = torch.as_tensor(inputs[0], device="cuda"), torch.as_tensor(out, device="cuda")
    version = f"PyTorch {torch.__version__}"
    # sort and cummax always compute the places of the elements as well.
    if case.op == "sort":
        yield "torch.sort", version, lambda: torch.sort(from_there)
    elif case.operator == "max":
        yield "torch.cummax", version, lambda: torch.cummax(from_there, -1)
    else:
        yield "torch.cumsum", version, lambda: torch.cumsum(from_there, -1, dtype=getattr(torch, case.dtype), out=to_there)


def result_of(device, returned):
    """What a call returned: an array, or a pair of torch.sort or torch.cummax."""
    if type(returned).__module__.startswith("torch.return_types"):
        returned = returned[0]
    return device.on_host(device.module.asarray(returned))


def measure(device, case, n, samples):
    on_host = case.inputs(n)
    if on_host[0].size == 0:
        return
    inputs = [device.module.asarray(array) for array in on_host]
    out = device.module.empty_like(inputs[0])
    for source in own_calls, array_calls, torch_calls:
        for algo, version, call in source(device, case, inputs, out):
            try:
                result = call()
            except NotImplementedError:
                continue
            passed = case.passes(on_host, result_of(device, result))
            times = [device.time_ms(call) for _ in range(samples)]
            row = [case.op, algo, case.type, case.operator, case.segments, out.size, device.name,
                   device.device_name(), "cold", samples]
            row += [f"{f(times):.6g}" for f in (statistics.median, min, max)]
            print(*row, version, "passed" if passed else "failed", sep=",", flush=True)


def main():
    options = {"type": "i32", "n": DEFAULT_SIZES, "samples": "21"}
    if "--help" in sys.argv:
        return print(__doc__)
    for argument in sys.argv[1:]:
        name, equals, value = argument.removeprefix("--").partition("=")
        if name not in ("gpu", "type", "n", "samples") or (name == "gpu") == bool(equals):
            sys.exit(f"compare_python.py: {argument} is not known; it must be --gpu, --type=TYPES, "
                     "--n=SIZES, --samples=N or --help")
        options[name] = value
    types = options["type"].split(",")
    for name in types:
        if name not in DTYPES:
            sys.exit(f"compare_python.py: --type={name} is not known; it must be a list of {', '.join(DTYPES)}")
    device = Gpu() if "gpu" in options else Cpu()
    print(COLUMNS)
    for size in options["n"].split(","):
        n = 2 ** int(size[2:]) if size.startswith("2^") else int(size)
        for case in cases_of(types):
            measure(device, case, n, int(options["samples"]))


if __name__ == "__main__":
    main()
