// The one switch: what it says, what goes over the wire, and what is seen of personal notes.
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { wordedBy } from "../bench/daemon";
import { inSteps, Pane, tokens } from "../bench/pane";

const bench = useBench();
const QUESTION = "What did I write about my health and the therapy?";

async function openPane(settings = {}) {
  const app = await bench.obsidian({ settings });
  bench.model.script(tokens("So it is written [1]."));
  return { app, page: app.page, pane: await Pane.open(app.page) };
}

const paths = async (pane: Pane) =>
  (await pane.last(".vault-ask-source a.vault-ask-place").allTextContents()).join(", ");

test("with the switch off the request says so and no personal note is among the sources; on, both are otherwise", async () => {
  const { app, pane } = await openPane();
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(false);
  expect(await pane.last(".vault-ask-source").count()).toBeGreaterThan(0);
  expect(await paths(pane)).not.toMatch(/Health|Therapy/);
  await pane.setPersonal(true);
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
  expect(await paths(pane)).toMatch(/Health|Therapy/);
  await pane.setPersonal(false);
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(false);
  expect(await paths(pane)).not.toMatch(/Health|Therapy/);
});

test("no request ever allows the web beside personal notes", async () => {
  const { app, pane } = await openPane();
  await pane.setPersonal(true);
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
  expect(app.asked.at(-1)?.["allow_web"] ?? null).not.toBe(true);
});

test("the switch tells its consequence in a line, and is a switch to those who hear it", async () => {
  const { page, pane } = await openPane();
  const line = page.locator(".vault-ask-personal-line");
  expect(await pane.personal.getAttribute("role")).toBe("switch");
  const off = await line.textContent();
  await pane.setPersonal(true);
  expect(await line.textContent()).not.toBe(off);
  expect(await line.textContent()).toMatch(/web/i);
  await pane.personal.press("Space");
  await page.locator('.vault-ask-personal[aria-checked="false"]').waitFor();
});

test("the switch is remembered for the vault, over a restart, and not in the synced settings", async () => {
  const { app, page, pane } = await openPane();
  await pane.setPersonal(true);
  await app.start();
  const again = await Pane.open(page);
  expect(await again.personal.getAttribute("aria-checked")).toBe("true");
  await again.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
  expect(app.data).not.toContain('"vault-ask-personal"');
});

test("the default of the settings holds until the switch is touched", async () => {
  const { app, page, pane } = await openPane({ personalByDefault: true });
  expect(await pane.personal.getAttribute("aria-checked")).toBe("true");
  await pane.setPersonal(false);
  await app.start();
  expect(await (await Pane.open(page)).personal.getAttribute("aria-checked")).toBe("false");
});

test("an answer shows what it was asked with, whatever the switch says meanwhile", async () => {
  const { app, page, pane } = await openPane();
  const { steps, gates } = inSteps("Beginning", " and end [1].");
  bench.model.script(steps);
  await pane.setPersonal(true);
  await pane.send(QUESTION);
  gates[0]?.open();
  await pane.says("Beginning");
  await pane.setPersonal(false);
  expect(await pane.last(".vault-ask-badge").allTextContents()).toContainEqual(
    expect.stringMatching(/personal notes included/i),
  );
  gates[1]?.open();
  await pane.reached("done");
  expect(await pane.last(".vault-ask-badge").allTextContents()).toContainEqual(
    expect.stringMatching(/personal notes included/i),
  );
  expect(app.asked).toHaveLength(1);
  expect(app.asked[0]?.["include_personal"]).toBe(true);
  expect(await page.locator(".vault-ask-personal").getAttribute("aria-checked")).toBe("false");
});

test("the command moves the switch, seen and sent alike", async () => {
  const { app, page, pane } = await openPane();
  await pane.command("toggle-personal");
  await page.locator('.vault-ask-personal[aria-checked="true"]').waitFor();
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
});

test("notes near the open one are personal only while the switch is on", async () => {
  const { page, pane } = await openPane();
  await page.evaluate(() => window.bench.openNote("Personal/Health.md"));
  await pane.setPersonal(true);
  await page.locator(".vault-ask-related-note").first().waitFor();
  await pane.setPersonal(false);
  await page.locator(".vault-ask-related-note").first().waitFor({ state: "hidden" });
  await page.evaluate(() => window.bench.openNote("Projects/Allotment Plot 27.md"));
  await page.locator(".vault-ask-related-note").first().waitFor();
  expect(await page.locator(".vault-ask-related").textContent()).not.toMatch(/Health|Therapy|Diary/);
});

test("where the daemon had to leave personal notes out, the answer says so instead of what was asked", async () => {
  const { app, pane } = await openPane();
  await app.answerWith("Only open notes were read.");
  await pane.setPersonal(true);
  await pane.ask(QUESTION);
  expect(app.asked.at(-1)?.["include_personal"]).toBe(true);
  expect(await pane.last(".vault-ask-badge").allTextContents()).toContainEqual(expect.stringMatching(/left out/i));
  expect(await pane.last(".vault-ask-notice").count()).toBeGreaterThan(0);
});

test("where the daemon never includes personal notes, the switch is off, says so, and cannot be moved", async () => {
  await bench.restart({ ...wordedBy(bench.model.base), VAULTASK_ADAPTERS__REST__CEILING: "open" });
  try {
    const { app, page, pane } = await openPane({ personalByDefault: true });
    await page.locator(".vault-ask-personal:disabled").waitFor();
    expect(await pane.personal.getAttribute("aria-checked")).toBe("false");
    expect(await page.locator(".vault-ask-personal-line").textContent()).toMatch(/never includes/i);
    await pane.ask(QUESTION);
    expect(app.asked.at(-1)?.["include_personal"]).toBe(false);
    expect(await paths(pane)).not.toMatch(/Health|Therapy/);
  } finally {
    await bench.restart();
  }
});
