// requestUrl: through the app, not through the page, so that neither CORS nor a block of the platform is in its way.

export interface RequestUrlParam {
  url: string;
  method?: string;
  contentType?: string;
  body?: string | ArrayBuffer;
  headers?: Record<string, string>;
  throw?: boolean;
}

interface Response {
  status: number;
  headers: Record<string, string>;
  text: string;
  json: unknown;
  arrayBuffer: ArrayBuffer;
}

interface ResponsePromise extends Promise<Response> {
  text: Promise<string>;
  json: Promise<unknown>;
  arrayBuffer: Promise<ArrayBuffer>;
}

export function requestUrl(request: RequestUrlParam | string): ResponsePromise {
  const answered = send(typeof request === "string" ? { url: request } : request);
  const part = <K extends keyof Response>(name: K) => {
    const taken = answered.then((response) => response[name]);
    taken.catch(() => {});
    return taken;
  };
  return Object.assign(answered, { text: part("text"), json: part("json"), arrayBuffer: part("arrayBuffer") });
}

async function send(request: RequestUrlParam): Promise<Response> {
  const answer = (await window.benchBridge({ to: "request", request: { ...request, body: asText(request.body) } })) as
    { status: number; headers: Record<string, string>; text: string } | { error: string };
  if ("error" in answer) throw new Error(answer.error);
  if (request.throw !== false && answer.status >= 400) {
    throw Object.assign(new Error(`Request failed, status ${answer.status}`), {
      status: answer.status,
      headers: answer.headers,
    });
  }
  return {
    ...answer,
    get json() {
      return JSON.parse(answer.text) as unknown;
    },
    get arrayBuffer() {
      return new TextEncoder().encode(answer.text).buffer;
    },
  };
}

function asText(body: string | ArrayBuffer | undefined): string | undefined {
  return body instanceof ArrayBuffer ? new TextDecoder().decode(body) : body;
}
