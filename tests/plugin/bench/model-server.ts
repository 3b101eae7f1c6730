// A model server, OpenAI-compatible, that replies as scripted: token by token, on command, badly, or not at all.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a reply is made of. */
export type Step =
  | string // a token
  | { wait: Gate } // nothing until the gate opens
  | "silence:" // nothing more, and the connection stays open
  | "reset:" // the connection is torn down
  | "endless:" // tokens until the reader leaves
  | { status: number }; // instead of a stream

/** Opens once, on the test's command. */
export class Gate {
  open!: () => void;
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}

interface Asked {
  messages: { role: string; content: string }[];
}

export class ModelServer {
  /** The steps of the replies to come; the last one is used again and again. */
  replies: Step[][] = [["The notes say so [1]."]];
  readonly requests: Asked[] = [];
  /** How many readers left before their reply had ended. */
  left = 0;
  sent = 0;
  /** Milliseconds between two tokens. */
  pace = 0;
  /** When a token was handed to the network, in milliseconds of Date.now. */
  readonly sentAt: number[] = [];
  private constructor(private readonly http: Server) {}

  static async start(): Promise<ModelServer> {
    const http = createServer();
    const server = new ModelServer(http);
    http.on("request", (request, response) => void server.serve(request, response).catch(() => response.destroy()));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get base(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Script the next replies, and forget what was asked so far. */
  script(...replies: Step[][]): void {
    this.replies = replies;
    this.requests.length = 0;
    this.sentAt.length = 0;
    this.left = this.sent = 0;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      const entry = { id: "bench", object: "model", created: 1, owned_by: "library" };
      return json(response, 200, { object: "list", data: [entry] });
    }
    const asked = JSON.parse(await bodyOf(request)) as Asked;
    if (request.url === "/api/show" || request.url === "/v1/api/show") return json(response, 404, { error: "no" });
    const reply = this.replies.length > 1 ? this.replies.shift() : this.replies[0];
    this.requests.push(asked);
    let over = false;
    response.on("close", () => {
      if (!over && !response.writableFinished) this.left += 1;
    });
    over = await this.play(reply ?? [], response);
  }

  /** Give whether it was the server that ended. */
  private async play(reply: Step[], response: ServerResponse): Promise<boolean> {
    const status = reply.find((step): step is { status: number } => typeof step === "object" && "status" in step);
    if (status) {
      json(response, status.status, { error: { message: `no: ${status.status}` } });
      return true;
    }
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    response.flushHeaders();
    for (const step of reply) {
      if (typeof step === "object" && "wait" in step) await Promise.race([step.wait.opened, closed(response)]);
      else if (step === "reset:") {
        response.socket?.resetAndDestroy();
        return true;
      } else if (step === "silence:") await closed(response);
      else if (step === "endless:") await this.goOn(response);
      else if (typeof step === "string") {
        this.token(response, step);
        if (this.pace > 0) await new Promise((resolve) => setTimeout(resolve, this.pace));
      }
      if (response.destroyed) return false;
    }
    response.write(line({}, "stop"));
    response.end("data: [DONE]\n\n");
    return true;
  }

  private async goOn(response: ServerResponse): Promise<void> {
    while (!response.destroyed) {
      this.token(response, "on ");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  private token(response: ServerResponse, content: string): void {
    response.write(line({ role: "assistant", content }, null));
    this.sentAt.push(Date.now());
    this.sent += 1;
  }
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.on("close", resolve));
}

function line(delta: object, finish: string | null): string {
  const choice = { index: 0, delta, finish_reason: finish };
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "bench", choices: [choice] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
