// Takes docs/screenshots: the built plugin in each of its states. node scripts/shoot_plugin.mjs [NAME…] [--out DIR]
/* global window, setTimeout */
import { mkdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import { bench, openBench } from "../tests/plugin/bench/load.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { out: { type: "string", default: new URL("../docs/screenshots", import.meta.url).pathname } },
});

const QUESTION = "How many kilos of potatoes did the allotment give in 2026?";
const ANSWER =
  "The allotment gave **31 kg** of potatoes, four rows of them in bed A [1].\n\n" +
  "- Garlic: 84 cloves were planted, 79 heads harvested [1]\n- Beans: two freezer drawers [1, 2]\n\n" +
  "Next year the potatoes move on to bed B.";
const HALF = "The allotment gave **31 kg** of potatoes, four rows of them in bed A [1].\n\n- Garlic: 84 cloves were";

/** Opened when the first half of an answer is seen. */
const half = new bench.Gate();

/** Each picture: how the window is opened, and what is done in it until there is something to see. */
const PICTURES = {
  empty: { note: null },
  related: { act: ({ page }) => page.locator(".vault-ask-related-note").first().waitFor() },
  asking: { reply: ["silence:"], act: (at) => at.pane.send(QUESTION).then(() => at.asked()) },
  streaming: {
    reply: [...bench.tokens(HALF), "silence:"],
    act: (at) => at.pane.send(QUESTION).then(() => at.pane.says("84 cloves were")),
  },
  done: { act: (at) => at.pane.ask(QUESTION) },
  peek: {
    act: async (at) => {
      await at.pane.ask(QUESTION);
      // As where Obsidian's page preview is switched off, which would come to lie over it.
      await at.page.evaluate(() => window.bench.app.workspace.benchSources.clear());
      await at.pane.last("a.vault-ask-chip").first().hover();
      await at.page.locator(".vault-ask-peek:visible").waitFor();
    },
  },
  preview: {
    whole: true,
    act: async (at) => {
      await at.pane.ask(QUESTION);
      await at.pane.last("a.vault-ask-chip").first().hover();
      await at.page.locator(".hover-popover").waitFor();
    },
  },
  silent: { act: (at) => at.pane.ask("What is the capital of Mongolia?") },
  stopped: {
    reply: [...bench.tokens(HALF), "silence:"],
    act: async (at) => {
      await at.pane.send(QUESTION);
      await at.pane.says("84 cloves were");
      await at.page.locator(".vault-ask-stop").click();
      await at.pane.reached("stopped");
    },
  },
  error: {
    reply: [...bench.tokens(HALF), { wait: half }, "reset:"],
    act: async (at) => {
      await at.pane.send(QUESTION);
      await at.pane.says("84 cloves were");
      half.open();
      await at.pane.reached("failed");
    },
  },
  unreachable: {
    settings: { address: "http://127.0.0.1:9" },
    act: async (at) => {
      await at.pane.send(QUESTION);
      await at.pane.reached("failed");
      await at.page.locator('.vault-ask-standing[data-level="bad"]').waitFor();
    },
  },
  "token-refused": {
    settings: { tokenSecret: "" },
    act: async (at) => {
      await at.pane.send(QUESTION);
      await at.pane.reached("failed");
      await at.page.locator('.vault-ask-standing[data-level="bad"]').waitFor();
    },
  },
  "streaming-blocked": { blocked: true, act: (at) => at.pane.ask(QUESTION) },
  web: {
    web: true,
    reply: bench.tokens(ANSWER),
    second: bench.tokens("Plots of that size give 25 to 40 kg [1]; they are planted when the birch is in leaf [2]."),
    act: async (at) => {
      await at.pane.ask(QUESTION);
      await at.pane.last(".vault-ask-web").scrollIntoViewIfNeeded();
    },
  },
  "personal-on": {
    reply: bench.tokens("You wrote that sleep was the hardest part of the spring [1]."),
    act: async (at) => {
      await at.pane.setPersonal(true);
      await at.pane.ask("What did I write about my health?");
    },
  },
  "note-chip": {
    act: async (at) => {
      await at.pane.command("ask-about-note");
      await at.page.locator(".bench-editor").focus();
      await at.page.evaluate(() => window.bench.editor.setSelection({ line: 7, ch: 0 }, { line: 7, ch: 60 }));
      await at.pane.command("ask-about-selection");
      await at.pane.box.fill("What does this cost a year?");
    },
  },
  history: {
    act: async (at) => {
      for (const question of [QUESTION, "Vilken nöt tål Åsa inte?", "كم كيلو من البطاطس؟"]) {
        await at.pane.startNew();
        await at.pane.ask(question);
      }
      await at.page.locator("[aria-label='Earlier questions']").first().click();
      await at.page.locator(".vault-ask-history").waitFor();
    },
  },
  settings: { whole: true, act: ({ page }) => page.evaluate(() => window.bench.settings("vault-ask")) },
  "settings-wrong": {
    whole: true,
    act: async ({ page }) => {
      await page.evaluate(() => window.bench.settings("vault-ask"));
      await page.locator(".mod-settings input[type=text]").first().fill("ftp://nas");
      await page.locator(".setting-item-error").waitFor();
    },
  },
  indexing: { index: false, act: ({ page }) => page.locator(".vault-ask-standing progress:visible").waitFor() },
  quotes: { extractive: true, act: (at) => at.pane.ask(QUESTION) },
  phone: { phone: true, act: (at) => at.pane.ask(QUESTION) },
  "phone-dark": {
    phone: true,
    theme: "dark",
    act: ({ page }) => page.locator(".vault-ask-related-note").first().waitFor(),
  },
  dark: { theme: "dark", act: (at) => at.pane.ask(QUESTION) },
  whole: { whole: true, act: (at) => at.pane.ask(QUESTION) },
};

