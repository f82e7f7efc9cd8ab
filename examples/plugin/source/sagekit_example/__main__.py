"""python -m sagekit_example: exit 0 the kernels are right, 1 they are wrong, 3 there is no GPU to run them on."""

import sys

from sagekit_example import device_count, self_test

if device_count() == 0:
    print("skipped: no GPU here; the modules themselves load")
    sys.exit(3)
try:
    print(f"both kernels agree with Python; largest error {self_test():.1e}")
except (AssertionError, RuntimeError) as error:
    sys.exit(f"failed: {error}")
