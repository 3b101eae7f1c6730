// Who may ask the daemon from a page: Obsidian's three origins and no other (case 33).
import { expect, test } from "vitest";
import { useBench } from "../bench/bench";
import { TOKEN } from "../bench/daemon";

const bench = useBench();
const ENDPOINTS: [method: string, path: string][] = [
  ["POST", "/api/ask"],
  ["GET", "/api/status"],
  ["GET", "/api/events"],
  ["GET", "/api/related?path=Welcome.md"],
  ["GET", "/api/notes/Welcome.md"],
];

async function ask(method: string, path: string, headers: Record<string, string>) {
  const hangUp = new AbortController();
  const body = method === "POST" ? JSON.stringify({ question: "How many kilos of potatoes?" }) : null;
  const response = await fetch(bench.daemon.address + path, { method, headers, body, signal: hangUp.signal });
  hangUp.abort();
  return response;
}

const preflight = (method: string, path: string, origin: string) =>
  ask("OPTIONS", path, {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "authorization, content-type",
  });

test.each(["app://obsidian.md", "capacitor://localhost", "http://localhost"])(
  "a page of %s is answered at every endpoint that the plugin uses, before and after asking",
  async (origin) => {
    for (const [method, path] of ENDPOINTS) {
      const before = await preflight(method, path, origin);
      expect([path, before.status, before.headers.get("access-control-allow-origin")]).toEqual([path, 204, origin]);
      expect(before.headers.get("access-control-allow-headers")?.toLowerCase()).toMatch(/authorization.*content-type/);
      const headers = { origin, authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const answer = await ask(method, path, headers);
      expect([path, answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([path, 200, origin]);
    }
  },
);

test.each(["https://evil.example", "http://localhost.evil.example", "null", "app://evil.md", "capacitor://evil"])(
  "a page of %s may not send the token, and could read no answer",
  async (origin) => {
    for (const [method, path] of ENDPOINTS) {
      const before = await preflight(method, path, origin);
      expect([path, before.headers.get("access-control-allow-origin")]).toEqual([path, null]);
      expect([path, before.headers.get("access-control-allow-headers")]).toEqual([path, null]);
      const headers = { origin, authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const answer = await ask(method, path, headers);
      expect([path, answer.headers.get("access-control-allow-origin")]).toEqual([path, null]);
    }
  },
);

test("a question as plain text, which needs no leave of the browser's, starts no model", async () => {
  bench.model.script(["Nobody should hear this."]);
  const answer = await ask("POST", "/api/ask", { origin: "https://evil.example", "content-type": "text/plain" });
  expect(answer.status).toBe(401);
  expect(bench.model.requests).toHaveLength(0);
});

test.each(["token", "api_key"])("a token in the address as %s opens nothing, and is not logged", async (name) => {
  const answer = await ask("GET", `/api/status?${name}=${TOKEN}`, { origin: "app://obsidian.md" });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(bench.daemon.log).toContain("vault-ask serves");
  expect(bench.daemon.log).not.toContain(TOKEN);
});

test("without the token no endpoint answers, and a note that is there is told as one that is not", async () => {
  for (const [method, path] of ENDPOINTS) {
    const answer = await ask(method, path, { origin: "app://obsidian.md", "content-type": "application/json" });
    expect([path, answer.status]).toEqual([path, 401]);
  }
  const there = await ask("GET", "/api/notes/Welcome.md", {}).then((answer) => answer.status);
  const never = await ask("GET", "/api/notes/Never.md", {}).then((answer) => answer.status);
  expect([there, never]).toEqual([401, 401]);
});

test("the built plugin asks from Android's origin, as the daemon's answer to the browser shows", async () => {
  const app = await bench.obsidian();
  const answered = app.page.waitForResponse((response) => response.url().endsWith("/api/status"));
  await app.page.evaluate(() => window.bench.command("vault-ask:ask"));
  const headers = await (await answered).allHeaders();
  expect(headers["access-control-allow-origin"]).toBe("http://localhost");
});
