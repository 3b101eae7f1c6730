// The pane among the rest of the app: the open note beside it, other windows, deferred tabs, and what is left of it.
import { renameSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { vaultOf } from "../bench/daemon";
import { Gate } from "../bench/model-server";
import { inSteps, NOTE, Pane, tokens } from "../bench/pane";
import { until } from "../bench/until";

const bench = useBench();

async function openPane(note: string | null = NOTE) {
  const app = await bench.obsidian();
  bench.model.script(tokens("The plot gave 31 kg [1]."));
  return { app, page: app.page, pane: await Pane.open(app.page, note) };
}

test("notes near the open one stand in the idle pane, with why, and open on a click", async () => {
  const { page, pane } = await openPane();
  const related = page.locator(".vault-ask-related-note");
  await related.first().waitFor();
  const words = await page.locator(".vault-ask-related").textContent();
  expect(words).toContain("Growing in the North");
  expect(words).not.toContain("Allotment Plot 27");
  await related.filter({ hasText: "Growing in the North" }).click();
  expect((await pane.opened(1))[0]).toMatchObject({ path: "Topics/Growing in the North.md", created: false });
});

test("the open note is followed: another note has other neighbours, and a side view is no note", async () => {
  const { page } = await openPane();
  const list = page.locator(".vault-ask-related");
  await list.filter({ hasText: "Growing in the North" }).waitFor();
  await page.evaluate(() => window.bench.openNote("Recipes/Pickled Beetroot.md"));
  await list.filter({ hasText: "Fermentation" }).waitFor();
  await page.locator(".vault-ask-composer textarea").click();
  expect(await list.textContent()).toContain("Fermentation");
});

test("the open note is said to be indexed, to wait once it is changed, and to be indexed again when it is", async () => {
  const path = "Bench/Fresh.md";
  const place = join(vaultOf(bench.prepared), path);
  // Written long enough ago that the change below is no other reading of the same time, and seen by the daemon as such.
  const draft = join(vaultOf(bench.prepared), ".fresh");
  const before = Date.now() / 1000 - 60;
  writeFileSync(draft, "# Fresh\n\nThe fresh note speaks of quinces.\n");
  utimesSync(draft, before, before);
  renameSync(draft, place);
  const { page } = await openPane(path);
  const freshness = page.locator(".vault-ask-freshness");
  await freshness.filter({ hasText: /^indexed/i }).waitFor();
  // Written by the app on this device, and for a moment known to nobody else; a busy machine may look away meanwhile.
  await page.evaluate(() => {
    const { editor } = window.bench;
    const { body } = document;
    const note = () => {
      body.dataset["said"] += `\n${document.querySelector(".vault-ask-freshness")?.textContent ?? ""}`;
    };
    body.dataset["said"] = "";
    new MutationObserver(note).observe(body, { childList: true, characterData: true, subtree: true });
    editor.setValue(`${editor.getValue()}\nAnd of medlars.\n`);
  });
  await page.waitForFunction(() => /wait|not indexed yet/i.test(document.body.dataset["said"] ?? ""));
  await freshness.filter({ hasText: /^indexed/i }).waitFor();
});

test("what changed before the daemon's events could be heard is asked for once they are", async () => {
  const path = "Home/Bins.md";
  const app = await bench.obsidian();
  const { page } = app;
  const gate = new Gate();
  await page.route("**/api/events*", async (route) => {
    await gate.opened;
    await route.fallback();
  });
  await Pane.open(page, path);
  const freshness = page.locator(".vault-ask-freshness");
  await freshness.filter({ hasText: /^indexed/i }).waitFor();
  const before = await page.evaluate(() => {
    const { editor } = window.bench;
    const text = editor.getValue();
    editor.setValue(`${text}\nThe quincebox is blue.\n`);
    return text;
  });
  await until("the daemon has the new words", async () => {
    const note = await bench.daemon.get(`/api/notes/${encodeURIComponent(path)}`);
    return ((await note.json()) as { text: string }).text.includes("quincebox");
  });
  await freshness.filter({ hasNotText: /^indexed/i }).waitFor();
  gate.open();
  await freshness.filter({ hasText: /^indexed/i }).waitFor();
  await page.evaluate((text) => window.bench.editor.setValue(text), before);
});

test("switched off in the middle of an answer it hangs up, leaves nothing, and switched on again it works", async () => {
  const { app, page, pane } = await openPane();
  const clean = await page.evaluate(() => {
    const { events, styles } = window.bench.leftovers();
    return { events, styles };
  });
  bench.model.script(["Some words", "endless:"], tokens("The plot gave 31 kg [1]."));
  await pane.send();
  await pane.says("Some words");
  await pane.last(".vault-ask-question").hover();
  await page.evaluate(() => window.bench.disable());
  await expect.poll(() => bench.model.left).toBe(1);
  const left = await page.evaluate(() => window.bench.leftovers());
  expect(clean.events).toBeGreaterThan(0);
  expect(left).toMatchObject({
    commands: 0,
    views: 0,
    tabs: 0,
    protocol: 0,
    sources: 0,
    events: 0,
    ribbon: 0,
    leaves: 0,
    elements: 0,
    overlays: 0,
  });
  expect(left["styles"]).toBe((clean.styles ?? 0) - 1);
  await app.enable();
  const again = await Pane.open(page);
  await again.ask();
  expect(app.errors).toEqual([]);
});

test("a tab in the background makes no pane until it is looked at, and commands do not fail on it", async () => {
  const app = await bench.obsidian();
  bench.model.script(tokens("The plot gave 31 kg [1]."));
  const deferred = await app.page.evaluate(async () => {
    const leaf = await window.bench.app.workspace.ensureSideLeaf("vault-ask", "right", { reveal: false });
    await window.bench.command("vault-ask:toggle-personal");
    await window.bench.command("vault-ask:toggle-personal");
    return { deferred: leaf.isDeferred, panes: document.querySelectorAll(".vault-ask-view").length };
  });
  expect(deferred).toEqual({ deferred: true, panes: 0 });
  const pane = await Pane.open(app.page);
  expect(await app.page.locator(".vault-ask-view").count()).toBe(1);
  await pane.ask();
});

test("a hidden pane leaves the daemon alone, and catches up when it is shown", async () => {
  const { page } = await openPane();
  await page.locator('.vault-ask-standing[data-level="good"]').waitFor();
  const ended = page.waitForEvent("requestfailed", (request) => request.url().includes("/api/events"));
  await page.evaluate(() => window.bench.app.workspace.rightSplit.collapse());
  expect((await ended).failure()?.errorText).toContain("ABORTED");
  const begun = page.waitForRequest((request) => request.url().includes("/api/events"));
  await page.evaluate(() => window.bench.app.workspace.rightSplit.expand());
  await begun;
});

async function popOut(page: Page): Promise<Page> {
  const opened = page.context().waitForEvent("page");
  await page.evaluate(() => {
    const [leaf] = window.bench.app.workspace.getLeavesOfType("vault-ask");
    if (leaf) window.bench.app.workspace.moveLeafToPopout(leaf);
  });
  return opened;
}

test("in a window of its own the pane asks, streams, opens links and closes as in the app's", async () => {
  const { app, page, pane } = await openPane();
  await pane.ask();
  const popup = await popOut(page);
  await popup.locator(".vault-ask-view .vault-ask-answer").filter({ hasText: "31 kg" }).waitFor();
  const { steps, gates } = inSteps("First block.\n\nSecond", " block [1].");
  bench.model.script(steps);
  const box = popup.locator(".vault-ask-composer textarea");
  await box.fill("And the garlic?");
  await box.press("Enter");
  gates[0]?.open();
  await popup.locator(".vault-ask-turn").last().locator(".vault-ask-answer").filter({ hasText: "Second" }).waitFor();
  gates[1]?.open();
  await popup.locator('.vault-ask-turn[data-state="done"]').nth(1).waitFor();
  const chip = popup.locator(".vault-ask-turn").last().locator("a.vault-ask-chip");
  await chip.hover();
  await popup.locator(".vault-ask-peek:visible").waitFor();
  await popup.locator(".hover-popover").waitFor();
  await chip.click();
  await pane.opened(1);
  expect(await page.locator("[class*=vault-ask]").count()).toBe(0);
  await box.press("Escape");
  expect(app.errors).toEqual([]);
});

test("the plugin asks nothing of Obsidian that the stand-in lacks, and logs no error", async () => {
  const { app, page, pane } = await openPane();
  await pane.ask();
  await pane.command("index-status");
  await page.locator(".notice").waitFor();
  expect(app.errors).toEqual([]);
});
