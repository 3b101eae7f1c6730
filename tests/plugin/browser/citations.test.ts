// From a number in the answer to the line it rests on.
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { NOTE, Pane, tokens } from "../bench/pane";

const bench = useBench();
const CLOCK = "Bench/Zanzibar clockwork.md";
const WINDING = "On which day is the zanzibar clock wound?";

/** Ask about the clock, and give what the first source is. */
async function answered(reply = "On Thursdays [1], see also [1, 2] and [99].", question = WINDING) {
  const app = await bench.obsidian();
  const pane = await Pane.open(app.page);
  bench.model.script(tokens(reply));
  await pane.ask(question);
  return { app, page: app.page, pane, chip: pane.last(".vault-ask-answer a.vault-ask-chip").first() };
}

test("numbers of sources become chips that can be focused, and what no source has is no chip", async () => {
  const { page, pane, chip } = await answered();
  const chips = pane.last(".vault-ask-answer a.vault-ask-chip");
  expect(await chips.evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset["n"]))).toEqual([
    "1",
    "1",
    "2",
  ]);
  const name = await chip.evaluate((el) => {
    const by = el.getAttribute("aria-labelledby");
    return el.getAttribute("aria-label") ?? (by && el.ownerDocument.getElementById(by)?.textContent);
  });
  expect(name).toMatch(/Source 1: Zanzibar clockwork/);
  await chip.focus();
  expect(await page.evaluate(() => document.activeElement?.getAttribute("data-n"))).toBe("1");
});

test("pointing at a chip shows the passage first, then Obsidian's page preview at the heading", async () => {
  const { page, chip } = await answered();
  await chip.hover();
  await page.locator(".vault-ask-peek:visible").filter({ hasText: "wound on Thursdays with eleven turns" }).waitFor();
  const preview = page.locator(`.hover-popover[data-path="${CLOCK}"]`);
  await preview.filter({ hasText: "wound on Thursdays" }).waitFor();
  expect(await preview.textContent()).not.toContain("strikes twice");
  await page.mouse.move(5, 5);
  await page.locator(".vault-ask-peek").waitFor({ state: "hidden" });
  await preview.waitFor({ state: "detached" });
});

test("a click opens the note at the place, in the tab that is open", async () => {
  const { pane, chip } = await answered();
  await chip.click();
  const [opened] = await pane.opened(1);
  expect(opened).toMatchObject({ path: CLOCK, newLeaf: false, created: false });
  // "# Zanzibar clockwork", "", "## Winding", "", and the sentence itself.
  expect(opened?.line).toBe(4);
});

test("a passage is opened at its line, one with a block by the block", async () => {
  const { pane } = await answered("Winding is told [1], striking too [2].", "zanzibar clock strikes twice noon");
  for (const source of await pane.last(".vault-ask-answer a.vault-ask-chip").all()) await source.click();
  const links = (await pane.opened(2)).map((one) => one.linktext);
  expect(links).toEqual(["Bench/Zanzibar clockwork#^winding", expect.stringMatching(/^Bench\/Zanzibar clockwork/)]);
  // The sentence of the block, and the heading that the second passage begins with.
  expect((await pane.opened(2)).map((one) => one.line)).toEqual([4, 10]);
});

test("a passage that was written anew meanwhile is opened at its heading, wherever that stands now", async () => {
  const { page, pane } = await answered("Striking is told [2].", "zanzibar clock strikes twice noon");
  const rewrite = (from: string, to: string) =>
    page.evaluate(
      async ([path, before, after]) => {
        const { vault } = window.bench.app;
        const file = vault.getFileByPath(path ?? "");
        if (file) await vault.modify(file, (await vault.read(file)).replace(before ?? "", after ?? ""));
      },
      [CLOCK, from, to],
    );
  const [was, is] = ["## Striking\n\nThe zanzibar clock strikes twice", "More.\n\nMore.\n\n## Striking\n\nIt rings"];
  await rewrite(was, is);
  try {
    await pane.last("a.vault-ask-chip").click();
    expect(await pane.opened(1)).toMatchObject([
      { path: CLOCK, line: 14, linktext: "Bench/Zanzibar clockwork#Striking" },
    ]);
  } finally {
    await rewrite(is, was);
  }
});

