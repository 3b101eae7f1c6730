// Writes obsidian-plugin/src/wire.ts from shared-schema/wire.schema.json; with --check writes nothing and fails on a
// difference.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const schemaFile = new URL("../../shared-schema/wire.schema.json", import.meta.url);
const typesFile = new URL("../src/wire.ts", import.meta.url);
const BANNER =
  "// Generated from shared-schema/wire.schema.json by `npm run types`; never edited.\n// Requests are as the daemon reads them, all else as it writes it.";

const schema = JSON.parse(await readFile(schemaFile, "utf8"));
const types = await compile({ ...schema, title: "Wire", additionalProperties: false }, "Wire", {
  additionalProperties: false,
  bannerComment: BANNER,
  // Lengths are the daemon's to check: as tuple types they would be unions of fifty.
  ignoreMinAndMaxItems: true,
  unreachableDefinitions: true,
  style: { printWidth: 120 },
});
const present = await readFile(typesFile, "utf8").catch(() => "");
if (present !== types) {
  if (process.argv.includes("--check")) {
    console.error("obsidian-plugin/src/wire.ts is not what shared-schema says. Run `npm run types` and commit it.");
    process.exit(1);
  }
  await writeFile(typesFile, types);
  console.log(`wrote ${fileURLToPath(typesFile)}`);
}
