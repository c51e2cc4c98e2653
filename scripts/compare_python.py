#!/usr/bin/env python3
"""compare_python.py [--gpu] [--n=SIZES] [--samples=N]: measures the library beside numpy or,
with --gpu, beside CuPy and PyTorch, in one process on the same arrays, and prints CSV.

It needs the library (SCANBENCH_LIBRARY=build/libscanbench.so) and numpy; with --gpu CuPy, and
PyTorch if it is there. SIZES is a list like 2^12,2^20,100000. Elements are 32-bit integers.

Each sample begins with cold caches: a buffer larger than they are is written first. On a GPU that
keeps the device busy until the call is enqueued, so that times are device times. On the CPU they
are wall times. Each result is compared with that of numpy or CuPy."""
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
import scanbench  # noqa: E402

COLUMNS = "op,algo,type,n,device,device_name,cache,samples,time_ms,time_min_ms,time_max_ms,library_version,check"
DEFAULT_SIZES = "2^12,2^16,2^20,2^24,2^26,2^28"


class Cpu:
    name, module = "cpu", numpy

    def __init__(self):
        cache = subprocess.run(["getconf", "LEVEL3_CACHE_SIZE"], capture_output=True, text=True).stdout
        self.flushed = numpy.empty(2 * max(int(cache or 0), 1 << 25), dtype="uint8")

    def device_name(self):
        models = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
        threads = len(os.sched_getaffinity(0))
        return f"{models[0].split(':')[1].strip() if models else platform.machine()}; {threads} threads"

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

    def time_ms(self, call):
        self.flushed.fill(1)
        self.start.record(self.stream)
        call()
        self.stop.record(self.stream)
        self.stop.synchronize()
        return self.module.cuda.get_elapsed_time(self.start, self.stop)


def own_algorithms(device, array, out):
    handle = scanbench.Handle(gpu=0 if device.name == "gpu0" else None)
    version = scanbench.library.scanbench_version()
    version = f"libscanbench {version // 10000}.{version // 100 % 100}.{version % 100}"
    yield "scan", "libscanbench", version, lambda: handle.inclusive_sum(array, out)
    yield "sort", "libscanbench", version, lambda: handle.sort(array, out)


def array_algorithms(device, array, out):
    module = device.module
    version = f"{module.__name__} {module.__version__}"
    yield "scan", f"{module.__name__}.cumsum", version, lambda: module.cumsum(array, dtype="int32", out=out)
    yield "sort", f"{module.__name__}.sort", version, lambda: module.sort(array)


def torch_algorithms(device, array, out):
    if device.name == "cpu":
        return
    try:
        import torch
    except ImportError:
        print("no PyTorch here", file=sys.stderr)
        return
    torch.cuda.set_stream(torch.cuda.ExternalStream(device.stream.ptr))
    from_there, to_there = torch.as_tensor(array, device="cuda"), torch.as_tensor(out, device="cuda")
    version = f"PyTorch {torch.__version__}"
    yield "scan", "torch.cumsum", version, lambda: torch.cumsum(from_there, 0, dtype=torch.int32, out=to_there)
    # It always computes the places of the keys as well.
    yield "sort", "torch.sort", version, lambda: torch.sort(from_there)


def result_of(returned, out):
    """What a call returned: an array, a pair of torch.sort, or nothing beside `out`."""
    if type(returned).__module__.startswith("torch.return_types"):
        returned = returned[0]
    return out if returned is None else returned


def measure(device, array, samples):
    module = device.module
    out = module.empty_like(array)
    wanted = {"scan": module.cumsum(array, dtype="int32"), "sort": module.sort(array)}
    for source in own_algorithms, array_algorithms, torch_algorithms:
        for op, algo, version, call in source(device, array, out):
            result = result_of(call(), out)
            passed = bool((module.asarray(result) == wanted[op]).all())
            times = [device.time_ms(call) for _ in range(samples)]
            row = [op, algo, "i32", array.size, device.name, device.device_name(), "cold", samples]
            row += [f"{f(times):.6g}" for f in (statistics.median, min, max)]
            print(*row, version, "passed" if passed else "failed", sep=",", flush=True)


def main():
    options = {"n": DEFAULT_SIZES, "samples": "21"}
    for argument in sys.argv[1:]:
        name, equals, value = argument.removeprefix("--").partition("=")
        if name not in ("gpu", "n", "samples") or (name == "gpu") == bool(equals):
            sys.exit(f"compare_python.py: {argument} is not known; it must be --gpu, --n=SIZES or --samples=N")
        options[name] = value
    device = Gpu() if "gpu" in options else Cpu()
    print(COLUMNS)
    for size in options["n"].split(","):
        n = 2 ** int(size[2:]) if size.startswith("2^") else int(size)
        array = numpy.random.default_rng(1).integers(-(2**31), 2**31, n, dtype="int32")
        measure(device, device.module.asarray(array), int(options["samples"]))


if __name__ == "__main__":
    main()
