#!/usr/bin/env python3
"""What a build shows on a terminal: a block that fits into it, and no escapes where the terminal knows none."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from harness import EXAMPLE_SOURCE, EXAMPLES, SAGEKIT, CommandLine, has_nvcc


@unittest.skipUnless(has_nvcc(), "no nvcc on this machine")
class Terminal(CommandLine):
    def on_terminal(self, columns, lines, *words, **environment):
        """What the terminal was sent, and the exit code."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = self.environment(**environment)
        del env["CI"]
        process = subprocess.Popen([str(SAGEKIT), "--plugin-dir", str(EXAMPLES), "--plugin", "example", *map(str, words)], env=env,
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        sent = b""
        try:
            while more := os.read(ours, 65536):
                sent += more
        except OSError:
            pass  # the last one that held the terminal is gone
        os.close(ours)
        return sent.decode(), process.wait()

    def build(self, *size, **environment):
        sent, code = self.on_terminal(*size, "build", "--source", EXAMPLE_SOURCE, "--jobs", 4, **environment)
        self.assertEqual(code, 0, sent)
        return sent

    def test_a_build_draws_a_block_that_fits(self):
        sent = self.build(40, 5, TERM="xterm", NO_COLOR="1")
        blocks = [part.split("\x1b")[0].replace("\r", "").split("\n") for part in sent.split("\r\x1b[J")[1:]]
        running = [block for block in blocks if len(block) > 1 and re.match(r"\[\d+/\d+\] \d", block[0])]
        self.assertTrue(running, sent)
        for block in running:
            self.assertLess(len(block), 5, "or its first line is out of reach")
            for line in block:
                self.assertLess(len(line), 40, line)
        # Four at once do not fit: age and memory of some, and how many more there are.
        self.assertRegex("\n".join(map("\n".join, running)), r"\[0/10\] [\d.]+ s\n +[\d.]+ s  about \d+ MB  device .*\n.*\n? *and [23] more")
        self.assertNotRegex(sent, r"\x1b\[[\d;]*m", "NO_COLOR")
        # The cursor waits on the first line: whatever a narrower terminal makes of the block, it goes as a whole.
        for part in sent.split("\r\x1b[J")[1:]:
            block, escape, rest = part.partition("\x1b[")
            if re.match(r"\[\d+/\d+\] [\d.]+ s.*\n", block):
                self.assertRegex(escape + rest, rf"^\x1b\[{block.count(chr(10))}A\r$")
        self.assertRegex(sent, r"skip 3 checks could not be made\s+\(sagekit\s+verify --all says why\)")

        self.assertNotIn("\x1b", self.build(80, 24, TERM="dumb"))


if __name__ == "__main__":
    unittest.main()
