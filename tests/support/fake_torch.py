"""Stands in for torch in tests of verify --gpu: what child/gpu_cases.py uses of it, and a GPU that remembers the bytes that
were left in its memory. Tensors are bytes and a shape; slow, and enough."""
import math
import random
import struct
import types

__version__ = "2.11.0+cu130"
version = types.SimpleNamespace(cuda="13.0")
uint8, float16, float32, float64, bool_ = "B", "e", "f", "d", "?"
left = [0]  # the byte that was last written to free memory


class Tensor:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, tuple(shape), data

    @staticmethod
    def of(dtype, shape, values):
        return Tensor(dtype, shape, bytearray(struct.pack("<%d%s" % (len(values), dtype), *values)))

    def values(self):
        return struct.unpack("<%d%s" % (self.numel(), self.dtype), bytes(self.data))

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return struct.calcsize(self.dtype)

    def dim(self):
        return len(self.shape)

    def is_floating_point(self):
        return self.dtype in "efd"

    def clone(self):
        return Tensor(self.dtype, self.shape, bytearray(self.data))

    def contiguous(self):
        return self

    def view(self, dtype):
        return Tensor(dtype, (len(self.data) // struct.calcsize(dtype),), self.data)

    def reshape(self, *shape):
        known = math.prod(s for s in shape if s != -1)
        return Tensor(self.dtype, [self.numel() // known if s == -1 else s for s in shape], self.data)

    def to(self, dtype):
        return Tensor.of(dtype, self.shape, [float(v) if dtype in "efd" else v for v in self.values()])

    def float(self):
        return self.to(float32)

    def double(self):
        return self.to(float64)

    def transpose(self, a, b):
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        old, picked = self.values(), []
        for flat in range(self.numel()):
            index = []
            for size in reversed(shape):
                flat, here = divmod(flat, size)
                index.insert(0, here)
            index[a], index[b] = index[b], index[a]
            at = 0
            for here, size in zip(index, self.shape):
                at = at * size + here
            picked.append(old[at])
        return Tensor.of(self.dtype, shape, picked)

    def fill_(self, value):
        self.data[:] = Tensor.of(self.dtype, self.shape, [value] * self.numel()).data
        return self

    def add_(self, value):
        self.data[:] = (self + value).data
        return self

    def each(self, function, other=None, dtype=None):
        many = other.values() if isinstance(other, Tensor) else [other] * self.numel()
        return Tensor.of(dtype or self.dtype, self.shape, [function(a, b) for a, b in zip(self.values(), many)])

    def __add__(self, other):
        return self.each(lambda a, b: a + b, other)

    def __sub__(self, other):
        return self.each(lambda a, b: a - b, other)

    def __mul__(self, other):
        return self.each(lambda a, b: a * b, other)

    def __truediv__(self, other):
        return self.each(lambda a, b: a / b, other)

    def __eq__(self, other):
        return self.each(lambda a, b: a == b, other, bool_)

    def __gt__(self, other):
        return self.each(lambda a, b: a > b, other, bool_)

    def abs(self):
        return self.each(lambda a, _: abs(a))

    def sqrt(self):
        return self.each(lambda a, _: math.sqrt(a))

    def clamp(self, min):
        return self.each(lambda a, b: b if a < b else a, min)

    def rows(self, function, dim, dtype=None):
        values, last = self.values(), self.shape[-1] if dim == -1 else self.numel()
        found = [function(values[at : at + last]) for at in range(0, len(values), last)]
        return Tensor.of(dtype or self.dtype, self.shape[:-1] if dim == -1 else (), found)

    def sum(self, dim=None):
        return self.rows(sum, dim)

    def all(self, dim=None):
        return self.rows(all, dim, bool_)

    def mean(self):
        return self.rows(lambda values: sum(values) / len(values), None)

    def min(self):
        return self.rows(min, None)

    def max(self):
        return self.rows(max, None)

    def item(self):
        return self.values()[0]


def empty(shape, dtype=float32, device="cuda"):
    return Tensor(dtype, shape, bytearray([left[0]]) * (math.prod(shape) * struct.calcsize(dtype)))


def full(shape, value, dtype=float32, device="cuda"):
    left[0] = value
    return empty(shape, dtype).fill_(value)


def zeros(shape, dtype=float32, device="cuda"):
    return empty((shape,) if isinstance(shape, int) else shape, dtype).fill_(0)


class Generator:
    def __init__(self, device):
        self.random = random.Random()

    def manual_seed(self, seed):
        self.random.seed(seed)


def randn(shape, generator, dtype=float32, device="cuda"):
    return Tensor.of(dtype, shape, [generator.random.gauss(0, 1) for _ in range(math.prod(shape))])


def rand(shape, generator, dtype=float32, device="cuda"):
    return Tensor.of(dtype, shape, [generator.random.random() for _ in range(math.prod(shape))])


def equal(one, other):
    return one.data == other.data


def isfinite(tensor):
    return tensor.each(lambda a, _: math.isfinite(a), None, bool_)


def where(condition, yes, no):
    return Tensor.of(yes.dtype, yes.shape, [a if c else b for c, a, b in zip(condition.values(), yes.values(), no.values())])


def add(a, b):
    return a + b


class OutOfMemoryError(RuntimeError):
    pass


class cuda:
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def get_device_capability(device):
        return 9, 0

    @staticmethod
    def get_device_name(device):
        return "Stand-in GPU"

    @staticmethod
    def synchronize():
        pass

    @staticmethod
    def memory_snapshot():
        block = {"state": "inactive", "size": 4096}
        return [{"segment_type": "small", "blocks": [block, {"state": "active_allocated", "size": 512}]}]