async function shoot(opened, name, picture) {
  const {
    note = "Projects/Allotment Plot 27.md",
    theme,
    phone,
    settings = {},
    reply = bench.tokens(ANSWER),
    second,
  } = picture;
  const app = await opened.obsidian({ theme, phone, settings });
  if (picture.blocked) await app.blockStreaming();
  opened.model.script(...(second ? [reply, second] : [reply]));
  const pane = await bench.Pane.open(app.page, note);
  const asked = () => bench.until("the model was asked", () => opened.model.requests.length > 0);
  await picture.act?.({ page: app.page, pane, asked, opened });
  // Whatever still moves comes to rest.
  await app.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 400)));
  const target = picture.whole || phone ? app.page : app.page.locator(".mod-right-split");
  await target.screenshot({ path: `${values.out}/${name}.png`, animations: "disabled", caret: "hide" });
  if (app.errors.length > 0) console.error(name, app.errors);
  await app.close();
  console.log(name);
}

/** One daemon for all pictures that can share it. */
async function shootAll(names, settings, how) {
  if (names.length === 0) return;
  const opened = await openBench(settings, how);
  try {
    for (const name of names) await shoot(opened, name, PICTURES[name]);
  } finally {
    await opened.end();
  }
}

const wanted = positionals.length > 0 ? positionals : Object.keys(PICTURES);
const kindOf = ({ web, extractive, index }) =>
  web ? "web" : extractive ? "extractive" : index === false ? "fresh" : "usual";
const of = (kind) => wanted.filter((name) => kindOf(PICTURES[name]) === kind);
await mkdir(values.out, { recursive: true });
await shootAll(of("usual"));
await shootAll(of("extractive"), { VAULTASK_MODELS__GENERATION: "extractive" });
await shootAll(of("fresh"), {}, { index: false });
if (of("web").length > 0) {
  const web = await bench.Searxng.start();
  await shootAll(of("web"), web.settings);
  await web.stop();
}
