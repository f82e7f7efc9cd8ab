# Runs GPU cases of a spec. ORDER: rows ([[verify.gpu]] tables), cases ([{index, row, values: {axis: text}}]). Says what
# torch and GPU there are (or what is lacking), then for each case `begin` and its facts; judges nothing. A device error
# ends the process, for nothing after it can be trusted; so does, by faulthandler, a case that takes too long.
import faulthandler
import importlib
from ast import literal_eval

SEED = 20260117
FILLS = (0xFF, 0x7B, 0x00)  # NaN; 61280 in float16, 1.3e36 in bfloat16 and float32; zeros
SMALL_BLOCK = 1 << 20  # torch's allocator keeps requests up to this apart from larger ones


def value_of(text):
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def function(place):
    module, _, path = place.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def called(place, arguments, names):
    """Calls module:function with arguments such as "q" and "is_causal=causal"."""
    positional, keywords = [], {}
    for text in arguments:
        keyword, equals, term = text.partition("=")
        named = bool(equals) and keyword.strip().isidentifier()
        term = (term if named else text).strip()
        value = names[term] if term in names else literal_eval(term)
        if named:
            keywords[keyword.strip()] = value
        else:
            positional.append(value)
    return function(place)(*positional, **keywords)


def tensors_of(torch, result):
    many = result if isinstance(result, (list, tuple)) else [result]
    found = [one for one in many if isinstance(one, torch.Tensor)]
    if not found:
        raise TypeError("it returns no tensor but %s" % type(result).__name__)
    return found


def bytes_of(torch, tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8)


def same(torch, one, other):
    return one.shape == other.shape and torch.equal(bytes_of(torch, one), bytes_of(torch, other))


def fill_free_memory(torch, byte):
    """Leaves `byte` in all memory that torch's allocator has free: what it hands out next, and all of it."""
    sizes = []
    for segment in torch.cuda.memory_snapshot():
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                continue
            size = block["size"]
            while segment["segment_type"] == "small" and size > SMALL_BLOCK:
                sizes.append(SMALL_BLOCK)
                size -= SMALL_BLOCK
            sizes.append(size)
    held = []
    for size in sorted(sizes, reverse=True):
        held.append(torch.full((size,), byte, dtype=torch.uint8, device="cuda"))
    torch.cuda.synchronize()


def unwritten(torch, result, byte):
    """The share of elements that are the fill. Zeros and small integers may well be results."""
    if byte == 0 or not result.is_floating_point() or result.numel() == 0:
        return 0.0
    elements = bytes_of(torch, result).reshape(-1, result.element_size())
    return (elements == byte).all(-1).double().mean().item()


def numbers(torch, got, wanted):
    """How far a result is from the reference; by double precision, for sums over millions."""
    got, wanted = got.double(), wanted.double()
    apart = (got - wanted).abs()
    over = wanted.abs().sum().item()
    dot, lengths = (got * wanted).sum(-1), ((got * got).sum(-1) * (wanted * wanted).sum(-1)).sqrt()
    whole = ((got * got).sum() * (wanted * wanted).sum()).sqrt().item()
    # A row of zeros has no direction: it is right when the other is zero too.
    rows = torch.where(lengths > 0, dot / lengths.clamp(min=1e-300), (apart.sum(-1) == 0).double())
    return {
        "cosine": dot.sum().item() / whole if whole > 0 else float(apart.sum().item() == 0),
        "row_cosine": rows.min().item(),
        "relative_l1": apart.sum().item() / over if over > 0 else apart.sum().item(),
        "absolute": apart.max().item(),
    }


def worse(facts, more):
    for key, value in more.items():
        if key in facts:
            value = min(value, facts[key]) if key.endswith("cosine") else max(value, facts[key])
        facts[key] = value


