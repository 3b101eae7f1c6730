// A real daemon on a real vault: a copy of the sample vault that was indexed once for the whole run.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./until";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const TOKEN = "bench-token-0123456789abcdef";

/** A vault with its index, in a folder of their own. */
export interface Prepared {
  folder: string;
}

export const vaultOf = (prepared: Prepared) => join(prepared.folder, "vault");
const dataOf = (prepared: Prepared) => join(prepared.folder, "data");

/** Copy the sample vault with notes of the tests' own, and index it. */
export function prepare(notes: Record<string, string> = {}, how: { index?: boolean } = {}): Prepared {
  const prepared = { folder: mkdtempSync(join(tmpdir(), "vault-ask-bench-")) };
  cpSync(join(ROOT, "tests/vaults/sample"), vaultOf(prepared), { recursive: true, preserveTimestamps: true });
  for (const [path, text] of Object.entries(notes)) {
    mkdirSync(dirname(join(vaultOf(prepared), path)), { recursive: true });
    writeFileSync(join(vaultOf(prepared), path), text);
  }
  mkdirSync(dataOf(prepared));
  // The built model lies where pytest keeps it, so that one of the two builds it for both.
  const models = join(ROOT, ".pytest_cache/d/vault-ask-models");
  mkdirSync(models, { recursive: true });
  symlinkSync(models, join(dataOf(prepared), "models"));
  if (how.index !== false) {
    execFileSync(python(), line("index", prepared), { cwd: prepared.folder, env: clean({}), stdio: "pipe" });
  }
  return prepared;
}

export function discard(prepared: Prepared): void {
  rmSync(prepared.folder, { recursive: true, force: true });
}

function python(): string {
  const places = [process.env["VIRTUAL_ENV"], join(ROOT, ".venv")];
  const found = places
    .map((place) => join(place ?? "", "bin/python"))
    .find((path) => path !== "bin/python" && existsSync(path));
  return found ?? "python3";
}

function line(name: string, prepared: Prepared, ...more: string[]): string[] {
  return ["-m", "vault_ask", name, "--vault", vaultOf(prepared), "--data", dataOf(prepared), ...more];
}

function clean(settings: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => !entry[0].startsWith("VAULTASK_") && entry[0] !== "PYTHONDONTWRITEBYTECODE",
  );
  return {
    ...Object.fromEntries(kept),
    PYTHONPATH: join(ROOT, "daemon"),
    VAULTASK_SENSITIVITY__PERSONAL_PATHS: '["Personal/**"]',
    VAULTASK_API_TOKEN: TOKEN,
    ...settings,
  };
}

export class Daemon {
  private said = "";
  private constructor(private process: ChildProcess) {
    process.stderr?.on("data", (data: Buffer) => (this.said += data.toString()));
    process.stdout?.on("data", (data: Buffer) => (this.said += data.toString()));
  }

  /** Serve a prepared vault; `settings` are environment names such as VAULTASK_MODELS__GENERATION. */
  static async start(prepared: Prepared, settings: Record<string, string>, port = 0): Promise<Daemon> {
    const started = spawn(python(), line("serve", prepared, "--port", String(port)), {
      cwd: prepared.folder,
      env: clean(settings),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = new Daemon(started);
    await until("the daemon told its address", () => {
      if (started.exitCode !== null || started.signalCode !== null) throw new Error(`the daemon ended: ${daemon.said}`);
      return /http:\/\/\S+(?=\/chat)/.test(daemon.said);
    });
    return daemon;
  }

  get address(): string {
    return /http:\/\/\S+(?=\/chat)/.exec(this.said)?.[0] ?? "";
  }

  get port(): number {
    return Number(new URL(this.address).port);
  }

  get log(): string {
    return this.said;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }

  /** Ask a question beside the plugin, and wait for the whole answer. */
  async ask(question: string): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      accept: "application/json",
    };
    const body = JSON.stringify({ question });
    return (await fetch(`${this.address}/api/ask`, { method: "POST", headers, body })).json();
  }

  /** Ask the daemon beside the plugin. */
  get(path: string, headers: Record<string, string> = { authorization: `Bearer ${TOKEN}` }): Promise<Response> {
    return fetch(this.address + path, { headers });
  }
}

/** The settings that make the scripted model word the answers. */
export function wordedBy(base: string): Record<string, string> {
  return {
    VAULTASK_MODELS__GENERATION: "openai/bench",
    VAULTASK_MODELS__API_BASE: base,
    VAULTASK_MODELS__CONTEXT_TOKENS: "8192",
    VAULTASK_MODELS__TIMEOUT_SECONDS: "20",
    OPENAI_API_KEY: "none",
  };
}
