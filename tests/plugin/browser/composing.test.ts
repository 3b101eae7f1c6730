// The question box, the commands and menus that lead to it, and addresses from elsewhere.
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { NOTE, Pane, QUESTION, tokens } from "../bench/pane";

const bench = useBench();

async function openPane(note: string | null = NOTE) {
  const app = await bench.obsidian();
  bench.model.script(tokens("The plot gave 31 kg [1]."));
  return { app, page: app.page, pane: await Pane.open(app.page, note) };
}

test("Enter sends, Shift with Enter makes a new line, and nothing is sent of an empty box", async () => {
  const { app, pane } = await openPane();
  await pane.box.press("Enter");
  await pane.box.fill("First line");
  await pane.box.press("Shift+Enter");
  await pane.box.pressSequentially("second line");
  expect(await pane.box.inputValue()).toBe("First line\nsecond line");
  expect(app.asked).toHaveLength(0);
  await pane.box.press("Enter");
  await pane.reached("done");
  expect(app.asked.map((one) => one["question"])).toEqual(["First line\nsecond line"]);
  expect(await pane.box.inputValue()).toBe("");
});

test("Enter that chooses a word of an input method does not send; the one after it does", async () => {
  const { app, page, pane } = await openPane();
  await pane.box.focus();
  const keys = await app.context.newCDPSession(page);
  await keys.send("Input.imeSetComposition", { text: "じゃがいも", selectionStart: 5, selectionEnd: 5 });
  expect(await pane.box.inputValue()).toBe("じゃがいも");
  const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13 };
  await keys.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...enter });
  await keys.send("Input.dispatchKeyEvent", { type: "keyUp", ...enter });
  await keys.send("Input.insertText", { text: "じゃがいもは?" });
  expect(await page.locator(".vault-ask-turn").count()).toBe(0);
  expect(await pane.box.inputValue()).toBe("じゃがいもは?");
  await pane.box.press("Enter");
  await pane.reached("done");
  expect(app.asked.map((one) => one["question"])).toEqual(["じゃがいもは?"]);
});

test("an input method of Safari, which tells by the key code alone, does not send either", async () => {
  const { app, page, pane } = await openPane();
  await pane.box.fill("감자");
  await pane.box.dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
  expect(await page.locator(".vault-ask-turn").count()).toBe(0);
  await pane.box.press("Enter");
  await pane.reached("done");
  expect(app.asked).toHaveLength(1);
});

test("Esc stops the answer that is coming", async () => {
  const { pane } = await openPane();
  bench.model.script(["Some words", "endless:"]);
  await pane.send();
  await pane.says("Some words");
  await pane.box.press("Escape");
  await pane.reached("stopped");
});

test("Ask about this note puts its name into the box as a chip that can be taken out", async () => {
  const { app, page, pane } = await openPane();
  await pane.command("ask-about-note");
  const chip = page.locator(".vault-ask-note-chip");
  await chip.filter({ hasText: "Allotment Plot 27" }).waitFor();
  await pane.ask();
  expect(app.asked.at(-1)?.["note"]).toBe(NOTE);
  await chip.locator(".vault-ask-remove").click();
  expect(await chip.count()).toBe(0);
  await pane.ask();
  expect(app.asked.at(-1)?.["note"] ?? null).toBeNull();
});

test("Ask about the selection is offered only for one, and sends the words once", async () => {
  const { app, page, pane } = await openPane();
  await page.evaluate(() => window.bench.openNote("Reference/House Rules for Guests.md"));
  await page.locator(".bench-editor").focus();
  expect(await pane.offered("ask-about-selection")).toBe(false);
  const words = await page.evaluate(() => {
    const { editor } = window.bench;
    const line = editor
      .getValue()
      .split("\n")
      .findIndex((text) => text.length > 40);
    editor.setSelection({ line, ch: 0 }, { line, ch: 30 });
    return editor.getSelection();
  });
  expect(await pane.offered("ask-about-selection")).toBe(true);
  await pane.command("ask-about-selection");
  await page.locator(".vault-ask-selection-chip").waitFor();
  await pane.ask("What does this mean?");
  expect(JSON.stringify(app.asked.at(-1))).toContain(words.trim().slice(0, 20));
  expect(app.asked.at(-1)?.["note"]).toBe("Reference/House Rules for Guests.md");
  expect(await page.locator(".vault-ask-selection-chip").count()).toBe(0);
});

