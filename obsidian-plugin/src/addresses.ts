// Paths of the vault as parts of an address. Pure.

/** Encode a path, part by part. */
export function encodePath(path: string): string {
  return path.split("/").map(encodePart).join("/");
}

/** Encode one part, brackets too: a Markdown link would end at them. */
export function encodePart(text: string): string {
  // Half a surrogate pair cannot be encoded at all.
  const whole = text.replace(/\p{Surrogate}/gu, "\ufffd");
  return encodeURIComponent(whole).replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"));
}
