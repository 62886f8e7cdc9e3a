"""Real brokers for the tests: Apache Kafka out of Maven Central, and what both kinds need."""

import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from streams.guard import Guard

KAFKA_VERSION = "4.4.0"
JAVA_WANTED = 17
CACHE = Path(__file__).resolve().parent.parent / ".cache" / "kafka" / KAFKA_VERSION

COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>memweir</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{v}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{v}</version></dependency>
  </dependencies>
</project>
"""

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
message.max.bytes=8388608
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


def missing_for_kafka() -> str:
    """What keeps Apache Kafka from running on this machine, as one line; empty where nothing does."""
    missing = []
    java = shutil.which("java")
    if java is None:
        missing.append(f"Java {JAVA_WANTED} or newer (`java`)")
    else:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
        version = re.search(r'version "(\d+)', told)
        if version is None or int(version[1]) < JAVA_WANTED:
            missing.append(f"Java {JAVA_WANTED} or newer (this one: {told.splitlines()[0] if told else 'unknown'})")
    if shutil.which("mvn") is None:
        missing.append("Maven (`mvn`)")
    return " and ".join(missing)


def fetch_kafka() -> Path:
    """The folder with Kafka's jars (about 54 MB), fetched once a checkout; sessions side by side wait."""
    jars = CACHE / "libs"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if jars.is_dir():
            return jars
        pom, partial = CACHE / "pom.xml", CACHE / "libs.partial"
        shutil.rmtree(partial, ignore_errors=True)
        pom.write_text(POM.format(v=KAFKA_VERSION), "utf-8")
        print(f"fetching Apache Kafka {KAFKA_VERSION} from Maven Central …", file=sys.__stderr__, flush=True)
        done = subprocess.run(
            ["mvn", "-B", "-q", "-f", str(pom), COPY, f"-DoutputDirectory={partial}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            told = (done.stdout + done.stderr)[-2000:]
            raise RuntimeError(f"mvn could not fetch Apache Kafka {KAFKA_VERSION}:\n{told}")
        partial.rename(jars)
    return jars


# The short broker session is for `restart` after `kill`: until the old registration runs out, KRaft
# refuses the same node id.


class KafkaServer:
    """One Apache Kafka, broker and controller in one JVM (KRaft), on two free loopback ports.

    `home` keeps its configuration, data and log: a server that was stopped or killed goes on with
    what it had. Every way to end it goes by the process that was started here.
    """

    def __init__(self, home: Path, *, heap: str = "512m") -> None:
        self.home = home
        self.port, self._controller = free_ports(2)
        self._heap = heap
        self._guard: Guard | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, timeout: float = 90.0) -> Self:
        """Start it and wait until it answers. Raises RuntimeError with the end of its log otherwise."""
        config = self.home / "server.properties"
        if not config.exists():
            self.home.mkdir(parents=True, exist_ok=True)
            config.write_text(
                PROPERTIES.format(port=self.port, controller=self._controller, data=self.home / "data"), "utf-8"
            )
            cluster = uuid.uuid4().hex[:22]
            subprocess.run(
                self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(config)),
                check=True,
                capture_output=True,
            )
        with (self.home / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", str(config)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._guard = Guard(self._process.pid)
        try:
            self._wait(timeout)
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """End it in order (SIGTERM), frozen or not."""
        self.thaw()
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would (SIGKILL). What reached the page cache survives."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Start again after `stop` or `kill`, or stop first: same ports, same data."""
        self.stop()
        self.start()

    def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _java(self, main: str, *arguments: str) -> list[str]:
        return ["java", f"-Xmx{self._heap}", "-cp", f"{fetch_kafka()}/*", main, *arguments]

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        self._signal(number)
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._guard is not None:
            self._guard.release()

    def _wait(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not listens(self.port):
            self._raise_if_it_ended()
            if time.monotonic() > deadline:
                raise RuntimeError(f"Apache Kafka does not listen after {timeout:g} s: {self._last_words()}")
            time.sleep(0.1)
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            self._raise_if_it_ended()
            try:
                admin.list_topics(timeout=2)
                return
            except KafkaException:
                if time.monotonic() > deadline:
                    raise

    def _raise_if_it_ended(self) -> None:
        if self._process is None or self._process.poll() is not None:
            raise RuntimeError(f"Apache Kafka ended while starting: {self._last_words()}")

    def _last_words(self) -> str:
        return (self.home / "server.log").read_text("utf-8", "replace")[-2000:]


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago; all held together, so that no two are the same."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def unique(name: str) -> str:
    """A name that no other test and no other run has: for topics and groups."""
    return f"{name}.{os.getpid()}.{uuid.uuid4().hex[:8]}"


def create_topic(bootstrap: str, name: str = "topic", *, partitions: int = 1, **config: str) -> str:
    """Create a topic under a unique name and return that; underscores in option names are dots."""
    topic = unique(name)
    options = {key.replace("_", "."): value for key, value in config.items()}
    admin = AdminClient({"bootstrap.servers": bootstrap})
    made = admin.create_topics(
        [NewTopic(topic, num_partitions=partitions, replication_factor=1, config=options)], request_timeout=30
    )
    made[topic].result(timeout=30)
    # Created is not yet known: the broker learns of it from the controller a moment later.
    while topic not in admin.list_topics(timeout=30).topics:
        time.sleep(0.02)
    return topic


def listens(port: int) -> bool:
    """Whether something accepts connections on this loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
