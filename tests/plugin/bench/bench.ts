// All that a file of tests needs: the daemon, the model behind it, and the browser.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { Daemon, vaultOf, wordedBy, type Prepared } from "./daemon";
import { ModelServer } from "./model-server";
import { launch, Obsidian, type Window } from "./obsidian";

export interface Bench {
  readonly prepared: Prepared;
  readonly model: ModelServer;
  readonly daemon: Daemon;
  readonly browser: Browser;
  /** Open the app with the plugin set up for this bench's daemon; it is closed after the test. */
  obsidian(how?: Partial<Window>): Promise<Obsidian>;
  /** Stop the daemon, if it runs, and serve the same vault with other settings. */
  restart(settings?: Record<string, string>, port?: number): Promise<void>;
}

/** Call once at the top of a file of tests. What it gives is there from the first test on. */
export function useBench(settings: Record<string, string> = {}): Bench {
  const parts = {} as { model: ModelServer; daemon: Daemon; browser: Browser };
  const open: Obsidian[] = [];
  async function serve(environment: Record<string, string>, port = 0): Promise<void> {
    parts.daemon = await Daemon.start(inject("prepared"), environment, port);
    // A daemon's first answer loads what speaks to models, which takes seconds that no test is about.
    if (environment["VAULTASK_MODELS__GENERATION"])
      await parts.daemon.ask("How many kilos of potatoes did the allotment give?");
    parts.model.script(["The notes say so [1]."]);
  }
  beforeAll(async () => {
    parts.model = await ModelServer.start();
    parts.browser = await launch();
    await serve({ ...wordedBy(parts.model.base), ...settings });
  });
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
  });
  afterAll(async () => {
    await parts.browser?.close();
    await parts.daemon?.stop();
    await parts.model?.stop();
  });
  return {
    get prepared() {
      return inject("prepared");
    },
    get model() {
      return parts.model;
    },
    get daemon() {
      return parts.daemon;
    },
    get browser() {
      return parts.browser;
    },
    async restart(changed = wordedBy(parts.model.base), port = 0) {
      await parts.daemon.stop();
      await serve({ ...changed, ...settings }, port);
    },
    async obsidian(how = {}) {
      const own = { address: parts.daemon.address, tokenSecret: "vault-ask-token", ...how.settings };
      const app = await Obsidian.open(parts.browser, { vault: vaultOf(inject("prepared")), ...how, settings: own });
      open.push(app);
      return app;
    },
  };
}