class Case:
    def __init__(self, torch, row, texts):
        self.torch, self.row = torch, row
        self.values = {axis: value_of(text) for axis, text in texts.items()}
        turned = row["transposed"]
        self.dims = turned["dims"] if turned["axis"] and texts[turned["axis"]] == turned["value"] else None
        self.inputs = self.draw()

    def draw(self):
        """The inputs, in the reference's order of dimensions; the same in every run."""
        torch, drawn = self.torch, {}
        generator = torch.Generator(device="cuda")
        generator.manual_seed(SEED)
        for one in self.row["inputs"]:
            shape = [int(self.values.get(size, size)) for size in one["shape"]]
            kind = {"zeros": torch.zeros, "uniform": torch.rand}.get(one["distribution"], torch.randn)
            seeded = {} if kind is torch.zeros else {"generator": generator}
            made = kind(shape, dtype=torch.float32, device="cuda", **seeded)
            drawn[one["name"]] = made.to(getattr(torch, str(self.values.get(one["dtype"], one["dtype"]))))
        return drawn

    def turn(self, tensor):
        if self.dims is None or tensor.dim() <= max(self.dims):
            return tensor
        return tensor.transpose(*self.dims).contiguous()

    def wanted(self):
        if not self.row["reference"]:
            return []
        exact = {n: t.float() if t.is_floating_point() else t.clone() for n, t in self.inputs.items()}
        found = called(self.row["reference"], self.row["reference_arguments"], dict(self.values, **exact))
        return tensors_of(self.torch, found)

    def once(self, byte):
        """One call: its results, in the reference's order, and the inputs that it wrote to."""
        torch, row = self.torch, self.row
        given = {n: self.turn(t.clone()) for n, t in self.inputs.items()}
        before = {n: t.clone() for n, t in given.items() if n not in row["outputs"] + row["may_change"]}
        for name in row["outputs"]:
            bytes_of(torch, given[name]).fill_(byte)
        fill_free_memory(torch, byte)
        found = called(row["call"], row["arguments"], dict(self.values, **given))
        torch.cuda.synchronize()
        torch.zeros(1, device="cuda").add_(1)  # a launch that failed is reported by the next one
        torch.cuda.synchronize()
        results = [given[n] for n in row["outputs"]] or tensors_of(torch, found)
        changed = [n for n, t in before.items() if not same(torch, t, given[n])]
        return [self.turn(one) for one in results], changed

    def run(self):
        torch, facts, first = self.torch, {}, None
        wanted = self.wanted()
        for repetition in range(self.row["repetitions"]):
            byte = FILLS[repetition % len(FILLS)]
            results, changed = self.once(byte)
            if changed:
                facts["changed"] = changed
            for one in results:
                worse(facts, {"unwritten": unwritten(torch, one, byte)})
                if one.is_floating_point() and one.numel() > 0:
                    worse(facts, {"not_finite": 1.0 - torch.isfinite(one).double().mean().item()})
            if first is None:
                first = [one.clone() for one in results]
            elif all(same(torch, *pair) for pair in zip(first, results)):
                continue
            else:
                facts["differs"] = True
            self.compare(results, wanted, facts)
        return facts

    def compare(self, results, wanted, facts):
        if len(results) < len(wanted):
            facts["shape"] = "%d results, the reference gives %d" % (len(results), len(wanted))
        for got, right in zip(results, wanted):
            if got.shape != right.shape:
                facts["shape"] = "a result of shape %s, the reference's is %s" % (list(got.shape), list(right.shape))
            elif got.numel() > 0 and bool(self.torch.isfinite(got).all().item()):
                worse(facts, numbers(self.torch, got, right))


def is_device_error(e):
    text = str(e)
    return type(e).__name__ == "AcceleratorError" or "CUDA error" in text or "CUDA driver error" in text


def run():
    say_python()
    torch = import_torch()
    if torch is None:
        return
    if not torch.cuda.is_available():
        return say(lacks="its torch finds no GPU")
    capability = "%d.%d" % tuple(torch.cuda.get_device_capability(0))
    say(gpu=torch.cuda.get_device_name(0), capability=capability)
    for one in order["cases"]:
        row = order["rows"][one["row"]]
        say(begin=one["index"])
        faulthandler.dump_traceback_later(row["seconds"], exit=True)
        facts = {}
        try:
            module = importlib.import_module(row["call"].partition(":")[0])
            if not is_from_tree(module):
                raise ImportError("%s came from %s, not from the wheel" % (module.__name__, module.__file__))
            facts = Case(torch, row, one["values"]).run()
        except BaseException as e:
            facts = {"error": str(e), "type": type(e).__name__, "missing": getattr(e, "name", None) or ""}
            facts["device"] = is_device_error(e)
        faulthandler.cancel_dump_traceback_later()
        say(case=one["index"], **facts)
        if facts.get("device"):
            os._exit(0)  # the context is lost, and the destructors of its owners may hang


run()
