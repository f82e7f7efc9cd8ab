"""Plugins that a test makes: a spec's text as sagekit-NAME.so, and of a real spec one kernel alone."""
import pathlib
import re
import subprocess

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[2]


def make_plugin(toml, at):
    """`at`: .../sagekit-NAME.so, with the spec's own name."""
    text = toml.encode()
    made = at.with_suffix(".c")
    made.write_text('#include <sagekit/plugin/abi.h>\nstatic const char text[] = {' + ",".join(str(byte if byte < 128 else byte - 256) for byte in text) + """};
extern __attribute__((visibility("default"))) const sagekit_descriptor sagekit_plugin;
const sagekit_descriptor sagekit_plugin = {SAGEKIT_PLUGIN_ABI, sizeof(sagekit_descriptor), text, sizeof text, "plugin.toml", 0};
""")
    subprocess.run(["cc", "-shared", "-fPIC", "-I", SOURCE_DIR / "core" / "include", "-Wl,-z,relro,-z,now", "-o", at, made], check=True)
    made.unlink()
    return at


def one_kernel(plugin, module):
    """The spec of plugins/PLUGIN with this module alone, and without the checks that want the others."""
    kept = []
    for table in re.split(r"(?m)^(?=\[)", (SOURCE_DIR / "plugins" / plugin / "plugin.toml").read_text()):
        head = table.split("\n", 1)[0]
        if head in ("[[verify.gpu]]", "[[advice]]") or (head == "[[kernel]]" and f'module = "{module}"' not in table):
            continue
        if head == "[[dispatch]]":
            table = re.sub(r"modules = \[[^\]]*\]", "modules = []", table)
        if head == "[verify]":
            table = re.sub(r"import_modules = .*", "import_modules = []", table)
            table = re.sub(r"size_mib = .*", "size_mib = [0.01, 64]", table)
        kept.append(table)
    return "".join(kept)
