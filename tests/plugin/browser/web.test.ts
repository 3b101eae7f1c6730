// The web's part of an answer: under its own heading, with its own numbers, opened by the browser.
import { afterAll, beforeAll, expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { wordedBy } from "../bench/daemon";
import { Pane, tokens } from "../bench/pane";
import { PAGES, Searxng } from "../bench/searxng";

const bench = useBench();
const made = {} as { web: Searxng };

beforeAll(async () => {
  made.web = await Searxng.start();
  await bench.restart({ ...wordedBy(bench.model.base), ...made.web.settings });
});
afterAll(() => made.web.stop());

test("pages stand under a heading of their own, their numbers count them alone, and a click leaves the app", async () => {
  const app = await bench.obsidian();
  bench.model.script(tokens("The plot gave 31 kg [1]."), tokens("Plots like it give 25 to 40 kg [1], see [2]."));
  const pane = await Pane.open(app.page);
  await pane.ask();
  const results = pane.last(".vault-ask-web-result");
  expect(await results.count()).toBe(PAGES.length);
  const web = pane.last(".vault-ask-web");
  expect(await web.textContent()).toContain("Growing potatoes");
  await web.locator(".vault-ask-block").filter({ hasText: "25 to 40 kg" }).waitFor();
  expect(await pane.last(".vault-ask-answer a.vault-ask-webchip").count()).toBe(0);
  const opened = app.context.waitForEvent("page");
  await web.locator("a.vault-ask-webchip").first().click();
  await opened;
  await expect.poll(() => app.foreign).toEqual([PAGES[0]?.url]);
  expect(await pane.opened(0)).toEqual([]);
});

test("with personal notes the web is not asked, and no part of it is shown", async () => {
  const app = await bench.obsidian();
  bench.model.script(tokens("So it is written [1]."));
  const pane = await Pane.open(app.page);
  await pane.ask();
  const asked = made.web.asked.length;
  expect(asked).toBeGreaterThan(0);
  await pane.setPersonal(true);
  await pane.ask("What of my health?");
  expect(made.web.asked).toHaveLength(asked);
  expect(await pane.last(".vault-ask-source").count()).toBeGreaterThan(0);
  expect(await pane.last(".vault-ask-web").isVisible()).toBe(false);
});

test("the words of a selection are not taken to the web", async () => {
  const app = await bench.obsidian();
  bench.model.script(tokens("So it is written [1]."));
  const pane = await Pane.open(app.page, "Home/Bins.md");
  await app.page.locator(".bench-editor").focus();
  await app.page.evaluate(() => window.bench.editor.setSelection({ line: 0, ch: 0 }, { line: 6, ch: 0 }));
  await pane.command("ask-about-selection");
  const before = made.web.asked.length;
  await pane.ask("What is this?");
  const { question, selection } = app.asked.at(-1) ?? {};
  expect([question, String(selection).length > 20]).toEqual(["What is this?", true]);
  const taken = JSON.stringify(made.web.asked.slice(before));
  for (const word of String(selection).match(/\w{6,}/g) ?? []) expect(taken).not.toContain(word);
});
