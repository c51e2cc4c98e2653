"""python_test: the package python/scanbench: results along every axis; arrays that it would get wrong are refused,
with the reason, and left as they are; arrays of a GPU are passed on by address and stream; forked processes.

    SCANBENCH_LIBRARY=FILE python3 tests/library/python_test.py
"""
import contextlib
import copy
import multiprocessing
import os
import pickle
import sys
import threading
import types
import unittest
import unittest.mock
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import scanbench  # noqa: E402

SECONDS = 30  # for what hangs, if it is wrong
KEYS = [3, 0, 2, 1]
KEY_TYPES = "int32", "uint32", "int64", "uint64", "float32", "float64"
TYPES = *KEY_TYPES, "uint8", "int8", "int16", "uint16", "float16"
SCANS = [(scanbench.cumsum, numpy.add), (scanbench.cummax, numpy.maximum), (scanbench.cummin, numpy.minimum)]


def numbers(shape, dtype):
    return numpy.random.default_rng(7).integers(0, 9, shape).astype(dtype)


def recurrence(a, b, axis=-1):
    """By the definition."""
    a, b = numpy.moveaxis(a, axis, 0), numpy.moveaxis(b, axis, 0)
    result, h = numpy.empty_like(b), numpy.zeros_like(b[0])
    with numpy.errstate(over="ignore"):
        for i in range(len(b)):
            h = result[i] = a[i] * h + b[i]
    return numpy.moveaxis(result, 0, axis)


