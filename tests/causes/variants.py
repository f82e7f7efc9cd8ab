"""One log as many: what carries logs (pip, uv, docker, Actions, terminals, Windows) does to their lines."""
import gzip

COMPILE_NOISE = [
    "building 'sageattention._fused' extension",
    "/usr/local/cuda/bin/nvcc -I/opt/venv/lib/python3.12/site-packages/torch/include -c csrc/fused/fused.cu -o build/fused.o -O3 --use_fast_math",
    "csrc/fused/pybind.cpp:12: warning: unused parameter 'x' [-Wunused-parameter]",
    "/opt/venv/lib/python3.12/site-packages/torch/include/c10/util/irange.h(54): warning #186-D: pointless comparison of unsigned integer with zero",
    "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"",
    "ptxas info    : 0 bytes gmem",
    "ptxas info    : Used 168 registers, used 1 barriers, 528 bytes cmem[0]",
    "copying sageattention/core.py -> build/lib.linux-x86_64-cpython-312/sageattention",
]
ADVICE = [
    "Note: if you see \"ModuleNotFoundError: No module named 'torch'\", use --no-build-isolation",
    "Hint: if the build is killed (signal 9), lower MAX_JOBS; for \"CUDA error: no kernel image is available\" rebuild.",
]


def numbered(lines, start, step, form):
    return [form(start + step * i, line) for i, line in enumerate(lines)]


def clock(seconds):
    return f"{8 + int(seconds) // 3600:02}:{int(seconds) // 60 % 60:02}:{seconds % 60:010.7f}"


def docker(lines):
    head = ["#0 building with \"default\" instance using docker driver", "#11 [builder 4/6] COPY . /src", "#11 DONE 0.1s",
            "#12 [builder 5/6] RUN pip install -v --no-build-isolation ."]
    return head + numbered(lines, 1, 0.217, lambda t, line: f"#12 {t:.3f} {line}")


def actions(lines):
    return numbered(["##[group]Run pip install -v .", "##[endgroup]"] + lines, 7, 0.31,
                    lambda t, line: f"2026-11-22T{clock(t)}Z {line}")


def gh_view(lines):
    return numbered(lines, 7, 0.31, lambda t, line: f"build (3.12)\tBuild wheel\t2026-11-22T{clock(t)}Z {line}")


def pip_box(lines):
    body = [f"      {line}" for line in lines]
    return ["Processing /src/SageAttention", "  Preparing metadata (setup.py): started", "  Preparing metadata (setup.py): finished with status 'done'",
            "Building wheels for collected packages: sageattention", "  Building wheel for sageattention (setup.py): started",
            "  Building wheel for sageattention (setup.py): finished with status 'error'", "  error: subprocess-exited-with-error",
            "  ", "  × python setup.py bdist_wheel did not run successfully.", "  │ exit code: 1", "  ╰─> [93 lines of output]"] + body + [
                "      [end of output]", "  ",
                "  note: This error originates from a subprocess, and is likely not a problem with pip.",
                "  ERROR: Failed building wheel for sageattention", "Failed to build sageattention",
                "ERROR: Could not build wheels for sageattention, which is required to install pyproject.toml-based projects"]


def uv_box(lines):
    return ["Using Python 3.12.8 environment at: .venv", "Resolved 3 packages in 121ms", "   Building sageattention @ file:///src/SageAttention",
            "  × Failed to build `sageattention @ file:///src/SageAttention`", "  ├─▶ The build backend returned an error",
            "  ╰─▶ Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)", "", "      [stderr]"] + [
                f"      {line}" for line in lines] + ["", "      hint: This usually indicates a problem with the package or the build environment."]


