"""Functions that measure, in a module that a process imports in no time."""

import os
import signal
import time
from multiprocessing import parent_process


class Hostile:
    """A measure that kills its process when a file is there, which it takes away, and never ends of the heaviest member."""

    def __init__(self, path):
        self.path = path

    def __call__(self, run):
        if parent_process() is not None:
            if self.path.exists():
                self.path.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
            while run.system.mass_matrix(run.q[0])[0, 0] > 1.95:
                time.sleep(0.01)
        return run.q[-1, 0]