class Results(unittest.TestCase):
    def same(self, got, wanted, dtype):
        self.assertEqual(got.dtype, dtype)
        numpy.testing.assert_array_equal(got, wanted)

    def test_scans_along_every_axis(self):
        for dtype in TYPES:
            for shape in (7,), (0,), (1,), (3, 50), (50, 3), (1, 5), (5, 1), (0, 4), (4, 0), (3, 4, 5):
                x = numbers(shape, dtype)
                for axis in range(-x.ndim, x.ndim):
                    for scan, ufunc in SCANS:
                        wanted = ufunc.accumulate(x, axis=axis, dtype=dtype)
                        self.same(scan(x, axis=axis), wanted, dtype)
                        for out in numpy.zeros_like(x), numpy.zeros(x.shape[::-1], dtype).T, x.copy():
                            source = x if not (out == x).all() else out  # in place
                            self.assertIs(scan(source, axis=axis, out=out), out)
                            self.same(out, wanted, dtype)

    def test_large_rows_on_several_threads(self):
        handle = scanbench.Handle(threads=3)
        for shape in (1000, 333), (333, 1000), (2, 200_001):
            for axis in 0, 1:
                x = numbers(shape, "int32")
                for scan, ufunc in SCANS:
                    self.same(scan(x, axis, handle=handle), ufunc.accumulate(x, axis=axis, dtype="int32"), "int32")
        x = numbers(400_001, "int64") | 1  # the product of numbers that are not odd is 0 soon
        self.same(scanbench.linear_recurrence(x, x, handle=handle), recurrence(x, x), "int64")

    def test_exclusive(self):
        x = numbers((3, 5), "int32")
        wanted = numpy.zeros_like(x)
        wanted[:, 1:] = numpy.cumsum(x, axis=1)[:, :-1]
        self.same(scanbench.cumsum(x, exclusive=True), wanted, "int32")
        limits = numpy.iinfo("int32")
        self.assertTrue((scanbench.cummax(x, axis=0, exclusive=True)[0] == limits.min).all())
        self.assertTrue((scanbench.cummin(x, exclusive=True)[:, 0] == limits.max).all())
        self.assertEqual(scanbench.cummax(x.astype("float32"), exclusive=True)[0, 0], -numpy.inf)

    def test_recurrences_along_every_axis(self):
        for dtype in TYPES[:-1]:
            a, b = numbers((4, 5, 6), dtype) % 2, numbers((4, 5, 6), dtype)
            for axis in range(-3, 3):
                wanted = recurrence(a, b, axis)
                self.same(scanbench.linear_recurrence(a, b, axis), wanted, dtype)
                for out in a.copy(), b.copy():
                    first, second = (out, b) if (out == a).all() else (a, out)
                    self.assertIs(scanbench.linear_recurrence(first, second, axis, out), out)
                    self.same(out, wanted, dtype)

    def test_gaps(self):
        spread = numbers((40, 6), "float64")
        for x in spread[::2], spread[:, ::3], spread[::-1], spread[3:, 1:4], numpy.broadcast_to(spread[:1], (9, 6)):
            before = spread.copy()
            for scan, ufunc in SCANS:
                self.same(scan(x), ufunc.accumulate(x, axis=-1), "float64")
            self.same(scanbench.compress(x), x[x != 0], "float64")
            self.same(scanbench.sort(x[:, 0]), numpy.sort(x[:, 0]), "float64")
            numpy.testing.assert_array_equal(spread, before)
        out = numpy.zeros((40, 12))
        scanbench.cumsum(spread, out=out[:, ::2])
        self.same(out[:, ::2], spread.cumsum(axis=1), "float64")
        self.assertTrue((out[:, 1::2] == 0).all())

    def test_unaligned(self):
        for dtype in TYPES:
            x = numbers(50, dtype)
            moved = numpy.frombuffer(bytearray(b"x" + x.tobytes()), dtype, offset=1)
            self.same(scanbench.sort(moved), numpy.sort(x), dtype)
            self.same(scanbench.compress(moved), x[x != 0], dtype)
            self.same(scanbench.cummax(moved), numpy.maximum.accumulate(x), dtype)
            self.assertIs(scanbench.cummax(x, out=moved), moved)
            self.same(moved, numpy.maximum.accumulate(x), dtype)
        rows = numpy.zeros(5, dtype=[("a", "u1"), ("b", "i4")])
        rows["b"] = *KEYS, 7
        self.assertEqual(scanbench.argsort(rows["b"]).tolist(), numpy.argsort(rows["b"], kind="stable").tolist())

    def test_sort_and_compress(self):
        for dtype in TYPES:
            for n in 0, 1, 1000, 50_001:
                x = numbers(n, dtype)
                self.same(scanbench.compress(x), x[x != 0], dtype)
                self.same(scanbench.sort(x), numpy.sort(x), dtype)
                if dtype not in KEY_TYPES:
                    continue
                self.same(scanbench.argsort(x), numpy.argsort(x, kind="stable"), "int64")
                kept = x.copy()
                self.assertIs(scanbench.sort(kept, out=kept), kept)
                self.same(kept, numpy.sort(x), dtype)
        x = numbers((5, 6), "int32")
        self.same(scanbench.compress(x), x[x != 0], "int32")

    def test_threads_have_handles_of_their_own(self):
        x, results = numbers(100_000, "int32"), []
        threads = [threading.Thread(target=lambda: results.append(scanbench.cumsum(x))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4)
        for result in results:
            self.same(result, numpy.cumsum(x, dtype="int32"), "int32")


class Misuse(unittest.TestCase):
    def setUp(self):
        self.array = numpy.array(KEYS, dtype="int32")

    def refused(self, error, text, array, out=None):
        """By every function, whose message has the text, and with nothing written."""
        before = [None if a is None else numpy.array(a).tobytes() for a in (array, out)]
        for function in scanbench.cumsum, scanbench.cummax, scanbench.cummin, scanbench.sort:
            with self.assertRaisesRegex(error, text):
                function(array, out=out)
        with self.assertRaisesRegex(error, text):
            scanbench.linear_recurrence(array, array, out=out)
        if out is None:
            for function in scanbench.compress, scanbench.argsort:
                with self.assertRaisesRegex(error, text):
                    function(array)
        self.assertEqual(before, [None if a is None else numpy.array(a).tobytes() for a in (array, out)])

    def test_other_byte_order(self):
        for name in "i4", "u4", "i8", "u8", "f4", "f8":
            other = numpy.dtype(name).newbyteorder()
            self.refused(TypeError, "other byte order .*must be one of int32", self.array.astype(other))
        out = numpy.zeros(4, dtype=numpy.dtype("i4").newbyteorder())
        self.refused(TypeError, "out has elements of int32 in the other byte order .*must be of int32", self.array, out)

    def test_byte_order_of_the_machine_by_any_name(self):
        for name in "i4", "=i4", "int32", "longlong", "l", "q":
            self.assertEqual(scanbench.sort(self.array.astype(name)).tolist(), sorted(KEYS))

    def test_other_types(self):
        objects = numpy.array([object() for _ in KEYS])
        self.refused(TypeError, "no arrays of object", objects)
        self.refused(TypeError, "out has elements of object", self.array, numpy.array([None] * 4))
        for name in "complex64", "bool", "datetime64[s]", "S4":
            self.refused(TypeError, "no arrays of", numpy.zeros(4, dtype=name))
        with self.assertRaisesRegex(TypeError, "; of a mask, sort and compress take .view\\('uint8'\\), and cumsum .astype\\('int32'\\)$"):
            scanbench.cumsum(numpy.zeros(4, dtype="bool"))
        text = f"no arrays of uint8: as keys with values or indices, elements must be one of {', '.join(KEY_TYPES)}, in"
        with self.assertRaisesRegex(TypeError, text):
            scanbench.argsort(numpy.zeros(4, dtype="uint8"))

    def test_read_only_output(self):
        out = numpy.zeros(4, dtype="int32")
        out.flags.writeable = False
        self.refused(ValueError, "out is read-only", self.array, out)
        fixed = numpy.frombuffer(self.array.tobytes(), dtype="int32")
        self.refused(ValueError, "out is read-only", fixed, fixed)
        self.assertEqual(scanbench.sort(fixed).tolist(), sorted(KEYS))

    def test_output_of_another_type_or_shape(self):
        self.refused(TypeError, "out has elements of uint32: they must be of int32", self.array,
                     numpy.zeros(4, dtype="uint32"))
        for shape in (3,), (5,), (2, 2), ():
            self.refused(ValueError, r"out has shape .*: it must have \(4,\)", self.array,
                         numpy.zeros(shape, dtype="int32"))
        self.refused(TypeError, "out is a list: it must be an array of numpy", self.array, [0] * 4)

    def test_what_is_no_array(self):
        self.refused(TypeError, "the input is a list", KEYS)
        self.refused(TypeError, "MaskedArray", numpy.ma.array(self.array, mask=[1, 0, 0, 0]))

    def same_sums(self, got):
        numpy.testing.assert_array_equal(got, numpy.cumsum(self.array))

    def test_axes(self):
        for axis in 1, -2:
            with self.assertRaisesRegex(ValueError, f"axis is {axis}: it must be from -1 to 0"):
                scanbench.cumsum(self.array, axis)
        for axis in None, 1.0, (0,), False:
            with self.assertRaisesRegex(TypeError, "axis is .*: it must be a whole number"):
                scanbench.cumsum(self.array, axis)
        self.same_sums(scanbench.cumsum(self.array, numpy.int64(0)))
        with self.assertRaisesRegex(ValueError, "no dimension"):
            scanbench.cumsum(numpy.array(1, dtype="int32"))
        for function in scanbench.sort, scanbench.argsort:
            with self.assertRaisesRegex(ValueError, r"shape \(2, 2\): to be sorted it must have one dimension"):
                function(self.array.reshape(2, 2))

    def test_recurrences_of_unlike_arrays(self):
        for b, error, text in [(numpy.zeros(4, "int64"), TypeError, "b has elements of int64: they must be of int32"),
                               (numpy.zeros(5, "int32"), ValueError, r"b has shape \(5,\)"),
                               (KEYS, TypeError, "b is a list")]:
            with self.assertRaisesRegex(error, text):
                scanbench.linear_recurrence(self.array, b)

    def test_overlap(self):
        longer = numpy.array([5, 4, 3, 2, 1], dtype="int32")
        self.refused(ValueError, "overlaps", longer[:4], longer[1:])
        self.refused(ValueError, "overlaps", longer[1:], longer[:4])

    def test_handles(self):
        for threads in 4097, 65536, -1, 2**32, 2**32 + 1:
            with self.assertRaisesRegex(ValueError, "threads"):
                scanbench.Handle(threads=threads)
        for threads in None, "3", 1.5:
            with self.assertRaisesRegex(TypeError, "threads is .*: it must be a whole number"):
                scanbench.Handle(threads=threads)
        for duplicate in copy.copy, copy.deepcopy, pickle.dumps:
            with self.assertRaisesRegex(TypeError, "a scanbench.Handle cannot be copied"):
                duplicate(scanbench.Handle(threads=1))
        with self.assertRaisesRegex(ValueError, "gpu is -1: it must be from 0"):
            scanbench.Handle(-1)
        with self.assertRaisesRegex(TypeError, "handle is a int: it must be a scanbench.Handle"):
            scanbench.cumsum(self.array, handle=3)
        self.same_sums(scanbench.cumsum(self.array, handle=scanbench.Handle(threads=numpy.int32(2))))

    def test_no_library(self):
        with unittest.mock.patch.dict(os.environ, SCANBENCH_LIBRARY="/nowhere/libscanbench.so"):
            with self.assertRaisesRegex(OSError, "/nowhere/.*set .*SCANBENCH_LIBRARY to the path"):
                scanbench._library.load.__wrapped__()
        with unittest.mock.patch.dict(os.environ, SCANBENCH_LIBRARY="libm.so.6"):
            with self.assertRaisesRegex(OSError, "libm.so.6 is not libscanbench.*no scanbench_"):
                scanbench._library.load.__wrapped__()


def fake_cupy(gpu, on_device, current_stream):
    """As much of CuPy as the package uses, with arrays in the host's memory."""
    module = types.ModuleType("cupy")

    class ndarray:
        __module__ = "cupy"

        def __init__(self, host, index=gpu):
            self.host, self.dtype, self.device = host, host.dtype, types.SimpleNamespace(id=index)
            self.__cuda_array_interface__ = host.__array_interface__

        def __getitem__(self, places):
            return ndarray(self.host[places])

        def copy(self, order):
            return ndarray(self.host.copy(order=order))

        def astype(self, dtype, copy):
            return ndarray(self.host.astype(dtype, copy=copy))

    module.ndarray, module.moveaxis = ndarray, lambda x, *axes: ndarray(numpy.moveaxis(x.host, *axes))
    module.empty = lambda shape, dtype: ndarray(numpy.empty(shape, dtype))
    module.arange = lambda n, dtype: ndarray(numpy.arange(n, dtype=dtype))
    module.cuda = types.SimpleNamespace(Device=on_device, get_current_stream=current_stream)
    return module


class FakeGpu(unittest.TestCase):
    """A library that keeps what it is given: do addresses, devices and streams of CuPy's and PyTorch's arrays go where
    they belong? Neither module is here; these have as much of them as the package uses."""

    def setUp(self):
        self.calls, self.current = [], []
        functions = {name: self.recorder(name) for name in ("create_gpu", "destroy", "scan", "sort_keys")}
        patches = [unittest.mock.patch.object(scanbench, "load", lambda: functions)]
        for name in "cupy", "torch":
            patches.append(unittest.mock.patch.dict(sys.modules, {name: getattr(self, "make_" + name)()}))
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)
        scanbench._of_thread.__dict__.clear()
        self.addCleanup(scanbench._of_thread.__dict__.clear)

    def recorder(self, name):
        def record(*arguments):
            self.calls.append((name, arguments, list(self.current)))
            return 0

        return record

    def on_device(self, index):
        test = self

        class Device:
            def __enter__(self):
                test.current.append(index)

            def __exit__(self, *_):
                test.current.pop()

        return Device()

    def make_cupy(self):
        return fake_cupy(1, self.on_device, lambda: types.SimpleNamespace(ptr=1000 + self.current[-1]))

    def make_torch(self):
        module = types.ModuleType("torch")

        class Tensor:
            __module__ = "torch"
            requires_grad = False

            def __init__(self, host, index=None):
                self.host, self.dtype, self.is_cuda = host, host.dtype, index is not None
                self.device = types.SimpleNamespace(index=index, type="cpu" if index is None else "cuda")
                if self.is_cuda:
                    self.__cuda_array_interface__ = host.__array_interface__

            def numpy(self):
                return self.host

            def contiguous(self):
                return self

        module.Tensor = Tensor
        module.empty = lambda shape, dtype, device=None: Tensor(numpy.empty(shape, dtype), device and device.index)
        module.cuda = types.SimpleNamespace(
            device=self.on_device, current_stream=lambda device: types.SimpleNamespace(cuda_stream=2000 + device.index))
        return module

    def last_call(self):
        name, arguments, current = self.calls[-1]
        return name, arguments[1:], current

    def test_cupy_by_its_current_stream(self):
        x = sys.modules["cupy"].ndarray(numbers((3, 4), "float32"))
        out = scanbench.cummax(x)
        self.assertEqual((self.calls[0][0], self.calls[0][1][1]), ("create_gpu", 1))
        addresses = x.host.ctypes.data, out.host.ctypes.data
        self.assertEqual(self.last_call(), ("scan", (1, 4, 1, *addresses, 12, 4, 1001), [1]))
        again = scanbench.cummax(x)
        self.assertEqual([call[0] for call in self.calls], ["create_gpu", "scan", "scan"])  # one handle
        self.assertIsNot(again, out)
        by_columns = scanbench.cumsum(x, axis=0)
        name, arguments, _ = self.last_call()
        self.assertEqual(arguments[5:7], (12, 3))
        self.assertNotEqual(arguments[3], x.host.ctypes.data)  # a copy
        self.assertEqual(by_columns.host.shape, (3, 4))

    def test_torch_by_its_current_stream(self):
        x = sys.modules["torch"].Tensor(numbers(10, "int64"), 2)
        out = scanbench.sort(x, out=x)
        self.assertIs(out, x)
        address = x.host.ctypes.data
        self.assertEqual(self.last_call(), ("sort_keys", (2, address, address, 10, 2002), [2]))

    def test_what_lies_elsewhere(self):
        cupy, torch = sys.modules["cupy"], sys.modules["torch"]
        host, there = numbers(4, "int32"), cupy.ndarray(numbers(4, "int32"))
        for x, out, text in [(there, host, "out is an array of numpy on the CPU: it must be an array of cupy on GPU 1"),
                             (there, cupy.ndarray(host, 0), "out is an array of cupy on GPU 0"),
                             (torch.Tensor(host, 1), there, "must be an array of torch on GPU 1")]:
            with self.assertRaisesRegex(TypeError, text):
                scanbench.cumsum(x, out=out)
        with self.assertRaisesRegex(TypeError, "on the CPU: the handle is of GPU 1"):
            scanbench.cumsum(host, handle=scanbench.Handle(gpu=1))
        x = torch.Tensor(host)
        x.requires_grad = True
        with self.assertRaisesRegex(TypeError, "detach"):
            scanbench.cumsum(x)

    def test_torch_on_the_cpu(self):
        x = sys.modules["torch"].Tensor(numbers((3, 4), "int32"))
        with unittest.mock.patch.object(scanbench, "load", scanbench._library.load):
            out = scanbench.cumsum(x)
        self.assertIsInstance(out, sys.modules["torch"].Tensor)
        numpy.testing.assert_array_equal(out.host, numpy.cumsum(x.host, axis=1))


