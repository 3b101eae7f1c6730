"""One vault that is indexed with vectors once a session, and a maker of small ones that are indexed by words."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from built_model import models_folder
from cli.commands import Commands, write

NOTES: Mapping[str, str | bytes] = {
    "Flat/Rent.md": (
        "---\naliases: [Lease]\n---\n# Rent\n\n## Notice\n\n"
        "The notice period for the flat is three months, always to the end of a month.\n\n"
        "## Deposit\n\nThe deposit was 2,400 euros and lies on a savings account.\n"
    ),
    "Garden/Allotment.md": "# Allotment\n\nThe allotment gave 31 kg of potatoes from four rows.\n\nSee [[Compost]].\n",
    "Garden/Compost.md": b"# Compost\r\n\r\nTurn the compost every six weeks.\r\n\r\nEgg shells go in crushed.\r\n",
    "Trips/Oslo.md": "# Oslo\n\nThe night train to Oslo leaves at 23:06 from platform four.\n",
    "Trips/Kyoto.md": "# Kyoto\n\nIn Kyoto we stayed near the Kamo river for nine nights.\n",
    "Kitchen/Sourdough.md": "# Sourdough\n\nAt 17 degrees the sourdough rises for ten hours.\n",
    "Kitchen/Kettle.md": "# Kettle\n\nDescale the kettle with citric acid, two spoons to a litre.\n",
    "Work/Drivers.md": "# Drivers\n\nWe compared C++ and Rust for the sensor driver and chose Rust.\n",
    "Work/Standup.md": "# Standup\n\nThe stand-up is at 9:40, in the small room behind the stairs.\n",
    "Svenska/Svamp.md": "# Svamp\n\nKantareller växer i mossan bakom kvarnen, mest i augusti.\n",
    "Bikes/Chain.md": "# Chain\n\nThe chain of the blue bicycle was changed at 4,100 kilometres.\n",
    "Books/Moby.md": "# Moby\n\nThe whale was borrowed from Dana and has to go back in spring.\n",
    "Private/Health.md": "# Health\n\nCANARY-P the blood pressure was 128 over 82 in October.\n",
}

CONFIG = 'sensitivity:\n  personal_paths: ["Private/**"]\n'

Making = Callable[..., Commands]


@pytest.fixture
def commands(tmp_path: Path, pytestconfig: pytest.Config) -> Making:
    """Make a vault of its own with a data folder that has the model's files; nothing is indexed yet."""

    def make(notes: Mapping[str, str | bytes] = NOTES, *, config: str = CONFIG) -> Commands:
        return _prepared(tmp_path, pytestconfig, notes, config)

    return make


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Commands:
    """A vault that was indexed with vectors. Only read it: it is everybody's."""
    made = _prepared(tmp_path_factory.mktemp("library"), pytestconfig, NOTES, CONFIG)
    said = made("index")
    assert (said.code, said.out.split(";")[0]) == (0, "13 new, 0 changed, 0 deleted, 0 reclassified"), said
    return made


def _prepared(folder: Path, pytestconfig: pytest.Config, notes: Mapping[str, str | bytes], config: str) -> Commands:
    data = folder / "data"
    data.mkdir()
    (data / "models").symlink_to(models_folder(pytestconfig), target_is_directory=True)
    (folder / "settings.yaml").write_text(config, encoding="utf-8")
    return Commands(folder, write(folder / "vault", notes), data, folder / "settings.yaml")