test("selected words of a personal note reach no model while personal notes stay out", async () => {
  const { app, page, pane } = await openPane();
  await page.evaluate(() => window.bench.openNote("Personal/Therapy.md"));
  await page.locator(".bench-editor").focus();
  await page.evaluate(() => window.bench.editor.setSelection({ line: 0, ch: 0 }, { line: 8, ch: 0 }));
  await pane.command("ask-about-selection");
  const before = bench.model.requests.length;
  await pane.send("What does this mean?");
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-error").textContent()).toMatch(/selected words were not used/);
  expect(app.asked.at(-1)).toMatchObject({ question: "What does this mean?", include_personal: false });
  expect(bench.model.requests).toHaveLength(before);
});

test("every command is there, and those that need something are offered only with it", async () => {
  const { page, pane } = await openPane();
  const names = await page.evaluate(() => [...window.bench.app.benchCommands.keys()].sort());
  const ids = [
    "ask",
    "ask-about-note",
    "ask-about-selection",
    "copy-answer",
    "index-status",
    "insert-answer",
    "new-question",
    "stop",
    "toggle-personal",
  ];
  expect(names).toEqual(ids.map((id) => `vault-ask:${id}`));
  expect(await pane.offered("stop")).toBe(false);
  expect(await pane.offered("insert-answer")).toBe(false);
  bench.model.script(["Some words", "endless:"]);
  await pane.send();
  await pane.says("Some words");
  expect(await pane.offered("stop")).toBe(true);
  await pane.command("stop");
  await pane.reached("stopped");
});

test("Re-index status tells how the daemon stands in a notice", async () => {
  const { page, pane } = await openPane();
  await pane.command("index-status");
  const notice = page.locator(".notice");
  await notice.waitFor();
  expect(await notice.textContent()).not.toBe("");
});

test("New question empties the pane, and takes the note out of the box", async () => {
  const { page, pane } = await openPane();
  await pane.command("ask-about-note");
  await pane.ask();
  await pane.command("new-question");
  await page.locator(".vault-ask-turn").waitFor({ state: "detached" });
  expect(await page.locator(".vault-ask-note-chip").count()).toBe(0);
  expect(await pane.box.evaluate((el) => el.ownerDocument.activeElement === el)).toBe(true);
});

test("the menus of a note and of its editor lead to the box, and the ribbon too", async () => {
  const { page, pane } = await openPane();
  await page.evaluate(() => window.bench.menu("file-menu", "Home/Bins.md"));
  await page.locator(".menu-item").filter({ hasText: "Ask about this note" }).click();
  await page.locator(".vault-ask-note-chip").filter({ hasText: "Bins" }).waitFor();
  await page.locator(".bench-editor").focus();
  await page.evaluate(() => window.bench.editor.setSelection({ line: 0, ch: 0 }, { line: 7, ch: 4 }));
  await page.evaluate(() => window.bench.menu("editor-menu"));
  await page.locator(".menu-item").filter({ hasText: "Ask about the selection" }).click();
  await page.locator(".vault-ask-selection-chip").waitFor();
  await page.evaluate(() => window.bench.app.workspace.rightSplit.collapse());
  await page.locator(".side-dock-ribbon-action").click();
  await pane.box.waitFor();
});

test("an obsidian:// address fills the box, and never sends nor touches the switch", async () => {
  const { app, page, pane } = await openPane();
  await page.evaluate((question) => {
    const given = new URLSearchParams({
      question,
      note: "Home/Bins.md",
      include_personal: "true",
      personal: "1",
      send: "true",
    });
    return window.bench.protocol(`obsidian://vault-ask?${given}`);
  }, QUESTION);
  await page.waitForFunction(
    (text) => document.querySelector<HTMLTextAreaElement>(".vault-ask-composer textarea")?.value === text,
    QUESTION,
  );
  await page.locator(".vault-ask-note-chip").filter({ hasText: "Bins" }).waitFor();
  expect(await page.locator(".vault-ask-turn").count()).toBe(0);
  expect(await pane.personal.getAttribute("aria-checked")).toBe("false");
  await pane.box.press("Enter");
  await pane.reached("done");
  expect(app.asked).toMatchObject([{ question: QUESTION, note: "Home/Bins.md", include_personal: false }]);
});