@unittest.skipUnless("SCANBENCH_EMULATED" in os.environ, "the library has no emulator")
class Emulated(unittest.TestCase):
    """The library's functions for a GPU, in the emulator, whose memory is the host's."""

    def setUp(self):
        module = fake_cupy(0, lambda _: contextlib.nullcontext(), lambda: types.SimpleNamespace(ptr=0))
        patch = unittest.mock.patch.dict(sys.modules, cupy=module)
        patch.start()
        self.addCleanup(patch.stop)
        self.array = module.ndarray

    def test_results(self):
        x = numbers(20_011, "int32")
        there, rows = self.array(x), self.array(x[:20_000].reshape(200, 100))
        for got, wanted in [(scanbench.cumsum(there), numpy.cumsum(x, dtype="int32")),
                            (scanbench.cumsum(rows), numpy.cumsum(rows.host, axis=1, dtype="int32")),
                            (scanbench.cumsum(rows, axis=0), numpy.cumsum(rows.host, axis=0, dtype="int32")),
                            (scanbench.cummax(there, out=self.array(x.copy())), numpy.maximum.accumulate(x)),
                            (scanbench.linear_recurrence(self.array(x | 1), there), recurrence(x | 1, x)),
                            (scanbench.sort(there), numpy.sort(x)),
                            (scanbench.argsort(there), numpy.argsort(x, kind="stable")),
                            (scanbench.compress(there), x[x != 0])]:
            numpy.testing.assert_array_equal(got.host, wanted)

    def test_what_there_is_not(self):
        for dtype in "int32", "float64":
            rows = self.array(numbers((20, 10), dtype))
            with self.assertRaisesRegex(NotImplementedError, "max over rows is there for no type"):
                scanbench.cummax(rows)
            with self.assertRaisesRegex(NotImplementedError, "recurrence over rows is there for no type"):
                scanbench.linear_recurrence(rows, rows)
        with self.assertRaisesRegex(NotImplementedError, r"sum over rows is there for .*\bf32\b"):
            scanbench.cumsum(rows)


