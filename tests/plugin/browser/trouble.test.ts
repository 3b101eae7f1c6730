// What can go wrong between the pane and the daemon, and what the pane says then.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { Daemon, discard, prepare, wordedBy } from "../bench/daemon";
import { NOTES } from "../bench/notes";
import { Gate } from "../bench/model-server";
import { Pane, tokens } from "../bench/pane";
import { until } from "../bench/until";

const bench = useBench({ VAULTASK_MODELS__TIMEOUT_SECONDS: "8" });
const REPLY = tokens("The plot gave 31 kg [1].");

async function openPane(settings: Record<string, unknown> = {}) {
  const app = await bench.obsidian({ settings });
  bench.model.script(REPLY);
  return { app, page: app.page, pane: await Pane.open(app.page), standing: app.page.locator(".vault-ask-standing") };
}

test("a token that is refused is said in the strip and under the question, and asking again with the right one works", async () => {
  const { app, page, pane, standing } = await openPane();
  await page.evaluate(() => window.bench.app.secretStorage.setSecret("vault-ask-token", "wrong-token-0123456789"));
  await page.evaluate(() => window.bench.disable());
  await app.enable();
  await Pane.open(page);
  await pane.send();
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-error").textContent()).toMatch(/token/i);
  await page.locator('.vault-ask-standing[data-level="bad"]').filter({ hasText: /token/i }).waitFor();
  expect(await standing.textContent()).not.toContain("wrong-token");
  await page.evaluate(() =>
    window.bench.app.secretStorage.setSecret("vault-ask-token", "bench-token-0123456789abcdef"),
  );
  await pane.last(".vault-ask-retry").click();
  await pane.reached("done");
  await pane.says("31 kg");
});

test("a daemon that is not there is told with its address and what to do, and is found when it comes", async () => {
  const { port } = bench.daemon;
  await bench.daemon.stop();
  const { page, pane } = await openPane();
  await pane.send();
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-error").textContent()).toContain(`127.0.0.1:${port}`);
  await page.locator('.vault-ask-standing[data-level="bad"]').waitFor();
  expect(bench.model.requests).toHaveLength(0);
  await bench.restart(undefined, port);
  await page.locator(".vault-ask-standing:not([data-level='bad'])").waitFor({ timeout: 50_000 });
  await pane.last(".vault-ask-retry").click();
  await pane.reached("done");
});

test("a stream that the daemon ends in the middle is an error that keeps the words before it", async () => {
  const { pane } = await openPane();
  const gate = new Gate();
  bench.model.script([...tokens("The plot gave quite a lot of potatoes, and then"), { wait: gate }, "reset:"], REPLY);
  await pane.send();
  await pane.says("The plot gave");
  gate.open();
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-answer").textContent()).toContain("The plot gave");
  expect(await pane.last(".vault-ask-error").textContent()).toMatch(/\w+\./);
  await pane.last(".vault-ask-retry").click();
  await pane.reached("done");
  expect(await pane.last(".vault-ask-error").isVisible()).toBe(false);
});

test("a daemon that dies while it answers is an error as well", async () => {
  const { pane } = await openPane();
  bench.model.script(["Some words", "silence:"]);
  await pane.send();
  await pane.says("Some words");
  await bench.daemon.stop();
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-error").textContent()).toMatch(/connection|unreachable|ended/i);
  expect(await pane.last(".vault-ask-answer").textContent()).toContain("Some words");
  await bench.restart();
});

test.each([
  ["refuses", [{ status: 500 }]],
  ["says nothing any more", ["The plot gave", "silence:" as const]],
])("a model that %s ends in a sentence", async (_, steps) => {
  const { pane } = await openPane();
  bench.model.script(steps);
  await pane.send();
  await pane.reached("failed");
  const told = await pane.last(".vault-ask-error").textContent();
  expect(told).toMatch(/openai\/bench .*(could not be reached|failed|nothing|seconds)/);
  expect(told).not.toContain(bench.model.base);
});

test.each(["Chromium's own block", "a block that fails every request"])(
  "under %s the answer comes whole, and the pane says why",
  async (way) => {
    const isReal = way === "Chromium's own block";
    const app = await bench.obsidian({ localNetwork: !isReal });
    if (!isReal) await app.blockStreaming();
    bench.model.script(REPLY);
    const pane = await Pane.open(app.page);
    await pane.ask();
    await pane.says("31 kg");
    expect(await pane.last("a.vault-ask-chip").count()).toBe(1);
    expect(await pane.last(".vault-ask-notice").allTextContents()).toContainEqual(
      expect.stringMatching(/in one piece/),
    );
    expect(app.requested.filter((one) => one.url.endsWith("/api/ask"))).toHaveLength(1);
    expect(app.asked.at(-1)?.["include_personal"]).toBe(false);
    // Once is enough: the next question does not try to stream, and sends the switch as it is.
    await pane.setPersonal(true);
    await pane.ask("And what of my health?");
    expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
    expect(bench.model.requests).toHaveLength(2);
  },
);

test("something else that answers at the address is told apart from a daemon", async () => {
  const other = createServer((_, response) =>
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("<html>router</html>"),
  );
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { page, pane } = await openPane({ address: `http://127.0.0.1:${(other.address() as AddressInfo).port}` });
  await pane.send();
  await pane.reached("failed");
  expect(await pane.last(".vault-ask-error").textContent()).toMatch(/not a vault-ask/i);
  await page.locator('.vault-ask-standing[data-level="bad"]').waitFor();
  await new Promise((resolve) => other.close(resolve));
});

test("while the vault is indexed the strip says how far it is", async () => {
  const fresh = prepare(NOTES, { index: false });
  const daemon = await Daemon.start(fresh, wordedBy(bench.model.base));
  try {
    const { page, standing } = await openPane({ address: daemon.address });
    await standing.filter({ hasText: /\d+ of \d+/ }).waitFor();
    expect(await standing.getAttribute("data-level")).toBe("busy");
    expect(await standing.locator("progress").isVisible()).toBe(true);
    await until(
      "indexed",
      async () => {
        const status = (await (await daemon.get("/api/status")).json()) as { progress: { phase: string } };
        return status.progress.phase === "idle";
      },
      50_000,
    );
    await page.locator('.vault-ask-standing[data-level="good"]').waitFor();
  } finally {
    await daemon.stop();
    discard(fresh);
  }
});

test("a vault that says nothing on a question is shown as silent, not as a failure", async () => {
  const { pane } = await openPane();
  await pane.ask("What is the capital of Mongolia?");
  expect(await pane.last(".vault-ask-error").isVisible()).toBe(false);
  expect(bench.model.requests).toHaveLength(0);
  expect((await pane.last(".vault-ask-answer").textContent())?.trim()).not.toBe("");
});

test("answers without a model are quotes, and the pane says so", async () => {
  await bench.restart({});
  const { page, pane } = await openPane();
  await pane.ask();
  expect(await pane.last("a.vault-ask-chip").count()).toBeGreaterThan(0);
  expect(await page.locator(".vault-ask-standing").textContent()).toMatch(/quot/i);
  await bench.restart();
});
