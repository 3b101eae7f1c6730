// One Obsidian window: the host page in Chromium with a vault, the built plugin in it, and all that left the page.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import type { Source } from "../../../obsidian-plugin/src/wire";
import type { BridgeCall, PluginFiles } from "../stand-in/host";
import type { DiskChange, StoredFile } from "../stand-in/vault";
import { ROOT, TOKEN } from "./daemon";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** The origin of Obsidian on Android, the one of the three that a test's page can have. */
export const ORIGIN = "http://localhost";

export function launch(): Promise<Browser> {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const paths = (process.env["PATH"] ?? "").split(":").flatMap((folder) => names.map((name) => join(folder, name)));
  return chromium.launch({ executablePath: paths.find(existsSync) ?? "/usr/bin/chromium", args: FLAGS });
}

/** The plugin as it is released; PLUGIN_DIST names another build, such as a broken one that the tests must notice. */
export function builtPlugin(): PluginFiles {
  const dist = process.env["PLUGIN_DIST"] ?? join(ROOT, "obsidian-plugin/dist");
  const read = (name: string) => readFileSync(join(dist, name), "utf8");
  return { code: read("main.js"), styles: read("styles.css"), manifest: JSON.parse(read("manifest.json")) as never };
}

let hostPage: Promise<string> | null = null;

function host(): Promise<string> {
  hostPage ??= bundleHost();
  return hostPage;
}

