#!/usr/bin/env python3
"""Writes shared-schema/*.json from wire.py and settings; with --check writes nothing and fails on a difference.

Messages to the daemon are described as it reads them (what has a default may be left out), messages from it as it
writes them (every field is there). Titles are left out: a generator of TypeScript would make a name of each.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from vault_ask.settings import Settings
from vault_ask.settings.loading import SECRETS
from vault_ask.wire import WireRoot

FOLDER = Path(__file__).resolve().parent.parent / "shared-schema"
DIALECT = GenerateJsonSchema.schema_dialect


class Schema(GenerateJsonSchema):
    """pydantic's generator, for which a field with a default is still a field that is always written."""

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ANN401, FBT001 - pydantic's signature
        """Say whether a reader may count on this field."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def wire_schema() -> dict[str, Any]:
    """Describe every message; the properties of the root are those of WireRoot."""
    inputs = [
        (name, _mode(name), TypeAdapter(Annotated[field.annotation, field]))
        for name, field in WireRoot.model_fields.items()
    ]
    found, rest = TypeAdapter.json_schemas(inputs, schema_generator=Schema)
    properties = {name: found[name, _mode(name)] for name in WireRoot.model_fields}
    return _without_titles({"$schema": DIALECT, "description": WireRoot.__doc__, "properties": properties} | rest)


def config_schema() -> dict[str, Any]:
    """Describe config.yaml: everything may be left out, and secrets have no place in it."""
    schema = Settings.model_json_schema(mode="validation")
    for place in SECRETS.values():
        _take_out(schema, schema, place)
    return _without_titles({"$schema": DIALECT} | schema)


def _take_out(schema: dict[str, Any], section: dict[str, Any], place: tuple[str, ...]) -> None:
    """Remove a setting from its section, and its null from the defaults of the sections around it."""
    name, *below = place
    if not below:
        del section["properties"][name]
        return
    field = section["properties"][name]
    _without(field.get("default", {}), below)
    _take_out(schema, schema["$defs"][field["$ref"].rpartition("/")[2]], tuple(below))


def _without(default: dict[str, Any], place: Sequence[str]) -> None:
    for part in place[:-1]:
        default = default.get(part, {})
    default.pop(place[-1], None)


def main() -> int:
    """Write both files, or compare; the exit status is 1 when a file is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not current")
    check = parser.parse_args().check
    files = {"wire.schema.json": wire_schema(), "config.schema.json": config_schema()}
    return max([_settle(FOLDER / name, schema, check=check) for name, schema in files.items()])


def _settle(file: Path, schema: dict[str, Any], *, check: bool) -> int:
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print(f"shared-schema/{file.name} is not what the code says. Run scripts/generate_schema.py and commit it.")
        return 1
    file.write_text(text, encoding="utf-8")
    print(f"wrote shared-schema/{file.name}")
    return 0


def _mode(name: str) -> JsonSchemaMode:
    return "validation" if name.endswith("_request") else "serialization"


def _without_titles(node: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    # A property may be named `title`; its value is a schema, while a title is a string.
    return {
        key: _without_titles(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))
    }


if __name__ == "__main__":
    sys.exit(main())