test("with Ctrl, and with the middle button, it opens in a new tab; with Enter in the same", async () => {
  const { page, pane, chip } = await answered();
  await chip.click({ modifiers: ["Control"] });
  await pane.opened(1);
  await chip.click({ button: "middle" });
  await pane.opened(2);
  await chip.focus();
  await page.keyboard.press("Enter");
  expect((await pane.opened(3)).map((one) => one.newLeaf)).toEqual(["tab", "tab", false]);
});

test("the sources stand below with their passages, the cited ones marked, and open as the chips do", async () => {
  const { pane } = await answered();
  const first = pane.last('.vault-ask-source[data-n="1"]');
  expect(await first.getAttribute("data-cited")).not.toBeNull();
  expect(await first.locator(".vault-ask-quote").textContent()).toContain("eleven turns of the brass key");
  expect(await pane.last(".vault-ask-source:not([data-cited])").count()).toBeGreaterThan(0);
  await first.locator("a").first().click();
  expect((await pane.opened(1))[0]?.path).toBe(CLOCK);
});

test("a link of a note in the answer opens its note, and one to nothing is words that make no note", async () => {
  const app = await bench.obsidian();
  const { page } = app;
  // What the daemon lets through of links is its own affair; the pane takes them as they come.
  await app.answerWith("See [[Allotment Plot 27]] and [[Never Written]].");
  const pane = await Pane.open(page, "Welcome.md");
  await pane.ask();
  await pane.last(".vault-ask-answer a.internal-link").filter({ hasText: "Allotment" }).click();
  expect(await pane.opened(1)).toMatchObject([{ path: NOTE, created: false }]);
  await pane.last(".vault-ask-answer").getByText("Never Written").click();
  expect(await page.evaluate(() => window.bench.app.vault.getFileByPath("Never Written.md"))).toBeNull();
});

test("a citation follows a note that is renamed, and says so of one that is deleted, without making it again", async () => {
  const { page, pane, chip } = await answered();
  const move = (from: string, to: string, clicks = false) =>
    chip.evaluate(
      async (el: HTMLElement, how) => {
        const file = window.bench.app.vault.getFileByPath(how.from);
        if (file) await window.bench.app.fileManager.renameFile(file, how.to);
        if (how.clicks) el.click();
      },
      { from, to, clicks },
    );
  try {
    // In one breath: a click need not wait until the pane is drawn again.
    await move(CLOCK, "Bench/Renamed clock.md", true);
    expect(await pane.opened(1)).toMatchObject([{ path: "Bench/Renamed clock.md", created: false }]);
  } finally {
    await move("Bench/Renamed clock.md", CLOCK);
  }
  const text = await page.evaluate(async (path) => {
    const { vault } = window.bench.app;
    const file = vault.getFileByPath(path);
    if (!file) return "";
    const kept = await vault.read(file);
    await vault.delete(file);
    return kept;
  }, CLOCK);
  try {
    await pane.last('.vault-ask-source[data-n="1"][data-gone]').waitFor();
    await chip.click({ force: true });
    expect(await pane.opened(1)).toHaveLength(1);
    expect(await page.evaluate((path) => window.bench.app.vault.getFileByPath(path), CLOCK)).toBeNull();
  } finally {
    await page.evaluate(([path, kept]) => window.bench.app.vault.create(path ?? "", kept ?? ""), [CLOCK, text]);
  }
});

test("what was found through a link of the note in question is marked as that", async () => {
  const app = await bench.obsidian();
  const place = { title: "Hanna Lövgren", heading: null, heading_path: [], block: null, line_start: 5, line_end: 6 };
  const found = {
    ...place,
    n: 1,
    path: "People/Hanna Lövgren.md",
    quote: "Plot 28.",
    url: "obsidian://open",
    score: 0.3,
  };
  await app.answerWith("Ask the neighbour [1].", [
    { ...found, provenance: "expanded", via: NOTE, also: [], personal: false },
  ]);
  const pane = await Pane.open(app.page);
  await pane.command("ask-about-note");
  await pane.ask("Whom can I ask?");
  expect(app.asked.at(-1)?.["note"]).toBe(NOTE);
  expect(await pane.last(".vault-ask-source .vault-ask-via").textContent()).toBe("Found by way of Allotment Plot 27");
});
