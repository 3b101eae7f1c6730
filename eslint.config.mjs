// The plugin is linted as Obsidian's review does it; what only builds and tests it is plain Node and browser code.
import js from "@eslint/js";
import obsidianmd from "eslint-plugin-obsidianmd";
import { PlainTextParser } from "eslint-plugin-obsidianmd/dist/lib/plainTextParser.js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

const plugin = ["obsidian-plugin/src/**/*.ts"];
const node = ["*.mjs", "obsidian-plugin/build/**/*.mjs", "tests/plugin/**/*.mjs", "scripts/**/*.mjs"];
const tests = ["tests/plugin/**/*.ts"];
const nodeGlobals = {
  process: "readonly",
  Buffer: "readonly",
  console: "readonly",
  URL: "readonly",
  performance: "readonly",
};

export default defineConfig([
  globalIgnores([
    "obsidian-plugin/dist/",
    "obsidian-plugin/release/",
    "daemon/",
    "data/",
    ".venv/",
    "tests/pouchdb/",
    "tests/vaults/",
  ]),
  {
    files: plugin,
    extends: [obsidianmd.configs.recommended, tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: "obsidian-plugin/tsconfig.json", tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "obsidianmd/prefer-active-doc": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // The daemon's answers are checked where they come in; a switch over `type` ends where the types do.
      "@typescript-eslint/switch-exhaustiveness-check": "error",
    },
  },
  {
    files: ["manifest.json"],
    plugins: { obsidianmd },
    languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: [".json"] } },
    rules: { "obsidianmd/validate-manifest": "error" },
  },
  {
    files: ["LICENSE"],
    plugins: { obsidianmd },
    languageOptions: { parser: PlainTextParser },
    rules: { "obsidianmd/validate-license": "error" },
  },
  { files: node, extends: [js.configs.recommended], languageOptions: { globals: nodeGlobals } },
  { files: tests, extends: [tseslint.configs.recommended] },
]);
