"""Runs a program and says what it cost: seconds of the clock, and of the CPU with everything that it started."""
import resource
import subprocess
import time


def cost(words, **options):
    """(wall, CPU, done). On a machine that others use, the CPU seconds are what can be compared."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr or done.stdout
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def best(runs, words, before=lambda: None, **options):
    """The least wall and the least CPU of several runs, each by itself."""
    results = []
    for _ in range(runs):
        before()
        results.append(cost(words, **options)[:2])
    return min(wall for wall, _ in results), min(cpu for _, cpu in results)
