"""The machine's nvcc, and folders that stand in for its toolkit."""
import pathlib
import shutil
import subprocess


def has_nvcc():
    return shutil.which("nvcc") is not None or pathlib.Path("/usr/local/cuda/bin/nvcc").exists()


def real_nvcc():
    """The compiler's own program: what PATH has may be a link, or a script that starts it from elsewhere."""
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    said = subprocess.run([found, "--dryrun", "-x", "cu", "-c", "/dev/null"], capture_output=True, text=True, check=True).stderr
    return pathlib.Path(said.split("#$ _HERE_=")[1].splitlines()[0]).resolve() / "nvcc"


def linked_toolkit(folder, script):
    """real_nvcc()'s toolkit in `folder`, made of links; its nvcc is this shell script, in which {real} is the real one."""
    real = real_nvcc()
    (folder / "bin").mkdir(parents=True)
    for there, here in ((real.parent.parent, folder), (real.parent, folder / "bin")):
        for part in there.iterdir():
            if part.name not in ("bin", "nvcc"):
                (here / part.name).symlink_to(part)
    nvcc = folder / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\n" + script.replace("{real}", f"'{real}'") + "\n")
    nvcc.chmod(0o755)
    return real


# Does not say what it would run, so that a source is one step.
WHOLE_NVCC = "case \"$*\" in *--dryrun*) echo '#$ a stand-in' >&2; exit;; esac\nexec {real} \"$@\""
