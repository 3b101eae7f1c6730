// The settings: what may be entered, what is kept, and where the token is.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { TOKEN } from "../bench/daemon";
import { NOTE, Pane, tokens } from "../bench/pane";
import { until } from "../bench/until";

const bench = useBench();

async function openSettings(settings: Record<string, unknown> = {}) {
  const app = await bench.obsidian({ settings });
  await app.page.evaluate(() => window.bench.settings("vault-ask"));
  const row = (name: string | RegExp) =>
    app.page.locator(".setting-item").filter({ has: app.page.locator(".setting-item-name", { hasText: name }) });
  return { app, page: app.page, row };
}

test("an address that is none is refused with a sentence, and the one before it stays in use", async () => {
  const { app, row } = await openSettings();
  const before = app.data;
  const address = row(/^Address/).locator("input");
  await address.fill("ftp://nas");
  await row(/^Address/)
    .locator(".setting-item-error")
    .waitFor();
  expect(
    await row(/^Address/)
      .locator(".setting-item-error")
      .textContent(),
  ).toMatch(/http/);
  expect(app.data).toBe(before);
  await address.fill("http://nas:8765/");
  await until("it is kept", () => app.data.includes("http://nas:8765"));
  expect((JSON.parse(app.data) as { address: string }).address.replace(/\/$/, "")).toBe("http://nas:8765");
  expect(
    await row(/^Address/)
      .locator(".setting-item-error")
      .count(),
  ).toBe(0);
});

test.each([
  [/language/i, "not a language!", "sv"],
  [/sources/i, "51", "12"],
])(
  "%s: a value that does not fit is refused, one that fits goes into the next question",
  async (name, wrong, right) => {
    const { app, page, row } = await openSettings();
    const input = row(name).locator("input");
    await input.fill(wrong);
    await row(name).locator(".setting-item-error").waitFor();
    await input.fill(right);
    await row(name).locator(".setting-item-error").waitFor({ state: "detached" });
    await page.evaluate(() => window.bench.closeSettings("vault-ask"));
    bench.model.script(tokens("Det gav 31 kg [1]."));
    await (await Pane.open(page)).ask();
    const asked = app.asked.at(-1);
    expect([asked?.["language"] ?? null, asked?.["k"] ?? null]).toContainEqual(right === "12" ? 12 : "sv");
  },
);

test("the connection is tested on a click: a right token is greeted, a wrong one told, and neither is shown", async () => {
  const { app, page, row } = await openSettings();
  await row("Connection").locator("button").click();
  await row("Connection")
    .filter({ hasText: /Connected to vault-ask .* notes/ })
    .waitFor();
  await page.evaluate(() => window.bench.app.secretStorage.setSecret("vault-ask-token", "wrong-token-0123456789"));
  await row("Connection").locator("button").click();
  await row("Connection").filter({ hasText: /token/i }).waitFor();
  expect(await page.locator(".mod-settings").textContent()).not.toContain("wrong-token");
  expect(app.errors).toEqual([]);
});

test("an address that is being typed is asked by nobody before the settings are left", async () => {
  const { app, page, row } = await openSettings();
  const heard: string[] = [];
  const stranger = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers.authorization ?? ""}`);
    response.writeHead(200, { "access-control-allow-origin": "*", "access-control-allow-headers": "authorization" });
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(stranger, "listening");
  const typed = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  await page.evaluate(() => window.bench.command("vault-ask:ask"));
  await row(/^Address/)
    .locator("input")
    .fill(typed);
  await until("it is kept", () => app.data.includes(typed));
  // What the pane asks meanwhile, such as how the note stands that is opened now, goes to the daemon in use.
  const asked = page.waitForRequest((request) => request.url().includes("/api/related"));
  await page.evaluate((note) => window.bench.openNote(note), "Home/Bins.md");
  expect((await asked).url()).toContain(bench.daemon.address);
  expect(heard).toEqual([]);
  await page.evaluate(() => window.bench.closeSettings("vault-ask"));
  await until("the new address is in use", () => heard.length > 0);
  stranger.close();
});

test("the token lives in the secret storage: the settings keep its name, and it goes to the daemon alone", async () => {
  const { app, page, row } = await openSettings({ tokenSecret: "" });
  const refused = page.waitForResponse((response) => response.url().startsWith(bench.daemon.address));
  await page.evaluate(() => window.bench.command("vault-ask:ask"));
  expect((await refused).status()).toBe(401);
  await row("Token").locator("select").selectOption("vault-ask-token");
  await until("the name is kept", () => app.data.includes("vault-ask-token"));
  expect(app.data).not.toContain(TOKEN);
  await page.evaluate(() => window.bench.closeSettings("vault-ask"));
  bench.model.script(tokens("The plot gave 31 kg [1]."));
  const sent = page.waitForRequest((request) => request.url().endsWith("/api/ask") && request.method() === "POST");
  await (await Pane.open(page)).ask();
  expect((await sent).headers()["authorization"]).toBe(`Bearer ${TOKEN}`);
  expect((await sent).url()).not.toContain(TOKEN);
  expect(JSON.stringify(app.asked)).not.toContain(TOKEN);
});

test("citations open where the settings say, unless the keys say otherwise", async () => {
  const { app, page, row } = await openSettings();
  await row(/^Open citations/)
    .locator("select")
    .selectOption("split");
  await until("it is kept", () => app.data.includes("split"));
  await page.evaluate(() => window.bench.closeSettings("vault-ask"));
  bench.model.script(tokens("The plot gave 31 kg [1]."));
  const pane = await Pane.open(page, NOTE);
  await pane.ask();
  const chip = pane.last("a.vault-ask-chip").first();
  await chip.click();
  await pane.opened(1);
  await chip.click({ modifiers: ["Control"] });
  expect((await pane.opened(2)).map((one) => one.newLeaf)).toEqual(["split", "tab"]);
});

test.each([null, "nonsense", { address: 7, sources: "many", openIn: "moon" }, { address: "javascript:alert(1)" }])(
  "a data.json of %j does not keep the plugin from loading with its defaults",
  async (stored) => {
    const app = await bench.obsidian();
    app.data = JSON.stringify(stored);
    await app.start();
    await app.page.evaluate(() => window.bench.settings("vault-ask"));
    const address = app.page.locator(".setting-item", { hasText: "Address" }).first().locator("input");
    expect(await address.inputValue()).toBe("http://127.0.0.1:8765");
    expect(app.errors).toEqual([]);
  },
);
