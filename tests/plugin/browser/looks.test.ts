// How it looks to those who see little, hear it, or hold a phone.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import type { Window } from "../bench/obsidian";
import { Pane, tokens } from "../bench/pane";

const bench = useBench();
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const REPLY =
  "The plot gave **31 kg** [1].\n\n- Garlic: 79 heads [2]\n- Rent, see [[Allotment Plot 27]] [1, 2]\n\n```python\nprint(1)\n```\n";

interface Violation {
  id: string;
  where: string[];
}

/** Run axe-core over the pane; what the theme alone decides is left out. */
async function violations(page: Page): Promise<Violation[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: {
        run(
          context: unknown,
          options: unknown,
        ): Promise<{ violations: { id: string; nodes: { target: string[]; any: { message: string }[] }[] }[] }>;
      };
    };
    // The accent of Obsidian's default theme has a contrast of 4.3 on white: its links and calls to action fail by it.
    const context = { include: [".vault-ask-view"], exclude: [[".internal-link"], [".external-link"], [".mod-cta"]] };
    const found = await axe.run(context, { resultTypes: ["violations"] });
    return found.violations.map((one) => ({
      id: one.id,
      where: one.nodes.map((node) => `${node.target.join(" ")}: ${node.any[0]?.message ?? ""}`),
    }));
  });
}

const LOOKS: [name: string, how: Partial<Window>][] = [
  ["light", { theme: "light" }],
  ["dark", { theme: "dark" }],
  ["a phone in the light", { theme: "light", phone: true }],
  ["a phone in the dark", { theme: "dark", phone: true }],
];

test.each(LOOKS)("axe-core has nothing to say of the pane in %s, in any of its states", async (_, how) => {
  const { page } = await bench.obsidian(how);
  const pane = await Pane.open(page);
  await page.locator(".vault-ask-related-note").first().waitFor();
  expect(await violations(page)).toEqual([]);
  bench.model.script(tokens(REPLY), [...tokens("Some words"), "endless:"]);
  await pane.command("ask-about-note");
  await pane.setPersonal(true);
  await pane.ask();
  await pane.last("pre code").waitFor();
  await pane.last("a.vault-ask-chip").first().focus();
  expect(await violations(page)).toEqual([]);
  await pane.send("And now?");
  await pane.says("Some words");
  expect(await violations(page)).toEqual([]);
  await page.locator(".vault-ask-stop").click();
  await pane.reached("stopped");
  await page.locator("[aria-label='Earlier questions']").first().click();
  await page.locator(".vault-ask-history").waitFor();
  expect(await violations(page)).toEqual([]);
});

test("on a phone nothing is wider than the screen, and what is touched is large enough", async () => {
  const { page } = await bench.obsidian({ phone: true });
  bench.model.script(
    tokens(
      `${REPLY}\n${"unbreakable".repeat(30)} [1]\n\n| a | b | c | d |\n| - | - | - | - |\n| ${"wide ".repeat(9)}| ${"wide ".repeat(9)}| ${"wide ".repeat(9)}| x |\n`,
    ),
  );
  const pane = await Pane.open(page);
  await pane.ask("What about a_very_long_word_" + "without_a_break_".repeat(12) + "?");
  await pane.last("table").waitFor();
  const wide = await page.evaluate(() => ({
    page: document.documentElement.scrollWidth,
    pane: document.querySelector(".vault-ask-view")?.scrollWidth,
    turns: document.querySelector(".vault-ask-turns")?.scrollWidth,
  }));
  expect(Math.max(wide.page, wide.pane ?? 0, wide.turns ?? 0)).toBeLessThanOrEqual(360);
  for (const part of [".vault-ask-send", ".vault-ask-personal", ".vault-ask-new", ".vault-ask-retry"]) {
    const box = await page.locator(`${part}:visible`).first().boundingBox();
    expect([part, (box?.height ?? 0) >= 32]).toEqual([part, true]);
  }
});

test("on a phone the box stays above the on-screen keyboard", async () => {
  const { page } = await bench.obsidian({ phone: true });
  const pane = await Pane.open(page);
  const before = (await pane.box.boundingBox())?.y ?? 0;
  await page.evaluate(() => {
    const viewport = window.visualViewport as VisualViewport;
    Object.defineProperty(viewport, "height", { value: window.innerHeight - 300, configurable: true });
    viewport.dispatchEvent(new Event("resize"));
  });
  await page.waitForFunction(
    (y) => (document.querySelector(".vault-ask-composer textarea")?.getBoundingClientRect().y ?? 1e9) <= y,
    before - 250,
  );
});

test("right-to-left and Chinese words stand as they are written", async () => {
  const { page } = await bench.obsidian();
  bench.model.script(tokens("הקרקע נתנה 31 ק״ג [1].\n\n马铃薯三十一公斤 [1]。"));
  const pane = await Pane.open(page);
  await pane.ask("كم كيلو من البطاطس؟");
  await pane.says("马铃薯三十一公斤");
  const side = (selector: string) =>
    pane
      .last(selector)
      .first()
      .evaluate((el) => getComputedStyle(el).direction);
  expect(await side(".vault-ask-question")).toBe("rtl");
  expect(
    await pane
      .last(".vault-ask-block")
      .first()
      .evaluate((el) => getComputedStyle(el.querySelector("p") ?? el).direction),
  ).toBe("rtl");
  expect(await pane.last("a.vault-ask-chip").count()).toBe(2);
});