async function bundleHost(): Promise<string> {
  const made = await build({
    entryPoints: [join(ROOT, "tests/plugin/stand-in/host.ts")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
  });
  const theme = readFileSync(join(ROOT, "tests/plugin/stand-in/theme.css"), "utf8");
  const script = made.outputFiles[0]?.text.replaceAll("</script", "<\\/script") ?? "";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Obsidian</title><meta name="viewport" content="width=device-width"><style>${theme}</style></head><body><script>${script}</script></body></html>`;
}

export interface Window {
  /** Where the vault's files are. */
  vault: string;
  plugin?: PluginFiles;
  settings?: Record<string, unknown>;
  theme?: "light" | "dark";
  phone?: boolean;
  size?: { width: number; height: number };
  /** Whether the page may reach the local network; Chromium asks the user since 142. */
  localNetwork?: boolean;
}

/** A window of the app with the plugin in it. */
export class Obsidian {
  /** Addresses outside the page and the daemon that anything on the page asked for; none was let through. */
  readonly foreign: string[] = [];
  readonly errors: string[] = [];
  /** What requestUrl was asked, and the bodies that were sent to /api/ask, by either way. */
  readonly requested: { url: string; body: string | undefined }[] = [];
  readonly asked: Record<string, unknown>[] = [];
  /** Set to make the app's own requests fail as well. */
  appOffline = false;
  data: string;
  times = { evaluate: 0, onload: 0 };

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly how: Window,
  ) {
    this.data = JSON.stringify(how.settings ?? null);
  }

  static async open(browser: Browser, how: Window): Promise<Obsidian> {
    const viewport = how.size ?? (how.phone ? { width: 360, height: 740 } : { width: 1100, height: 760 });
    const context = await browser.newContext({ viewport, hasTouch: how.phone ?? false, reducedMotion: "reduce" });
    // In one call: what a call does not name is refused from then on.
    const granted = [
      "clipboard-read",
      "clipboard-write",
      ...(how.localNetwork === false ? [] : ["local-network-access"]),
    ];
    await context.grantPermissions(granted, { origin: ORIGIN });
    context.setDefaultTimeout(40_000);
    const app = new Obsidian(context, await context.newPage(), how);
    await app.prepare();
    await app.start();
    return app;
  }

  private async prepare(): Promise<void> {
    const page = await host();
    await this.context.exposeBinding("benchBridge", (_, call: BridgeCall) => this.bridge(call));
    await this.context.route("**", async (route) => {
      const url = new URL(route.request().url());
      if (url.origin === ORIGIN && url.pathname === "/app.html")
        return route.fulfill({ contentType: "text/html", body: page });
      if (url.hostname === "127.0.0.1") return route.continue();
      this.foreign.push(url.href);
      return route.abort();
    });
    this.context.on("request", (request) => {
      if (request.method() === "POST" && request.url().endsWith("/api/ask")) this.asked.push(request.postDataJSON());
    });
    this.page.on("pageerror", (error) => this.errors.push(String(error.stack ?? error)));
    this.page.on("console", (message) => {
      if (message.type() === "error" && !/net::|Failed to load resource|CORS/.test(message.text())) {
        this.errors.push(message.text());
      }
    });
  }

  /** Load the page, the app and the plugin; again, it is the app started anew on the same device. */
  async start(): Promise<void> {
    await this.page.goto(`${ORIGIN}/app.html`);
    const { vault, theme = "light", phone = false } = this.how;
    const start = { files: storedFiles(vault), theme, phone, data: this.data };
    await this.page.evaluate(
      (given) => void (window as never as { startBench(s: unknown): void }).startBench(given),
      start,
    );
    await this.page.evaluate((token) => window.bench.app.secretStorage.setSecret("vault-ask-token", token), TOKEN);
    await this.enable();
    await this.page.evaluate(() => window.bench.app.workspace.benchReady());
  }

  /** Load the plugin, as switching it on in the settings does. */
  async enable(): Promise<void> {
    const plugin = this.how.plugin ?? builtPlugin();
    this.times = await this.page.evaluate((files) => window.bench.enable(files), plugin);
  }

  /** Answer questions in the daemon's place, with these words and nothing else; the daemon answers all other requests. */
  async answerWith(text: string, given: Source[] = []): Promise<void> {
    const sources = {
      type: "sources",
      sources: given,
      silent: false,
      personal_included: false,
      generator: "openai/bench",
      notices: [],
    };
    const pieces = (text.match(/[\s\S]{1,7}/g) ?? []).map((piece) => ({ type: "delta", text: piece, part: "vault" }));
    const grounding = { type: "grounding", citations: given.map(citationOf), removed: 0, refused: false };
    const events = [sources, ...pieces, grounding, { type: "done", seconds: 0.1, finish: "stop" }];
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    await this.context.route("http://127.0.0.1:*/api/ask", (route) =>
      route.fulfill({ contentType: "text/event-stream", headers: { "access-control-allow-origin": ORIGIN }, body }),
    );
  }

  /** Block the page's own requests to the daemon, as Local Network Access does: all it sees is a TypeError. */
  async blockStreaming(): Promise<void> {
    await this.context.route("http://127.0.0.1:*/**", (route) => route.abort("accessdenied"));
  }

  close(): Promise<void> {
    return this.context.close();
  }

  private async bridge(call: BridgeCall): Promise<unknown> {
    switch (call.to) {
      case "saveData":
        this.data = call.text;
        return null;
      case "disk":
        return changeDisk(this.how.vault, call.change);
      case "request":
        return this.request(call.request);
    }
  }

  private async request(asked: Extract<BridgeCall, { to: "request" }>["request"]): Promise<unknown> {
    this.requested.push({ url: asked.url, body: asked.body });
    if (asked.url.endsWith("/api/ask") && asked.body)
      this.asked.push(JSON.parse(asked.body) as Record<string, unknown>);
    if (this.appOffline) return { error: "net::ERR_CONNECTION_REFUSED" };
    try {
      const { method, headers, body } = asked;
      const response = await fetch(asked.url, {
        method: method ?? "GET",
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
    } catch {
      return { error: "net::ERR_CONNECTION_REFUSED" };
    }
  }
}

function citationOf(source: Source): Record<string, unknown> {
  const { score, provenance, via, personal, ...citation } = source;
  void [score, provenance, via, personal];
  return citation;
}

/** Read every file of a vault but what lies in dot-folders. */
function storedFiles(vault: string): StoredFile[] {
  return readdirSync(vault, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !`${entry.parentPath}/`.slice(vault.length).includes("/."))
    .map((entry) => {
      const place = join(entry.parentPath, entry.name);
      const { ctimeMs, mtimeMs } = statSync(place);
      return { path: place.slice(vault.length + 1), text: readFileSync(place, "utf8"), ctime: ctimeMs, mtime: mtimeMs };
    });
}

function changeDisk(vault: string, change: DiskChange): { mtime: number } {
  const place = join(vault, change.path);
  if (change.kind === "delete") rmSync(place);
  else if (change.kind === "rename") {
    mkdirSync(dirname(join(vault, change.to ?? "")), { recursive: true });
    renameSync(place, join(vault, change.to ?? ""));
  } else {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, change.text ?? "");
  }
  return { mtime: change.kind === "write" ? statSync(place).mtimeMs : Date.now() };
}
