// What stays of an answer: in the note, on the clipboard, in the history and in the next question.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { vaultOf } from "../bench/daemon";
import { NOTE, Pane, QUESTION, tokens } from "../bench/pane";
import { until } from "../bench/until";

const bench = useBench();

async function answered(note = NOTE, reply = "The plot gave **31 kg** [1].", question = QUESTION) {
  const app = await bench.obsidian();
  bench.model.script(tokens(reply));
  const pane = await Pane.open(app.page, note);
  await pane.ask(question);
  return { app, page: app.page, pane };
}

/** An answer from a question that one note alone says something on. */
const aboutTheClock = (note = NOTE) =>
  answered(note, "On **Thursdays** [1].", "On which day is the zanzibar clock wound?");

const onDisk = (path: string) => readFileSync(join(vaultOf(bench.prepared), path), "utf8");

test("an answer is written into the note only on the click, at the cursor, with links in place of numbers", async () => {
  const path = "Home/Bins.md";
  const before = onDisk(path);
  const { page, pane } = await aboutTheClock(path);
  expect(onDisk(path)).toBe(before);
  await page.evaluate(() => window.bench.editor.setCursor({ line: 0, ch: 0 }));
  await pane.last(".vault-ask-insert").click();
  await until("the note was written", () => onDisk(path) !== before);
  try {
    const inserted = onDisk(path).slice(0, -before.length);
    expect(onDisk(path).endsWith(before)).toBe(true);
    expect(inserted).toContain("On **Thursdays**");
    expect(inserted).toMatch(/\[\[Bench\/Zanzibar clockwork#?[^\]]*\]\]/);
    expect(inserted).not.toContain("[1].");
  } finally {
    await page.evaluate((text) => window.bench.editor.setValue(text), before);
    await until("the note is as it was", () => onDisk(path) === before);
  }
});

test("Copy answer with citations puts links and a list of sources on the clipboard", async () => {
  const { page, pane } = await aboutTheClock();
  await pane.command("copy-answer");
  await until("it was copied", () => page.evaluate(async () => (await navigator.clipboard.readText()) !== ""));
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("On **Thursdays**");
  expect(copied.match(/\[\[Bench\/Zanzibar clockwork/g)?.length).toBeGreaterThanOrEqual(2);
});

test("a follow-up sends what was said before, each turn marked with whether personal notes took part", async () => {
  const { app, pane } = await answered();
  await pane.ask("And how many heads of garlic?");
  expect(app.asked.at(-1)?.["history"]).toEqual([
    { role: "user", text: QUESTION, personal: false },
    { role: "assistant", text: expect.stringContaining("31 kg") as unknown, personal: false },
  ]);
  await pane.setPersonal(true);
  await pane.ask("What of my health?");
  await pane.setPersonal(false);
  await pane.ask("And the beans?");
  const last = app.asked.at(-1) as { history: { role: string; personal: boolean }[] };
  expect(last.history.at(-1)).toMatchObject({ role: "assistant", personal: true });
});

test("a conversation survives a restart of the app, is found in the list, and can be gone on with", async () => {
  const { app, page } = await answered();
  await app.start();
  const pane = await Pane.open(page);
  await page.locator("[aria-label='Earlier questions']").first().click();
  await page.locator(".vault-ask-history").getByText(QUESTION).click();
  await pane.says("31 kg");
  expect(await pane.last("a.vault-ask-chip").count()).toBe(1);
  await pane.ask("And the garlic?");
  expect(app.asked.at(-1)?.["history"]).toHaveLength(2);
});

test("no words of a conversation are in the settings, the layout or the vault, where they would be synced or indexed", async () => {
  const { app, page, pane } = await answered();
  await pane.startNew();
  await page.evaluate(() => window.bench.app.workspace.benchSaveLayout());
  const layout = await page.evaluate(() => localStorage.getItem("bench-layout"));
  expect(layout).toContain("vault-ask");
  expect(layout).not.toMatch(/potatoes|31 kg/);
  expect(app.data).not.toMatch(/potatoes|31 kg/);
  expect(await page.evaluate(() => JSON.stringify(window.bench.app.loadLocalStorage("vault-ask-history")))).toContain(
    "potatoes",
  );
});

test("a conversation that is forgotten is gone for good", async () => {
  const { app, page, pane } = await answered();
  await pane.startNew();
  await page.locator("[aria-label='Earlier questions']").first().click();
  await page.locator(".vault-ask-history").getByText(QUESTION).waitFor();
  await page.locator(".vault-ask-history .vault-ask-forget").click();
  await page.locator(".vault-ask-history").getByText(QUESTION).waitFor({ state: "detached" });
  expect(
    await page.evaluate(() => JSON.stringify(window.bench.app.loadLocalStorage("vault-ask-history"))),
  ).not.toContain("potatoes");
  expect(app.errors).toEqual([]);
});
