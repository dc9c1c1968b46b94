# SPDX-License-Identifier: MIT
"""A terminal of some width, and what a command prints on it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios


def without_age(text):
    """Without the line that says how old results are: tests publish values of a fixed time."""
    return re.sub("(?m)^fairmill: the results of cluster '.*' are stale: .* old\n", '', text)


def printed(command, folder, columns, environment):
    """All that the command, a list, writes to a terminal of so many columns."""
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=below, stdout=below, stderr=below):
        os.close(below)
        got = b''
        try:
            while more := os.read(above, 65536):
                got += more
        except OSError:  # Linux says so where all is read
            pass
    os.close(above)
    return without_age(got.decode().replace('\r\n', '\n'))
