"""Child processes that must not outlive this one, however it ends."""

import subprocess


class Guard:
    """Kills process `pid` (SIGKILL) when this process ends before `release`, by SIGKILL too.

    A shell waits at the other end of a pipe; the kernel closes the pipe with us, and the shell acts.
    Linux has a signal for this, but it follows the thread that started the child.
    """

    def __init__(self, pid: int) -> None:
        self._shell = subprocess.Popen(
            ["/bin/sh", "-c", 'read -r _; kill -9 "$1" 2>/dev/null', "guard", str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # What ends the terminal's process group must not end the guard first.
            start_new_session=True,
        )

    def release(self) -> None:
        """Call this once the child has been waited for: its pid may soon be somebody else's."""
        # Killed before its pipe closes, or it would act.
        self._shell.kill()
        self._shell.communicate()
