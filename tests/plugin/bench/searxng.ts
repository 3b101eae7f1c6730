// A SearXNG of the owner's own: answers every search with the same pages, and remembers what it was asked.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export const PAGES = [
  {
    title: "Potato yields in the north",
    url: "https://gardens.example/potatoes",
    content: "A plot of 110 m² gives 25 to 40 kg.",
  },
  {
    title: "Growing <b>potatoes</b>",
    url: "https://plots.example/grow?a=1&b=2",
    content: "Plant when the birch is in leaf.",
  },
];

export class Searxng {
  readonly asked: string[] = [];
  private constructor(private readonly http: Server) {}

  static async start(): Promise<Searxng> {
    const http = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const form = new URLSearchParams(Buffer.concat(parts).toString());
        server.asked.push(form.get("q") ?? new URL(request.url ?? "", "http://x").searchParams.get("q") ?? "");
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ query: "", number_of_results: PAGES.length, results: PAGES }));
      });
    });
    const server = new Searxng(http);
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  /** Settings of a daemon that asks here, whatever the notes say. */
  get settings(): Record<string, string> {
    return {
      VAULTASK_WEB__ENABLED: "true",
      VAULTASK_WEB__PROVIDER: "searxng",
      VAULTASK_WEB__SEARXNG_URL: `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`,
      VAULTASK_WEB__THIN_BELOW: "1",
    };
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }
}
