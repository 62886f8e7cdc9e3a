"""Settings come from the environment; a wrong one is told by the name of its variable."""

from collections.abc import Iterator

import pytest

from streams.settings import Settings, SettingsError, load, variable


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for section, fields in _fields():
        monkeypatch.delenv(variable(section, fields), raising=False)


def _fields() -> Iterator[tuple[str, str]]:
    for section, value in Settings():
        for field in type(value).model_fields:
            yield section, field


def test_each_variable_sets_the_field_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMWEIR_KAFKA_BOOTSTRAP_SERVERS", "one:1,two:2")
    monkeypatch.setenv("MEMWEIR_WINDOWING_IDLE_SECONDS", "1.5")
    monkeypatch.setenv("MEMWEIR_WINDOWING_WARM_UP_TURNS", "[1, 3]")
    monkeypatch.setenv("MEMWEIR_EXTRACTION_STRATEGY", "scenes")
    settings = load()
    assert settings.kafka.bootstrap_servers == "one:1,two:2"
    assert settings.windowing.idle_seconds == 1.5
    assert settings.windowing.warm_up_turns == (1, 3)
    assert settings.extraction.strategy == "scenes"


@pytest.mark.parametrize(
    "field", ["kafka.bootstrap_servers", "kafka.schema_registry_url", "model.name", "metrics.host"]
)
def test_a_field_of_many_words_is_reached_by_its_variable(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    section, name = field.split(".")
    monkeypatch.setenv(variable(section, name), "given")
    assert getattr(getattr(load(), section), name) == "given"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MEMWEIR_KAFKA_PARTITIONS", "none"),
        ("MEMWEIR_KAFKA_PARTITIONS", "0"),
        ("MEMWEIR_EXTRACTION_STRATEGY", "guess"),
        ("MEMWEIR_WINDOWING_IDLE_SECONDS", "-1"),
        ("MEMWEIR_SINK_PTAH", "/data"),
    ],
)
def test_a_wrong_value_or_name_is_told_by_its_variable(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=f"^{name}: "):
        load()


def test_every_wrong_variable_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMWEIR_KAFKA_PARTITIONS", "0")
    monkeypatch.setenv("MEMWEIR_METRICS_PORT", "x")
    with pytest.raises(SettingsError) as told:
        load()
    assert "MEMWEIR_KAFKA_PARTITIONS: " in str(told.value)
    assert "MEMWEIR_METRICS_PORT: " in str(told.value)
    assert "\n" not in str(told.value)


def test_a_secret_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMWEIR_MODEL_API_KEY", "sk-secret")
    settings = load()
    assert "sk-secret" not in f"{settings} {settings.model_dump(mode='json')} {settings.model_dump_json()}"
    assert settings.model.api_key is not None
    assert settings.model.api_key.get_secret_value() == "sk-secret"
