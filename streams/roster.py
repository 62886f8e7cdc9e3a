"""The stages by name, in the order of the flow."""

from collections.abc import Iterable

from streams.commands import Commands
from streams.extraction import ExtractionStage
from streams.intake import Intake
from streams.processing import ProcessingStage
from streams.resolution import Resolution
from streams.settings import Settings
from streams.sink import Sink
from streams.windowing import Windowing

STAGES: dict[str, type[ProcessingStage]] = {
    stage.name: stage for stage in (Intake, Commands, Windowing, ExtractionStage, Resolution, Sink)
}


def stages(settings: Settings, names: Iterable[str] = ()) -> list[ProcessingStage]:
    """The named stages, all of them where none is named. Raises KeyError for a name that is none."""
    return [STAGES[name](settings) for name in (tuple(names) or STAGES)]
