// What can go wrong between the plugin and the daemon, each with a sentence that says what to do. Pure.
import { fits, readJson } from "./shape";

export type TroubleKind =
  | "unreachable" // nobody answers at the address
  | "token" // 401, or 429 after too many wrong ones
  | "not_ours" // something answers that is no vault-ask, or one that is too old
  | "refused" // any other 4xx or 5xx with our sentence
  | "broken"; // the stream ended in the middle

/** A request that failed. `message` is one sentence for the reader: what happened, and what to do. */
export class DaemonError extends Error {
  constructor(
    readonly kind: TroubleKind,
    readonly code: string,
    message: string,
    readonly retry: boolean,
  ) {
    super(message);
    this.name = "DaemonError";
  }
}

const WRONG_TOKEN = "The daemon wants its VAULTASK_API_TOKEN. Choose it in the plugin's settings.";
const NO_TOKEN =
  "The daemon has no token yet. Start it with VAULTASK_API_TOKEN set, and choose that in the plugin's settings.";
const LOOPBACK = /^https?:\/\/(?:localhost|127\.[\d.]+|\[::1\])(?::|\/|$)/i;

export function unreachable(address: string): DaemonError {
  const where = LOOPBACK.test(address)
    ? "That is this device itself: start the daemon here, or enter the address of its machine."
    : "Is the daemon running, is the address right, and is this device in its network?";
  return new DaemonError("unreachable", "unreachable", `Nothing answers at ${address}. ${where}`, true);
}

export function broken(): DaemonError {
  const message = "The connection to the daemon ended in the middle. Try again.";
  return new DaemonError("broken", "broken", message, true);
}

export function unsendableToken(): DaemonError {
  const message = "The token holds a character that cannot be sent. Enter it exactly as the daemon has it.";
  return new DaemonError("token", "token_unsendable", message, false);
}

/** Something answered that this plugin cannot read. */
export function notOurs(address: string, code: string): DaemonError {
  const message =
    code === "redirected"
      ? `${address} sends visitors on to another address. Enter that one.`
      : `What answers at ${address} is not a vault-ask that this plugin understands. Check the address, and ` +
        "that daemon and plugin are of the same version.";
  return new DaemonError("not_ours", code, message, false);
}

/** What a status other than 2xx means: in the daemon's own sentence where it is one of ours. */
export function refusal(address: string, status: number, text: string): DaemonError {
  // A redirect that was not followed shows no status to a page.
  if (status === 0 || (status >= 300 && status < 400)) return notOurs(address, "redirected");
  const told = readJson(text);
  const ours = fits(told, "code message") ? (told as { code: string; message: string }) : null;
  const code = ours?.code ?? `http_${status}`;
  if (status === 401) return new DaemonError("token", code, WRONG_TOKEN, false);
  if (code === "foreign_origin") return new DaemonError("token", code, NO_TOKEN, false);
  // An unknown path is told in our words too, by a daemon that is older than this plugin.
  if (!ours || (status === 404 && code !== "no_such_note")) return notOurs(address, code);
  return new DaemonError(status === 429 ? "token" : "refused", code, ours.message, status === 429 || status >= 500);
}
