# SPDX-License-Identifier: MIT
"""A terminal of a given width, and the output of a command on it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios


def without_age(text):
    """Removes the line about the age of results, because tests publish values for a fixed time."""
    return re.sub("(?m)^fairmill: the results of cluster '.*' are stale: .* old\n", '', text)


def printed(command, folder, columns, environment):
    """Returns all output of the command, a list, on a terminal with this number of columns."""
    above, below = pty.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=below, stdout=below, stderr=below):
        os.close(below)
        got = b''
        try:
            while more := os.read(above, 65536):
                got += more
        except OSError:  # Linux returns this error after all output was read
            pass
    os.close(above)
    return without_age(got.decode().replace('\r\n', '\n'))
