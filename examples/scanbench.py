"""scanbench: the library through ctypes, for numpy arrays on the CPU and CuPy arrays on a GPU.

    handle = Handle()                 # the CPU; Handle(gpu=0) for a GPU
    handle.inclusive_sum(array)       # arrays in, new arrays out; out=array for in place
    handle.sort_pairs(keys, values)   # two arrays in, two arrays out

As a program it tries all of that:  python3 scanbench.py [--gpu]
SCANBENCH_LIBRARY names the library, if the system would not find it.
"""
import ctypes
import os
import sys

import numpy

TYPES = {"int32": 0, "uint32": 1, "int64": 2, "uint64": 3, "float32": 4, "float64": 5, "uint8": 6}

P, U64, STATUS = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
library = ctypes.CDLL(os.environ.get("SCANBENCH_LIBRARY", "libscanbench.so.0"))
library.scanbench_status_text.restype = ctypes.c_char_p
library.scanbench_error.restype = ctypes.c_char_p
library.scanbench_error.argtypes = [P]
library.scanbench_destroy.argtypes = [P]
library.scanbench_destroy.restype = None
library.scanbench_create_cpu.argtypes = [ctypes.POINTER(P), ctypes.c_uint]
library.scanbench_create_gpu.argtypes = [ctypes.POINTER(P), ctypes.c_int]
for name in "exclusive_sum", "inclusive_sum", "sort_keys":
    getattr(library, "scanbench_" + name).argtypes = [P, ctypes.c_int, P, P, U64, P]
library.scanbench_compact_nonzero.argtypes = [P, ctypes.c_int, P, P, P, U64, P]
library.scanbench_sort_pairs.argtypes = [P, ctypes.c_int, P, P, ctypes.c_size_t, P, P, U64, P]


class Error(Exception):
    pass


class Handle:
    """Owns scratch memory; for one call at a time."""

    def __init__(self, gpu=None, threads=0):
        self.handle, self.gpu = P(), gpu
        if gpu is None:
            self.check(library.scanbench_create_cpu(self.handle, threads))
        else:
            self.check(library.scanbench_create_gpu(self.handle, gpu))

    def __del__(self):
        library.scanbench_destroy(self.handle)

    def check(self, status):
        if status != 0:
            text = library.scanbench_error(self.handle) or library.scanbench_status_text(status)
            raise Error(text.decode())

    def exclusive_sum(self, array, out=None):
        return self._call("exclusive_sum", array, out)

    def inclusive_sum(self, array, out=None):
        return self._call("inclusive_sum", array, out)

    def sort(self, array, out=None):
        return self._call("sort_keys", array, out)

    def sort_pairs(self, keys, values, out=None, out_values=None):
        """The keys in order, and their values, which have 4 or 8 bytes and any type."""
        if values.size < keys.size:
            raise Error("fewer values than keys")
        out_values = self._output(values, out_values)
        out = self._call("sort_pairs", keys, out, values.itemsize, self._address(values),
                         self._address(out_values))
        return out, out_values

    def nonzero(self, array, out=None):
        """The elements that are not 0; on a GPU this waits for their number."""
        count = U64()
        return self._call("compact_nonzero", array, out, ctypes.byref(count))[: count.value]

    def _call(self, name, array, out, *more):
        out = self._output(array, out)
        self.check(getattr(library, "scanbench_" + name)(
            self.handle, self._type(array), self._address(array), self._address(out), *more,
            array.size, self._stream()))
        return out

    def _output(self, array, out):
        out = self._module().empty_like(array) if out is None else out
        if out.dtype != array.dtype or out.size < array.size:
            raise Error("the output has another type, or is too small")
        return out

    def _type(self, array):
        if array.dtype.name not in TYPES:
            raise Error(f"no arrays of {array.dtype}")
        return TYPES[array.dtype.name]

    def _address(self, array):
        if not isinstance(array, self._module().ndarray):
            raise Error(f"not an array of {self._module().__name__}")
        if array.ndim != 1 or not array.flags.c_contiguous:
            raise Error("not an array of one dimension without gaps")
        return array.ctypes.data if self.gpu is None else array.data.ptr

    def _module(self):
        if self.gpu is None:
            return numpy
        import cupy

        return cupy

    def _stream(self):
        return None if self.gpu is None else self._module().cuda.get_current_stream().ptr


def main():
    handle = Handle(gpu=0 if "--gpu" in sys.argv else None)
    kind = handle._module()
    array = kind.arange(1_000_003, dtype="int32") * 7919 % 1000
    assert (handle.inclusive_sum(array) == kind.cumsum(array, dtype="int32")).all()
    assert (handle.exclusive_sum(array)[1:] == kind.cumsum(array, dtype="int32")[:-1]).all()
    assert (handle.nonzero(array) == array[array != 0]).all()
    assert (handle.sort(array) == kind.sort(array)).all()
    keys, places = handle.sort_pairs(array, kind.arange(array.size, dtype="int64"))
    assert (keys == kind.sort(array)).all()
    assert (places == kind.argsort(array, kind="stable")).all()
    # Any slice without gaps, and in place.
    part = array[1:].astype("float64")[3:]
    expected = kind.cumsum(part)
    assert (handle.inclusive_sum(part, out=part) == expected).all()
    try:
        handle.sort(array.astype("int16"))
    except Error as error:
        print("as it should be:", error)
    print("n =", array.size, "on", "the CPU" if handle.gpu is None else "the GPU", "- all correct")


if __name__ == "__main__":
    main()
