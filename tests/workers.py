"""Worker processes under test, and a command line to drive them with."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

MEMWEIR = [sys.executable, "-m", "streams.cli"]
SECONDS = 120.0


class WorkerProcess:
    """One `memweir worker` of its own, ended by its id."""

    def __init__(self, environment: dict[str, str], log: Path, stages: Sequence[str] = ()) -> None:
        self._log = log
        arguments = [argument for stage in stages for argument in ("--stage", stage)]
        self._process = subprocess.Popen(
            [*MEMWEIR, "worker", *arguments],
            env=os.environ | environment,
            stdout=log.open("ab"),
            stderr=subprocess.STDOUT,
        )

    def kill(self) -> None:
        """SIGKILL: nothing is finished, nothing is said."""
        self._process.kill()
        self._process.wait()

    def terminate(self) -> int:
        """SIGTERM, and its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(SECONDS)

    def check(self) -> None:
        """Raise AssertionError where the process has ended by itself."""
        status = self._process.poll()
        assert status is None, f"the worker ended with {status}: {self._log.read_text()[-3000:]}"

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def memweir(environment: dict[str, str], *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [*MEMWEIR, *arguments],
        env=os.environ | environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def wait_until(condition: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
    """Poll `condition`; raise AssertionError naming `what` where it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.25)
