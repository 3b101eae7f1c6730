// An answer as it arrives: in steps, without touching what is finished, and never after Stop.
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { inSteps, Pane, QUESTION, tokens } from "../bench/pane";
import { until } from "../bench/until";

const bench = useBench();

async function openPane() {
  const app = await bench.obsidian();
  return { app, page: app.page, pane: await Pane.open(app.page) };
}

test("an answer is seen growing, step by step, and is whole at the end", async () => {
  const { pane } = await openPane();
  const { steps, gates } = inSteps("The plot gave", " 31 kg of potatoes [1].");
  bench.model.script(steps);
  await pane.send();
  await pane.last(".vault-ask-question").filter({ hasText: QUESTION }).waitFor();
  await until("the model was asked", () => bench.model.requests.length === 1);
  expect(await pane.last().getAttribute("data-state")).toMatch(/asking|streaming/);
  gates[0]?.open();
  await pane.says("The plot gave");
  expect(await pane.last(".vault-ask-answer").textContent()).not.toContain("31 kg");
  gates[1]?.open();
  await pane.reached("done");
  expect(await pane.last(".vault-ask-answer").textContent()).toContain("The plot gave 31 kg of potatoes");
});

test("a finished block keeps its elements and what is selected in it while the next ones come", async () => {
  const { page, pane } = await openPane();
  const { steps, gates } = inSteps("First block stays.\n\nSecond", " block grows.\n\nThird block.");
  bench.model.script(steps);
  await pane.send();
  gates[0]?.open();
  await pane.says("Second");
  await page.evaluate(() => {
    const first = document.querySelector(".vault-ask-block p") as HTMLElement;
    (window as unknown as Record<string, unknown>)["first"] = first;
    window.getSelection()?.selectAllChildren(first);
  });
  gates[1]?.open();
  await pane.reached("done");
  await pane.says("Third block.");
  const after = await page.evaluate(() => ({
    same: (window as unknown as Record<string, unknown>)["first"] === document.querySelector(".vault-ask-block p"),
    selected: window.getSelection()?.toString(),
  }));
  expect(after).toEqual({ same: true, selected: "First block stays." });
  expect(await pane.last(".vault-ask-answer .vault-ask-block").count()).toBe(3);
});

test("words that come do not carry away a reader who went up, and a button brings them to the newest", async () => {
  const { page, pane } = await openPane();
  const { steps, gates } = inSteps("Line of the answer.\n\n".repeat(60), "The very end.");
  bench.model.script(steps);
  await pane.send();
  gates[0]?.open();
  await pane.says("Line of the answer.");
  const turns = page.locator(".vault-ask-turns");
  await page.waitForFunction(() => {
    const el = document.querySelector(".vault-ask-turns");
    return el !== null && el.scrollHeight > 2 * el.clientHeight && el.scrollTop > 0;
  });
  await turns.hover();
  // Chromium drops a turn of the wheel that meets words being drawn in the same frame; a reader turns it again.
  await until("the reader is at the top", async () => {
    await page.mouse.wheel(0, -5000);
    return turns.evaluate((el) => el.scrollTop === 0);
  });
  gates[1]?.open();
  await pane.reached("done");
  await pane.says("The very end.");
  expect(await turns.evaluate((el) => el.scrollTop)).toBe(0);
  await page.locator(".vault-ask-newest").click();
  await page.waitForFunction(() => {
    const el = document.querySelector(".vault-ask-turns");
    return el !== null && el.scrollTop > el.clientHeight;
  });
});

test("Stop ends the model's work, keeps what was said, and the question can be asked again", async () => {
  const { page, pane } = await openPane();
  bench.model.script(["Some words", "endless:"], tokens("A new answer [1]."));
  await pane.send();
  await pane.says("Some words");
  expect(bench.model.left).toBe(0);
  await page.locator(".vault-ask-stop").click();
  await pane.reached("stopped");
  await until("the model server saw the hang-up", () => bench.model.left === 1);
  expect(await pane.last(".vault-ask-answer").textContent()).toContain("Some words");
  await pane.last(".vault-ask-retry").click();
  await pane.reached("done");
  await pane.says("A new answer");
  expect(await pane.last(".vault-ask-answer").textContent()).not.toContain("Some words");
});

test("closing the pane hangs up as well", async () => {
  const { page, pane } = await openPane();
  bench.model.script(["Some words", "endless:"]);
  await pane.send();
  await pane.says("Some words");
  await page.evaluate(() => window.bench.app.workspace.detachLeavesOfType("vault-ask"));
  await until("the model server saw the hang-up", () => bench.model.left === 1);
  expect(await page.locator(".vault-ask-view").count()).toBe(0);
});

test("a screen reader is told when it answers and when it is done, never each word", async () => {
  const { page, pane } = await openPane();
  await page.evaluate(() => {
    const live = document.querySelector(".vault-ask-live") as HTMLElement;
    const said: string[] = [];
    (window as unknown as Record<string, unknown>)["said"] = said;
    new MutationObserver(() => said.push(live.textContent ?? "")).observe(live, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });
  bench.model.script(tokens("The plot gave 31 kg of potatoes, and more than a few words besides [1]."));
  await pane.ask();
  const said = (await page.evaluate(() => (window as unknown as Record<string, unknown>)["said"])) as string[];
  expect(said.at(-1)).toMatch(/complete|done/i);
  expect(said.length).toBeLessThanOrEqual(3);
  expect(said.join(" ")).not.toContain("potatoes");
  expect(await page.locator(".vault-ask-live").getAttribute("aria-live")).toBe("polite");
});

test("words that are emphasised, listed, tabled and fenced are drawn as Obsidian draws them", async () => {
  const { pane } = await openPane();
  const text =
    "It gave **31 kg** [1].\n\n- one\n- two\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n```python\nprint(1)\n```\n";
  bench.model.script([...text].map((letter) => letter));
  await pane.ask();
  await pane.last(".vault-ask-answer pre code").waitFor();
  expect(await pane.last(".vault-ask-answer strong").textContent()).toBe("31 kg");
  expect(await pane.last(".vault-ask-answer li").allTextContents()).toEqual(["one", "two"]);
  expect(await pane.last(".vault-ask-answer td").allTextContents()).toEqual(["1", "2"]);
  expect(await pane.last(".vault-ask-answer pre code").textContent()).toContain("print(1)");
});
