"""Everything the owner's settings say of what is personal reaches the rules that notes are judged by."""

from pathlib import Path

from journeys.houses import settings_for
from vault_ask.composition.parts import make_rules
from vault_ask.notes.model import FrontmatterState
from vault_ask.scope import Sensitivity


def judged(
    folder: Path, path: str = "N.md", tags: tuple[str, ...] = (), key: str = "", **sensitivity: object
) -> Sensitivity:
    front = {key: "personal"} if key else {}
    state = FrontmatterState.READ if key else FrontmatterState.NONE
    return make_rules(settings_for(folder, sensitivity=sensitivity)).classify(path, None, front, state, tags)


def test_paths_tags_key_and_default_of_the_settings_count(tmp_path: Path) -> None:
    assert judged(tmp_path) is Sensitivity.OPEN
    assert judged(tmp_path, "Diary/Jan.md", personal_paths=["Diary"]) is Sensitivity.PERSONAL
    assert judged(tmp_path, tags=("health/teeth",), personal_tags=["#health"]) is Sensitivity.PERSONAL
    assert judged(tmp_path, key="secrecy", frontmatter_key="secrecy") is Sensitivity.PERSONAL
    assert judged(tmp_path, default="personal") is Sensitivity.PERSONAL
