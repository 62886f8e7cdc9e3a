"""The one settings model, read from `MEMWEIR_<SECTION>_<FIELD>` environment variables.

`MEMWEIR_KAFKA_BOOTSTRAP_SERVERS=broker:9092` sets `settings.kafka.bootstrap_servers`.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Kafka(Section):
    """Where the broker is, and how our topics are laid out."""

    bootstrap_servers: str = "127.0.0.1:9092"
    partitions: int = Field(12, ge=1, description="of every topic of ours; fixed at creation")
    replication_factor: int = Field(1, ge=1)
    group_prefix: str = Field("memweir", description="consumer groups are <prefix>-<stage>")
    session_timeout: float = Field(6.0, gt=0, description="seconds")
    commit_interval: float = Field(0.5, gt=0, description="seconds")
    schema_registry_url: str | None = None
    accept_deleted: bool = Field(
        default=False, description="go on where retention has deleted records before they were read; they are lost"
    )


class Windowing(Section):
    """When a window closes (design: warm-up, budget, idleness, age) and what it remembers."""

    warm_up_turns: tuple[int, ...] = (1, 2, 4)
    user_turns: int = Field(5, ge=1, description="user turns a window, once warmed up")
    token_budget: int = Field(4000, ge=1)
    idle_seconds: float = Field(600, gt=0)
    max_age_seconds: float = Field(3600, gt=0)
    background_turns: int = Field(5, ge=0)
    repeat_seconds: float = Field(30, ge=0, description="the same text again within this time is a repeat")
    dedup_horizon: int = Field(1000, ge=0, description="message ids remembered a session")
    spill_seconds: float = Field(60, gt=0)
    spill_offsets: int = Field(20_000, ge=1, description="of the inbox: what a crash reads again, within a second")


class Model(Section):
    """An OpenAI-compatible server. With no `name` the offline rules serve."""

    name: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    timeout: float = Field(60, gt=0, description="seconds a request")
    retries: int = Field(5, ge=0)


class Extraction(Section):
    strategy: Literal["rules", "scenes"] = "rules"
    in_flight: int = Field(64, ge=1)


class Resolution(Section):
    policy: Literal["rules", "conflict"] = "rules"
    in_flight: int = Field(64, ge=1)
    pool_size: int = Field(10, ge=1, description="known memories a candidate is set against")


class Sink(Section):
    path: Path = Path("memweir-data/lancedb")
    batch_rows: int = Field(2000, ge=1)
    batch_seconds: float = Field(0.2, ge=0)


class Metrics(Section):
    host: str = "127.0.0.1"
    port: int = Field(9464, ge=0, description="0: any free port")


class Settings(BaseSettings):
    """Every setting, by section."""

    model_config = SettingsConfigDict(
        env_prefix="MEMWEIR_", env_nested_delimiter="_", env_nested_max_split=1, frozen=True, extra="ignore"
    )

    kafka: Kafka = Kafka()
    windowing: Windowing = Windowing()
    model: Model = Model()
    extraction: Extraction = Extraction()
    resolution: Resolution = Resolution()
    sink: Sink = Sink()
    metrics: Metrics = Metrics()


class SettingsError(ValueError):
    """A setting is wrong; the message names the variable and says why."""


def load() -> Settings:
    """The settings of this process. Raises SettingsError naming each wrong variable."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError("; ".join(_explain(e["loc"], e["msg"]) for e in error.errors())) from error


def variable(section: str, field: str) -> str:
    """The environment variable that sets `section.field`."""
    return f"MEMWEIR_{section}_{field}".upper()


def _explain(location: tuple[int | str, ...], reason: str) -> str:
    return f"{variable(str(location[0]), '_'.join(map(str, location[1:])))}: {reason}"