def ninja(lines):
    """Another job writes between the lines."""
    out = ["[1/3] /usr/local/cuda/bin/nvcc -c csrc/fused/fused.cu -o build/fused.o"]
    out += ["FAILED: build/temp.linux-x86_64-cpython-312/csrc/qattn/sm89.o ", "/usr/local/cuda/bin/nvcc --generate-dependencies-with-compile -c csrc/qattn/sm89.cu"]
    for i, line in enumerate(lines):
        out += [line, COMPILE_NOISE[(i + 2) % len(COMPILE_NOISE)]]
    return out + ["[2/3] c++ -c csrc/pybind.cpp", "ninja: build stopped: subcommand failed.", "Traceback (most recent call last):",
                  '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/cpp_extension.py", line 2595, in _run_ninja_build',
                  "subprocess.CalledProcessError: Command '['ninja', '-v', '-j', '32']' returned non-zero exit status 1.",
                  "The above exception was the direct cause of the following exception:", "RuntimeError: Error compiling objects for extension"]


def colours(lines):
    paint = ["\x1b[31m{}\x1b[0m", "\x1b[1;36m{}\x1b[0m", "\x1b[38;5;208m{}\x1b[39m\x1b[K", "{}", "\x1b]0;build\a{}"]
    return [paint[i % len(paint)].format(line) for i, line in enumerate(lines)]


def logger(lines):
    return numbered(lines, 1, 1.5, lambda t, line: f"2026-11-22 {clock(t)[:8]},123 - root - {line}" if t < 0 else f"[2026-11-22 {clock(t)[:12]}] {line}")


def progress(lines):
    bar = "Downloading torch ━━━━ 10/800 MB\rDownloading torch ━━━━━━ 400/800 MB\rDownloading torch ━━━━━━━━ 800/800 MB"
    return [bar, "  0%|          | 0/20 [00:00<?, ?it/s]\r 50%|█████     | 10/20 [00:10<00:10,  1.0it/s]"] + lines


def windows(lines):
    swap = [("/usr/local/cuda/bin/nvcc", "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.8\\bin\\nvcc.exe"),
            ("/opt/venv/lib/python3.12/site-packages/", "C:\\ComfyUI\\venv\\Lib\\site-packages\\"), ("/src/", "C:\\src\\")]
    result = []
    for line in lines:
        for old, new in swap:
            line = line.replace(old, new)
        result.append(line)
    return result


def advice_before(lines):
    return ["# build notes"] + ADVICE + lines


def noise_before(lines):
    return [COMPILE_NOISE[i % len(COMPILE_NOISE)] for i in range(60)] + lines


def network_retries(lines):
    retry = "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError': /simple/torch/"
    return [retry, retry.replace("=4", "=3")] + lines


def twice(lines):
    return lines + ["(venv) user@host:~/src$ pip install --no-build-isolation . -v"] + lines


def cut_end(lines):
    return lines[:-1] + [lines[-1][:max(len(lines[-1]) - 1, 1)]] if len(lines) > 1 and len(lines[-1]) > 60 else lines


LINES = {f.__name__: f for f in (docker, actions, gh_view, colours, logger, progress, windows, advice_before, noise_before, network_retries, twice, cut_end)}
BUILDS = {f.__name__: f for f in (pip_box, uv_box, ninja)}  # only of what fails while building
BYTES = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "utf16": lambda text: text.encode("utf-16"),
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
    "cp1252": lambda text: text.encode("cp1252", "replace"),
}


def of_log(text, building):
    """Name and bytes of each variant."""
    lines = text.splitlines()
    for name, encode in BYTES.items():
        yield name, encode(text if text.endswith("\n") else text + "\n")
    for name, change in LINES.items():
        yield name, ("\n".join(change(lines)) + "\n").encode()
    if not building:
        return
    for name, change in BUILDS.items():
        yield name, ("\n".join(change(lines)) + "\n").encode()
    for name in ("docker", "actions", "colours"):
        yield f"{name} of pip_box", ("\n".join(LINES[name](pip_box(lines))) + "\n").encode()
    yield "windows of ninja in utf16", ("\r\n".join(windows(ninja(lines))) + "\r\n").encode("utf-16")
