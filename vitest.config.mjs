// The plugin's tests: `unit` runs its pure parts in Node, `browser` the built main.js in Chromium against a real daemon.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["tests/plugin/unit/**/*.test.ts"],
          environment: "node",
        },
      },
      {
        test: {
          name: "browser",
          include: ["tests/plugin/browser/**/*.test.ts"],
          environment: "node",
          globalSetup: "tests/plugin/bench/setup.ts",
          // One daemon, one browser: what is measured in one file must not be slowed down by another.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
