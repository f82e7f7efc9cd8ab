def a():
    """def a():"""

@overload
def a(x): ...
async def b(
): pass
def b():\
 pass
