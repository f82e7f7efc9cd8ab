# Comes before each of the other scripts of this folder: python -I -c SCRIPT TREE ORDER. TREE, the unpacked files, goes
# first on sys.path (where packages are installed it is there); ORDER is a JSON object. What is said goes to stdout, one JSON object a line; what the package itself
# prints, from Python or from C, goes to stderr. Python 3.7 and newer.
import json
import os
import sys

tree, order = sys.argv[1], json.loads(sys.argv[2])
sys.dont_write_bytecode = True
if tree not in sys.path:
    sys.path.insert(0, tree)
report = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def say(**facts):
    report.write(json.dumps(facts) + "\n")
    report.flush()


def say_python():
    import platform
    import sysconfig

    threads = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    say(
        python="%d.%d%s" % (sys.version_info[0], sys.version_info[1], threads),
        executable=sys.executable,
        system=sys.platform,
        machine=platform.machine(),
        libc=" ".join(platform.libc_ver()),
    )


def import_torch():
    try:
        import torch
    except BaseException as e:
        say(no_torch="%s: %s" % (type(e).__name__, e))
        return None
    say(torch=torch.__version__, torch_cuda=torch.version.cuda or "")
    return torch


def is_from_tree(module):
    place = os.path.realpath(getattr(module, "__file__", None) or "")
    return place.startswith(os.path.realpath(tree) + os.sep)
