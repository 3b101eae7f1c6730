// The pane as its user sees it.
import type { Locator, Page } from "playwright-core";
import type { OpenedLink } from "../stand-in/workspace";
import { Gate, type Step } from "./model-server";

export const QUESTION = "How many kilos of potatoes did the allotment give in 2026?";
export const NOTE = "Projects/Allotment Plot 27.md";

/** A reply cut into tokens as a model would send it. */
export function tokens(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

/** A reply in parts, each of which waits for its gate. */
export function inSteps(...parts: string[]): { steps: Step[]; gates: Gate[] } {
  const gates = parts.map(() => new Gate());
  const steps = parts.flatMap((part, at) => [{ wait: gates[at] ?? new Gate() }, ...tokens(part)] as Step[]);
  return { steps, gates };
}

export class Pane {
  readonly view: Locator;
  readonly box: Locator;
  readonly personal: Locator;

  constructor(readonly page: Page) {
    this.view = page.locator(".vault-ask-view");
    this.box = page.locator(".vault-ask-composer textarea");
    this.personal = page.locator(".vault-ask-personal");
  }

  /** Open the pane beside a note. */
  static async open(page: Page, note: string | null = NOTE): Promise<Pane> {
    const pane = new Pane(page);
    if (note !== null) await page.evaluate((path) => window.bench.openNote(path), note);
    await pane.command("ask");
    await pane.box.waitFor();
    return pane;
  }

  command(id: string): Promise<boolean> {
    return this.page.evaluate((name) => window.bench.command(`vault-ask:${name}`), id);
  }

  /** Begin anew, and wait until the pane is empty. */
  async startNew(): Promise<void> {
    await this.command("new-question");
    await this.page.locator(".vault-ask-turn").first().waitFor({ state: "detached" });
  }

  offered(id: string): Promise<boolean> {
    return this.page.evaluate((name) => window.bench.command(`vault-ask:${name}`, true), id);
  }

  /** A part of the newest turn. */
  last(part = ""): Locator {
    return this.page
      .locator(`.vault-ask-turn`)
      .last()
      .locator(part === "" ? "xpath=." : part);
  }

  async send(question = QUESTION): Promise<void> {
    await this.box.fill(question);
    await this.box.press("Enter");
  }

  /** Ask, and wait for the whole answer. */
  async ask(question = QUESTION): Promise<void> {
    const before = await this.page.locator(".vault-ask-turn").count();
    await this.send(question);
    await this.page.locator(".vault-ask-turn").nth(before).waitFor();
    await this.reached("done");
  }

  /** Wait until the newest turn is in a state, and drawn as it is then. */
  async reached(state: string): Promise<void> {
    await this.page.waitForFunction((wanted) => {
      const turns = document.querySelectorAll<HTMLElement>(".vault-ask-turn");
      const last = turns[turns.length - 1];
      return last?.dataset["state"] === wanted && last.querySelector(".vault-ask-answer[aria-busy='false']") !== null;
    }, state);
  }

  /** Wait until the newest turn's answer holds words. */
  says(words: string): Promise<void> {
    return this.last(".vault-ask-answer").filter({ hasText: words }).waitFor();
  }

  async setPersonal(on: boolean): Promise<void> {
    if ((await this.personal.getAttribute("aria-checked")) !== String(on)) await this.personal.click();
    await this.page.locator(`.vault-ask-personal[aria-checked="${on}"]`).waitFor();
  }

  /** Wait until openLinkText was asked so many times, and give what it was asked and where it landed. */
  async opened(times: number): Promise<OpenedLink[]> {
    await this.page.waitForFunction((many) => window.bench.app.workspace.benchOpened.length >= many, times);
    return this.page.evaluate(() => window.bench.app.workspace.benchOpened);
  }
}
