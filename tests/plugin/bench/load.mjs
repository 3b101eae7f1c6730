// Gives the bench to scripts that run in plain Node: what stands in TypeScript here is bundled and imported.
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
// As deep below the root as this folder, so that what finds the root from its own place finds it from there.
const outfile = new URL("../../../node_modules/.cache/vault-ask-bench/bench.mjs", here).pathname;

await build({
  stdin: {
    contents: `export * from "./daemon"; export * from "./model-server"; export * from "./notes"; export * from "./obsidian"; export * from "./pane"; export * from "./searxng"; export * from "./until";`,
    resolveDir: here.pathname,
    loader: "ts",
  },
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "warning",
});

export const bench = await import(outfile);

/** Start a daemon on an indexed vault, a scripted model and a browser; `end` ends and removes all of it. */
export async function openBench(settings = {}, how = {}) {
  const prepared = bench.prepare(bench.NOTES, how);
  const model = await bench.ModelServer.start();
  const daemon = await bench.Daemon.start(prepared, { ...bench.wordedBy(model.base), ...settings });
  if (settings.VAULTASK_MODELS__GENERATION !== "extractive")
    await daemon.ask("How many kilos of potatoes did the allotment give?");
  const browser = await bench.launch();
  return {
    prepared,
    model,
    daemon,
    browser,
    obsidian: ({ settings: own, ...how } = {}) =>
      bench.Obsidian.open(browser, {
        vault: bench.vaultOf(prepared),
        ...how,
        settings: { address: daemon.address, tokenSecret: "vault-ask-token", ...own },
      }),
    async end() {
      await browser.close();
      await daemon.stop();
      await model.stop();
      bench.discard(prepared);
    },
  };
}
