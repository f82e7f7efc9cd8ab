"""Two small CUDA kernels behind plain C functions, called with ctypes: no torch, no numpy.

Importing needs no GPU; calling a kernel does.
"""

import ctypes
import math
import pathlib
import random

__all__ = ["device_count", "row_softmax", "scaled_add", "self_test"]

_FOLDER = pathlib.Path(__file__).resolve().parent
_FLOATS = ctypes.POINTER(ctypes.c_float)


def _function(library, name, *arguments, result=ctypes.c_int):
    function = getattr(library, name)
    function.argtypes = arguments
    function.restype = result
    return function


_adder = ctypes.CDLL(str(_FOLDER / "_scaled_add.so"))
_softmax = ctypes.CDLL(str(_FOLDER / "_row_softmax.so"))
_scaled_add = _function(_adder, "scaled_add", _FLOATS, _FLOATS, _FLOATS, ctypes.c_float, ctypes.c_size_t)
_error_text = _function(_adder, "error_text", ctypes.c_int, result=ctypes.c_char_p)
_row_softmax = _function(_softmax, "row_softmax", _FLOATS, _FLOATS, ctypes.c_size_t, ctypes.c_size_t)

#: GPUs that can be used now.
device_count = _function(_adder, "device_count")


def _check(status):
    if status:
        raise RuntimeError("CUDA: " + _error_text(status).decode())


def _array(values):
    return (ctypes.c_float * len(values))(*values)


def scaled_add(x, y, scale):
    """x[i] + scale * y[i], as a list of floats rounded to single precision."""
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} values, y has {len(y)}")
    out = _array([0.0] * len(x))
    _check(_scaled_add(_array(x), _array(y), out, scale, len(x)))
    return list(out)


def row_softmax(rows):
    """The softmax of each row of a list of equally long rows."""
    columns = len(rows[0]) if rows else 0
    if any(len(row) != columns for row in rows):
        raise ValueError("the rows are not equally long")
    flat = [value for row in rows for value in row]
    out = _array([0.0] * len(flat))
    _check(_row_softmax(_array(flat), out, len(rows), columns))
    return [list(out[i * columns : (i + 1) * columns]) for i in range(len(rows))]


def _softmax_of(row):
    greatest = max(row)
    powers = [math.exp(value - greatest) for value in row]
    total = sum(powers)
    return [power / total for power in powers]


def self_test():
    """Compares both kernels with Python and returns the largest error; AssertionError when it is too large."""
    numbers = random.Random(0)
    x = [numbers.uniform(-4, 4) for _ in range(70_001)]
    y = [numbers.uniform(-4, 4) for _ in x]
    error = max(abs(got - (a + 0.5 * b)) for got, a, b in zip(scaled_add(x, y, 0.5), x, y))
    for columns in (1, 33, 1000):
        rows = [[numbers.uniform(-20, 20) for _ in range(columns)] for _ in range(300)]
        for got, row in zip(row_softmax(rows), rows):
            error = max([error] + [abs(a - b) for a, b in zip(got, _softmax_of(row))])
    assert error < 1e-5, f"the kernels are off by {error}"
    return error
