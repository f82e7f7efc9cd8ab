#!/usr/bin/env python3
"""Cosine similarity of sageattn() against fp32 attention. Exit 1 when any case is below the bound (default 0.999)."""
import itertools
import sys

import torch
import torch.nn.functional as functional
from sageattention import core, sageattn

bound = float(sys.argv[1]) if len(sys.argv) > 1 else 0.999
torch.manual_seed(0)
worst = 1.0
cases = list(itertools.product((64, 128), (False, True), ("HND", "NHD"), (torch.float16, torch.bfloat16)))
for head_dim, causal, layout, dtype in cases:
    q, k, v = (torch.randn(2, 16, 1024, head_dim, device="cuda", dtype=dtype) for _ in range(3))
    expected = functional.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=causal)
    inputs = [x.transpose(1, 2).contiguous() for x in (q, k, v)] if layout == "NHD" else [q, k, v]
    output = sageattn(*inputs, tensor_layout=layout, is_causal=causal)
    torch.cuda.synchronize()
    if layout == "NHD":
        output = output.transpose(1, 2)
    cosine = functional.cosine_similarity(output.float().flatten(), expected.flatten(), dim=0).item()
    worst = min(worst, cosine)
    print(f"head_dim {head_dim:3} causal {causal!s:5} {layout} {str(dtype)[6:]:8} cosine {cosine:.6f}")
print(f"{len(cases)} cases, worst {worst:.6f}; modules loaded: sm80 {core.SM80_ENABLED} sm89 {core.SM89_ENABLED} sm90 {core.SM90_ENABLED}")
sys.exit(0 if worst >= bound else 1)
