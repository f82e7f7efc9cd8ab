"""Machine code read out of cubins and of fatbins that are not compressed, without any of sagekit's own readers."""
import struct

FATBIN, ENTRY_PTX, ENTRY_CUBIN = 0xBA55ED50, 1, 2


def sections(elf):
    """Name -> content; of one without content its size."""
    table, = struct.unpack_from("<Q", elf, 40)
    count, names = struct.unpack_from("<HH", elf, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + 64 * i) for i in range(count)]
    text = elf[headers[names][4]:headers[names][4] + headers[names][5]]
    return {text[h[0]:text.index(b"\0", h[0])].decode(): (h[5] if h[1] == 8 else elf[h[4]:h[4] + h[5]]) for h in headers}


def kernels(cubin):
    """Kernel or device function -> its instructions; constants and shared memory under their sections' names."""
    kept = {name: content for name, content in sections(cubin).items() if name.startswith((".text.", ".nv.constant", ".nv.shared.", ".nv.global"))}
    assert any(name.startswith(".text.") for name in kept), "no kernel in it"
    return kept


def images(module):
    """All entries of the fatbins that lie in a file: (kind, architecture) -> bytes."""
    found, at = {}, 0
    while (at := module.find(struct.pack("<IHH", FATBIN, 1, 16), at)) >= 0:
        size, = struct.unpack_from("<Q", module, at + 8)
        entry, end = at + 16, at + 16 + size
        while entry < end:
            kind, _, head, stored, compressed = struct.unpack_from("<HHIQI", module, entry)
            sm, = struct.unpack_from("<I", module, entry + 28)
            flags, whole = struct.unpack_from("<Q", module, entry + 40)[0], struct.unpack_from("<Q", module, entry + 56)[0]
            assert not (compressed or whole), "a compressed image: nvcc is asked for none"
            arch = f"{sm}{'a' if flags & 0x100000 else 'f' if flags & 0x200000 else ''}"
            assert (kind, arch) not in found, "two images of a kind for one architecture"
            found[kind, arch] = module[entry + head:entry + head + stored]
            entry += head + stored
        at = max(end, at + 16)
    return found
