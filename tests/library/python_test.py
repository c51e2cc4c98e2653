"""python_test: examples/scanbench.py refuses arrays that it would get wrong, says why, and leaves
them as they are; and works in processes that were forked.

    SCANBENCH_LIBRARY=FILE python3 tests/library/python_test.py
"""
import multiprocessing
import os
import sys
import unittest
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
import scanbench  # noqa: E402

SECONDS = 30  # for what hangs, if it is wrong
KEYS = [3, 0, 2, 1]


class Misuse(unittest.TestCase):
    def setUp(self):
        self.handle = scanbench.Handle(threads=2)
        self.array = numpy.array(KEYS, dtype="int32")

    def operations(self):
        return self.handle.exclusive_sum, self.handle.inclusive_sum, self.handle.nonzero, self.handle.sort

    def refused(self, error, text, array, out=None):
        """By every operation, whose message has the text, and with nothing written."""
        before = [None if a is None else numpy.array(a).tobytes() for a in (array, out)]
        for operation in self.operations():
            with self.assertRaisesRegex(error, text):
                operation(array, out=out)
        with self.assertRaisesRegex(error, text):
            self.handle.sort_pairs(array, numpy.zeros(len(array), dtype="int64"), out=out)
        self.assertEqual(before, [None if a is None else numpy.array(a).tobytes() for a in (array, out)])

    def test_other_byte_order(self):
        for name in "i4", "u4", "i8", "u8", "f4", "f8":
            other = numpy.dtype(name).newbyteorder()
            self.refused(TypeError, "other byte order .*must be one of int32", self.array.astype(other))
        out = numpy.zeros(4, dtype=numpy.dtype("i4").newbyteorder())
        self.refused(TypeError, "out has elements of int32 in the other byte order .*must be of int32", self.array, out)

    def test_byte_order_of_the_machine_by_any_name(self):
        for name in "i4", "=i4", "int32", "longlong", "l", "q":
            self.assertEqual(self.handle.sort(self.array.astype(name)).tolist(), sorted(KEYS))

    def test_objects(self):
        objects = numpy.array([object() for _ in KEYS])
        self.refused(TypeError, "no arrays of object", objects)
        self.refused(TypeError, "out has elements of object", self.array, numpy.array([None] * 4))
        references = [sys.getrefcount(o) for o in objects]
        for values in objects, numpy.array([("a",)] * 4, dtype=[("text", object)]):
            with self.assertRaisesRegex(TypeError, "references to objects"):
                self.handle.sort_pairs(self.array, values)
        self.assertEqual(references, [sys.getrefcount(o) for o in objects])

    def test_other_types(self):
        for name in "int16", "float16", "bool", "complex64", "datetime64[s]", "S4":
            self.refused(TypeError, "no arrays of", numpy.zeros(4, dtype=name))

    def test_read_only_output(self):
        out = numpy.zeros(4, dtype="int32")
        out.flags.writeable = False
        self.refused(ValueError, "out is read-only", self.array, out)
        with self.assertRaisesRegex(ValueError, "out_values is read-only"):
            self.handle.sort_pairs(self.array, self.array.copy(), out_values=out)
        fixed = numpy.frombuffer(self.array.tobytes(), dtype="int32")
        self.refused(ValueError, "out is read-only", fixed, fixed)
        self.assertEqual(self.handle.sort(fixed).tolist(), sorted(KEYS))

    def test_output_of_another_type_or_size(self):
        self.refused(TypeError, "out has elements of uint32: they must be of int32", self.array,
                     numpy.zeros(4, dtype="uint32"))
        for size in 3, 5:
            self.refused(ValueError, f"out has {size} elements: it must have 4", self.array,
                         numpy.zeros(size, dtype="int32"))
        self.refused(ValueError, "out has shape", self.array, numpy.zeros((2, 2), dtype="int32"))
        self.refused(TypeError, "out is a list: it must be an array of numpy", self.array, [0] * 4)

    def test_gaps_and_dimensions(self):
        spread = numpy.zeros(8, dtype="int32")
        for array in spread[::2], spread[::-1], spread.reshape(2, 4), numpy.broadcast_to(spread[:1], 4):
            self.refused(ValueError, "one dimension, without gaps", array)
        self.refused(ValueError, "out has .*without gaps", self.array, spread[::2])

    def test_what_is_no_array(self):
        self.refused(TypeError, "the input is a list|keys is a list", KEYS)
        self.refused(TypeError, "MaskedArray", numpy.ma.array(self.array, mask=[1, 0, 0, 0]))

    def test_overlap_and_alignment(self):
        longer = numpy.array([5, 4, 3, 2, 1], dtype="int32")
        self.refused(ValueError, "overlaps", longer[:4], longer[1:])
        self.refused(ValueError, "overlaps", longer[1:], longer[:4])
        odd = numpy.frombuffer(bytearray(17), dtype="int32", count=4, offset=1)
        self.refused(ValueError, "not aligned", odd)
        with self.assertRaisesRegex(ValueError, "overlaps"):
            self.handle.sort_pairs(self.array, self.array, out=self.array)

    def test_values(self):
        for values, error, text in [
            (numpy.zeros(3, dtype="int32"), ValueError, "3 values for 4 keys"),
            (numpy.zeros(5, dtype="int32"), ValueError, "5 values for 4 keys"),
            (numpy.zeros(4, dtype="int16"), TypeError, "values of 2 bytes: they must have 4 or 8"),
            (numpy.zeros(8, dtype="int32")[::2], ValueError, "values has .*without gaps"),
            (KEYS, TypeError, "values is a list"),
        ]:
            with self.assertRaisesRegex(error, text):
                self.handle.sort_pairs(self.array, values)
        # Values may have any type that is as long: they are only moved.
        for values in numpy.array(KEYS, dtype=">f4"), numpy.array([b"three", b"none", b"two", b"one"], dtype="S8"):
            keys, moved = self.handle.sort_pairs(self.array, values)
            self.assertEqual(keys.tolist(), [0, 1, 2, 3])
            self.assertEqual(moved.tolist(), values[[1, 3, 2, 0]].tolist())

    def test_threads(self):
        for threads in 4097, 65536:
            with self.assertRaisesRegex(ValueError, "threads"):
                scanbench.Handle(threads=threads)


# Enough for several threads.
LARGE = numpy.arange(300_007, dtype="int32") * 7919 % 1000
HANDLE = scanbench.Handle(threads=4)


def all_correct(handle):
    keys, places = handle.sort_pairs(LARGE, numpy.arange(LARGE.size, dtype="int32"))
    return bool(
        (handle.inclusive_sum(LARGE) == numpy.cumsum(LARGE, dtype="int32")).all()
        and (handle.nonzero(LARGE) == LARGE[LARGE != 0]).all()
        and (handle.sort(LARGE) == numpy.sort(LARGE)).all()
        and (keys == LARGE[places]).all()
    )


def work(_):
    return all_correct(HANDLE) and all_correct(scanbench.Handle(threads=4))


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
