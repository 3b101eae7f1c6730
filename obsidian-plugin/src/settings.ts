// What can be set, its defaults and what is wrong with a value. Pure; the token itself is not among it.

export type OpenIn = "current" | "tab" | "split" | "window";

export interface Settings {
  /** Address of the daemon, such as http://nas:8765. */
  address: string;
  /** Name of the secret that holds the token; empty where the daemon has none. */
  tokenSecret: string;
  /** Whether personal notes are included in a vault where the switch was not touched yet. */
  personalByDefault: boolean;
  /** BCP 47 tag; empty for the question's own language. */
  language: string;
  /** Passages an answer may rest on; null as the daemon is configured. */
  sources: number | null;
  openIn: OpenIn;
}

export const DEFAULTS: Settings = {
  address: "http://127.0.0.1:8765",
  tokenSecret: "",
  personalByDefault: false,
  language: "",
  sources: null,
  openIn: "current",
};

const OPEN_IN: readonly OpenIn[] = ["current", "tab", "split", "window"];
const LANGUAGE = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/;
const LONGEST_LANGUAGE = 35;
const MOST_SOURCES = 50;

/** Read what was stored, by an older version or a hand: each value that does not fit is its default. */
export function readSettings(stored: unknown): Settings {
  const { address, tokenSecret, personalByDefault, language, sources, openIn } = (
    typeof stored === "object" && stored !== null ? stored : {}
  ) as Record<keyof Settings, unknown>;
  const checked = checkAddress(typeof address === "string" ? address : "");
  return {
    address: "address" in checked ? checked.address : DEFAULTS.address,
    tokenSecret: typeof tokenSecret === "string" ? tokenSecret : DEFAULTS.tokenSecret,
    personalByDefault: personalByDefault === true,
    language: typeof language === "string" && checkLanguage(language) === null ? language.trim() : DEFAULTS.language,
    sources: typeof sources === "number" && checkSources(String(sources)) === null ? sources : DEFAULTS.sources,
    openIn: OPEN_IN.find((way) => way === openIn) ?? DEFAULTS.openIn,
  };
}

/** Give the address as requests use it, or a sentence that says what is wrong with it. */
export function checkAddress(typed: string): { address: string } | { wrong: string } {
  const url = parse(typed.trim());
  // Browsers take a blank in a name for %20, and a scheme that is mistyped for a name.
  if (url === null || /[%\s]|^https?$/.test(url.hostname))
    return { wrong: "Enter the daemon's address, such as http://nas:8765." };
  const wrong = whatIsWrong(url);
  // Who copies it from the browser copies the page's path too.
  return wrong === null ? { address: url.origin + url.pathname.replace(/(?:\/(?:chat)?)+$/, "") } : { wrong };
}

/** A sentence that says what is wrong with a language tag, or null. */
export function checkLanguage(typed: string): string | null {
  const tag = typed.trim();
  if (tag === "" || (tag.length <= LONGEST_LANGUAGE && LANGUAGE.test(tag))) return null;
  return "Enter a tag such as en or pt-BR, or nothing for the question's own language.";
}

/** A sentence that says what is wrong with a number of sources (1 to 50, empty allowed), or null. */
export function checkSources(typed: string): string | null {
  const text = typed.trim();
  if (text === "" || (/^[0-9]{1,2}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_SOURCES)) return null;
  return `Enter a number from 1 to ${MOST_SOURCES}, or nothing for the daemon's choice.`;
}

/** Read an address that may lack its `http://`, or the brackets of an IPv6 address. */
function parse(text: string): URL | null {
  const bare = /^[0-9a-f]*:[0-9a-f.:]*:[0-9a-f.:]*$/i.test(text) ? `[${text}]` : text;
  try {
    return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `http://${bare}`);
  } catch {
    return null;
  }
}

function whatIsWrong({ protocol, username, password, search, hash, hostname }: URL): string | null {
  if (protocol !== "http:" && protocol !== "https:") return "An address begins with http:// or https://.";
  if (username + password !== "") return "No name or password belongs here. Choose the token below.";
  if (search + hash !== "") return "Enter the address alone, up to ? or #.";
  if (hostname !== "0.0.0.0" && hostname !== "[::]") return null;
  return "Enter the name or address of the daemon's machine.";
}