# Enough for several threads.
LARGE = numpy.arange(300_007, dtype="int32") * 7919 % 1000
HANDLE = scanbench.Handle(threads=4)


def all_correct(handle):
    rows = LARGE[:300_000].reshape(1000, 300)
    return bool(
        (scanbench.cumsum(LARGE, handle=handle) == numpy.cumsum(LARGE, dtype="int32")).all()
        and (scanbench.cumsum(rows, handle=handle) == numpy.cumsum(rows, axis=1, dtype="int32")).all()
        and (scanbench.compress(LARGE, handle=handle) == LARGE[LARGE != 0]).all()
        and (scanbench.sort(LARGE, handle=handle) == numpy.sort(LARGE)).all()
        and (LARGE[scanbench.argsort(LARGE, handle=handle)] == numpy.sort(LARGE)).all()
    )


def work(_):
    return all_correct(HANDLE) and all_correct(scanbench.Handle(threads=4)) and all_correct(None)


class Forks(unittest.TestCase):
    def setUp(self):
        self.assertTrue(all_correct(HANDLE))

    def test_multiprocessing(self):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map_async(work, range(4)).get(timeout=SECONDS), [True] * 4)
        self.assertTrue(all_correct(HANDLE))

    def test_fork(self):
        child = os.fork()
        if child == 0:
            import signal

            signal.alarm(SECONDS)
            os._exit(0 if work(None) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
