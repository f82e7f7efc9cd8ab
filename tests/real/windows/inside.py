"""Runs in a Windows CPython under wine: loads one module of a wheel beside a real torch_cpu.dll, and calls an operator of it.

Usage: inside.py TORCH_LIB STAND_INS MODULE.pyd import|load_library

Prints one JSON document: what was loaded, which operators it registered, what the stand-ins recorded. torch's Python is not imported:
what is called is the C interface of torch_cpu.dll, whose functions give an error code where C++ inside of torch throws.
"""
import ctypes
import importlib.machinery
import importlib.util
import json
import os
import struct
import sys
from ctypes import byref, c_bool, c_char_p, c_int32, c_int64, c_uint16, c_uint64, c_void_p

kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
kernel32.GetModuleHandleW.restype = c_void_p
kernel32.GetModuleHandleW.argtypes = [ctypes.c_wchar_p]
kernel32.VirtualProtect.argtypes = [c_void_p, ctypes.c_size_t, ctypes.c_uint32, c_void_p]
SET_INCLUDED = "?tls_set_dispatch_key_included@impl@c10@@YAXW4DispatchKey@2@_N@Z"
TO_STRING = "?toString@c10@@YAPEBDW4DispatchKey@1@@Z"


def imports_of(base):
    """{name: where the loader put its address}, from a loaded module's import table."""
    u32 = lambda at: struct.unpack("<I", ctypes.string_at(base + at, 4))[0]
    u64 = lambda at: struct.unpack("<Q", ctypes.string_at(base + at, 8))[0]
    header = u32(60)
    found, entry = {}, u32(header + 24 + 120)
    while u32(entry + 12):
        names, slots = u32(entry) or u32(entry + 16), u32(entry + 16)
        while u64(names):
            if not u64(names) >> 63:
                found[ctypes.string_at(base + u64(names) + 2).decode()] = base + slots
            names, slots = names + 8, slots + 8
        entry += 20
    return found


def replace(slot, function):
    old = ctypes.c_uint32()
    kernel32.VirtualProtect(slot, 8, 4, byref(old))
    ctypes.c_uint64.from_address(slot).value = ctypes.cast(function, c_void_p).value


class Torch:
    """The functions of torch's stable interface that a call through the dispatcher takes."""

    def __init__(self, folder):
        for name in ("c10.dll", "torch_cpu.dll"):
            setattr(self, name.split(".")[0], ctypes.CDLL(os.path.join(folder, name)))
        self.set_included = getattr(self.c10, SET_INCLUDED)
        self.set_included.argtypes, self.set_included.restype = [c_uint16, c_bool], None
        to_string = getattr(self.c10, TO_STRING)
        to_string.argtypes, to_string.restype = [c_uint16], c_char_p
        self.cuda_key = [key for key in range(200) if to_string(key) == b"CUDA"][0]

    def number(self, name):
        return getattr(self.torch_cpu, name)()

    def tensor(self, *sizes):
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= size
        array = c_int64 * len(sizes)
        handle = c_void_p()
        code = self.torch_cpu.aoti_torch_empty_strided(
            c_int64(len(sizes)), array(*sizes), array(*strides), self.number("aoti_torch_dtype_float16"),
            self.number("aoti_torch_device_type_cpu"), 0, byref(handle))
        if code:
            raise RuntimeError("aoti_torch_empty_strided: error code %d" % code)
        return handle

    def data(self, handle):
        pointer = c_void_p()
        self.torch_cpu.aoti_torch_get_data_ptr(handle, byref(pointer))
        return pointer.value

    def call(self, operator, *arguments):
        stack = (c_uint64 * len(arguments))(*[a.value if isinstance(a, c_void_p) else a for a in arguments])
        return self.torch_cpu.aoti_torch_call_dispatcher(operator.encode(), b"", stack)


    def last_error(self):
        """From 2.13 on; torches before print it to stderr."""
        function = getattr(self.torch_cpu, "torch_exception_get_what_without_backtrace", None)
        if function is None:
            return ""
        function.restype = c_char_p
        return (function() or b"").decode()


def load(path, how):
    if how == "load_library":
        return ctypes.CDLL(path)
    name = os.path.basename(path).split(".")[0]
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def say(**what):
    print(json.dumps(what), flush=True)


def main():
    torch_lib, stand_ins, path, how = sys.argv[1:5]
    for folder in (torch_lib, stand_ins):
        os.add_dll_directory(folder)
    torch = Torch(torch_lib)
    runtime = [name for name in os.listdir(stand_ins) if name.startswith("cudart64_")][0]
    cudart = ctypes.CDLL(os.path.join(stand_ins, runtime))
    ctypes.CDLL(os.path.join(stand_ins, "torch_cuda.dll"))
    cudart.recorded.restype = cudart.registered_name.restype = c_char_p
    torch.torch_cpu.aoti_torch_abi_version.restype = c_uint64
    say(step="torch", python=sys.version.split()[0], abi="%x" % torch.torch_cpu.aoti_torch_abi_version())
    load(path, how)
    kernels = sorted(cudart.registered_name(i).decode() for i in range(cudart.registered()))
    say(step="loaded", how=how, fatbins=cudart.fatbins(), kernels=kernels)
    if os.path.basename(path) != "_fused.pyd":
        return
    call_sub_mean(torch, cudart, imports_of(kernel32.GetModuleHandleW(path)))


def call_sub_mean(torch, cudart, imports):
    """The wheel is for CUDA, and this torch has none: the calling thread asks the dispatcher for the CUDA kernel by itself."""
    operator, sizes = "sageattention_fused::sub_mean_cuda", (2, 3, 200, 64)
    q, mean, out = torch.tensor(*sizes), torch.tensor(2, 3, 64), torch.tensor(*sizes)
    torch.set_included(torch.cuda_key, True)
    # Its own first check fails, for the tensors are the CPU's: an error code here, or the end of this process.
    say(step="check", code=torch.call(operator, q, mean, out, 1), text=torch.last_error())
    cuda = torch.number("aoti_torch_device_type_cuda")

    @ctypes.CFUNCTYPE(c_int32, c_void_p, ctypes.POINTER(c_int32))
    def device_type(tensor, answer):
        answer[0] = cuda
        return 0

    @ctypes.CFUNCTYPE(c_int32, c_int32, ctypes.POINTER(c_void_p))
    def create_guard(device, answer):
        answer[0] = None
        return 0

    @ctypes.CFUNCTYPE(c_int32, c_void_p)
    def delete_guard(guard):
        return 0

    stand_ins = {"aoti_torch_get_device_type": device_type, "aoti_torch_create_device_guard": create_guard,
                 "aoti_torch_delete_device_guard": delete_guard}
    for name, function in stand_ins.items():
        replace(imports[name], function)
    # Pointers 8 bytes, numbers 4: SubMeanKernel(T*, T*, half*, and nine unsigned int).
    cudart.parameter_sizes(b"888444444444")
    q, mean, out = torch.tensor(*sizes), torch.tensor(2, 3, 64), torch.tensor(*sizes)
    data = ["%x" % torch.data(one) for one in (q, mean, out)]
    code = torch.call(operator, q, mean, out, 1)
    say(step="launch", code=code, data=data, replaced=sorted(stand_ins), recorded=cudart.recorded().decode())


if __name__ == "__main__":
    main()
