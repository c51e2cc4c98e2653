"""What the package knows of arrays: which module they are of, where they lie, how to make others like them.

Addresses, shapes and types come from __array_interface__ and __cuda_array_interface__. CuPy and PyTorch are
imported by whoever has arrays of theirs, never here.
"""
import contextlib
import ctypes
import functools
import math
import sys
import typing

import numpy

# The library's types and their numbers. By dtype, not by its name: those of the other byte order have the same.
TYPES = {numpy.dtype(name): number for number, name in enumerate(
    ["int32", "uint32", "int64", "uint64", "float32", "float64", "uint8", "int8", "int16", "uint16", "float16"])}

NOTHING_TO_DO = contextlib.nullcontext()

# Those that are sorted.
KEY_TYPES = {dtype: number for dtype, number in TYPES.items() if dtype.itemsize >= 4}


def named(dtype):
    return dtype.name if dtype.isnative else f"{dtype.name} in the other byte order ({dtype.str})"


class Numpy:
    """Arrays of numpy, and what CuPy's have in common with them."""

    name, gpu, stream = "numpy", None, None

    def __init__(self, array):
        self.module = sys.modules[self.name]
        if isinstance(array, numpy.ma.MaskedArray):
            raise TypeError("a MaskedArray has elements that are none: give .compressed() or .filled()")

    def facts(self, array):
        flags, size = array.flags, array.size
        # Asking for a buffer takes half as long as __array_interface__, but it must be writeable and not empty, and
        # elements of other types, which are refused later, may have none.
        if flags.carray and size > 0 and array.dtype in TYPES:
            address = ctypes.addressof(ctypes.c_char.from_buffer(array))
        else:
            address = array.__array_interface__["data"][0]
        is_plain = flags.c_contiguous and flags.aligned
        return Facts(array.dtype, array.shape, size, address, not flags.writeable, is_plain)

    def current(self):
        """Makes the arrays' device the current one for a while."""
        return NOTHING_TO_DO

    def empty(self, shape, like):
        return self.module.empty(shape, like.dtype)

    def indices(self, n, name, like):
        return self.module.arange(n, dtype=name)

    def widened(self, indices):
        return indices.astype("int64", copy=False)

    def move_axis(self, array, source, to):
        return self.module.moveaxis(array, source, to)

    def plain(self, array):
        return array.copy(order="C")


class Cupy(Numpy):
    name = "cupy"

    def __init__(self, array):
        self.module = sys.modules[self.name]
        self.gpu = array.device.id
        with self.current():
            self.stream = self.module.cuda.get_current_stream().ptr

    def facts(self, array):
        return facts_of(array.__cuda_array_interface__)

    def current(self):
        return self.module.cuda.Device(self.gpu)


class Torch(Numpy):
    """Tensors of the CPU lend their memory to numpy."""

    name = "torch"

    def __init__(self, array):
        self.module = sys.modules[self.name]
        if array.requires_grad:
            raise TypeError("the tensor requires a gradient, and none flows through here: give .detach()")
        if array.is_cuda:
            self.gpu = array.device.index
            self.stream = self.module.cuda.current_stream(array.device).cuda_stream
        elif array.device.type != "cpu":
            raise TypeError(f"the tensor lies on {array.device}: it must be on the CPU or a CUDA device")

    def facts(self, array):
        return facts_of(array.__cuda_array_interface__ if array.is_cuda else array.numpy().__array_interface__)

    def current(self):
        return NOTHING_TO_DO if self.gpu is None else self.module.cuda.device(self.gpu)

    def empty(self, shape, like):
        return self.module.empty(shape, dtype=like.dtype, device=like.device)

    def indices(self, n, name, like):
        return self.module.arange(n, dtype=getattr(self.module, name), device=like.device)

    def widened(self, indices):
        return indices.to(self.module.int64)

    def move_axis(self, array, source, to):
        return array.movedim(source, to)

    def plain(self, array):
        return array.contiguous()


PLAIN = Numpy(numpy.empty(0))


@functools.cache
def _roots_of(type_of_array):
    return {base.__module__.partition(".")[0] for base in type_of_array.__mro__}


def kind_of(name, array):
    """What the array's module can do. Raises a TypeError if it is none that the package knows."""
    if type(array) is numpy.ndarray:
        return PLAIN
    roots = _roots_of(type(array))
    if "cupy" in roots and hasattr(array, "__cuda_array_interface__"):
        return Cupy(array)
    if "torch" in roots and hasattr(array, "requires_grad"):
        return Torch(array)
    if isinstance(array, numpy.ndarray):
        return Numpy(array)
    raise TypeError(f"{name} is a {type(array).__name__}: it must be an array of numpy, CuPy or PyTorch")


class Facts(typing.NamedTuple):
    """What is known of an array."""

    dtype: numpy.dtype
    shape: tuple
    size: int
    address: int
    is_read_only: bool
    is_plain: bool  # contiguous, and aligned to its elements


def facts_of(interface):
    """What an array interface says."""
    dtype, shape = numpy.dtype(interface["typestr"]), tuple(interface["shape"])
    size = math.prod(shape)
    strides, bytes_below, is_contiguous = interface.get("strides"), dtype.itemsize, True
    for length, stride in zip(reversed(shape), reversed(strides or ())):
        is_contiguous &= length == 1 or stride == bytes_below or size == 0
        bytes_below *= length
    return Facts(dtype, shape, size, *interface["data"], is_contiguous)


def plain(kind, array, facts):
    """The array, or a copy of it that is contiguous and aligned, and its facts."""
    if facts.is_plain:
        return array, facts
    copy = kind.plain(array)
    return copy, kind.facts(copy)
