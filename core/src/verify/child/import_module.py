# Loads one module. ORDER: name (dotted, or the library's path; "" = only the interpreter is described), path (below TREE; "" = only by
# name), library (true: for ctypes), torch (true: imported before), stand_ins (libraries to load before everything).
# Says ok, or error, type and missing (the module that was not found); alone is true when the module was loaded by itself
# because its package cannot be imported here.
# Or all that was installed in one process, as its users do: packages (names), modules (orders of one each). Each is begun,
# and ok is said behind the last.
# Or many that want torch, each in a fork of the process that has imported it: each (orders). What is said of one stands
# between its begin and the next; who blocks is ended.
import ctypes
import importlib.machinery
import importlib.util
import signal


def load_library(path):
    try:
        ctypes.CDLL(path)
    except OSError:
        # Packages load what their libraries need beforehand: this one's is given the chance to.
        package = order["path"].split("/")[0]
        if not os.path.isfile(os.path.join(tree, package, "__init__.py")):
            raise
        try:
            importlib.import_module(package)
        except BaseException:
            pass
        ctypes.CDLL(path)


def is_of_tree(name):
    part = os.path.join(tree, *name.split("."))
    return os.path.isdir(part) or os.path.exists(part + ".py") or name.split(".")[0] == order.get("name", "").split(".")[0]


def load_module(name, path):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as e:
        if not path or not e.name or is_of_tree(e.name):
            raise
        loader = importlib.machinery.ExtensionFileLoader(name, path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path, loader=loader))
        loader.exec_module(module)
        say(alone=True, missing=e.name)
    if not is_from_tree(module):
        raise ImportError("it came from %s, not from the wheel" % getattr(module, "__file__", "elsewhere"))


def run_all():
    for name in order["packages"]:
        say(begin=name)
        importlib.import_module(name)
    for one in order["modules"]:
        say(begin=one["name"])
        path = os.path.join(tree, one["path"]) if one["path"] else ""
        ctypes.CDLL(path) if one["library"] else load_module(one["name"], path)
    say(ok=True)


def load_one():
    path = os.path.join(tree, order["path"]) if order["path"] else ""
    say(begin=order["name"])
    try:
        if order["library"]:
            load_library(path)
        else:
            load_module(order["name"], path)
        say(ok=True)
    except BaseException as e:
        say(error=str(e), type=type(e).__name__, missing=getattr(e, "name", None) or "")


def run_each():
    if import_torch() is None:
        return
    for one in order["each"]:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            order.update(one)
            load_one()
            os._exit(0)
        os.waitpid(child, 0)


def run():
    if "packages" in order:
        return run_all()
    if "each" in order:
        return run_each()
    say_python()
    if not order["name"]:
        return
    for path in order["stand_ins"]:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    if order["torch"] and import_torch() is None:
        return
    load_one()


run()
