"""python -m sagekit"""

import os
import sys

from . import find_program

if __name__ == "__main__":
    program = find_program()
    os.execv(program, [program, *sys.argv[1:]])
