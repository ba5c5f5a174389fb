"""Runs a child and measures it: wall time, CPU time, peak memory."""
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

TIME = "/usr/bin/time"          # Debian's `time`


@dataclass
class Done:
    output: str
    wall_s: float
    cpu_s: float
    max_rss_bytes: int | None


def run(command, env=None, timeout_s=300, memory=True):
    """Raises RuntimeError, with the end of what the child said, when it fails or takes too long.

    Peak memory is taken by a small program between: Linux counts the memory that a child has between
    fork and exec, so a child of a large Python would never look smaller than that Python. It is that of
    the largest process, not a sum. `memory=False` leaves the program between out, for short runs.
    """
    command = [str(part) for part in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile() as usage_file:
        wrapped = [TIME, "-q", "-o", usage_file.name, "-f", "%M"] + command if memory else command
        start = time.perf_counter()
        child = subprocess.Popen(wrapped, env={**os.environ, **(env or {})}, stdout=out, stderr=err,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        timer = threading.Timer(timeout_s, os.killpg, (child.pid, signal.SIGKILL))
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:                        # Ctrl-C: leave nothing behind
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
        finally:
            timer.cancel()
        wall_s = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output = out.read().decode(errors="replace")
        if child.returncode != 0:
            late = f" (limit {timeout_s} s)" if wall_s >= timeout_s else ""
            said = (output + err.read().decode(errors="replace"))[-800:]
            raise RuntimeError(f"{' '.join(command[:3])}: exit status {child.returncode}{late}: {said}")
        max_rss_bytes = int(usage_file.read().split()[-1]) * 1024 if memory else None
    return Done(output, wall_s, usage.ru_utime + usage.ru_stime, max_rss_bytes)
