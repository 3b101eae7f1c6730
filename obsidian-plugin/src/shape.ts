// Whether something that came from outside looks as its type says: enough of it that nothing later trips. Pure.

/**
 * The fields that must be there, such as `"title n# flag! list[] part{} note?"`: a string where nothing follows the
 * name, a number, a boolean, a list or an object by its sign, and null as well with `?`.
 */
export type Shape = string;

const KINDS: Readonly<Record<string, string>> = { "": "string", "#": "number", "!": "boolean", "{}": "object" };

/** Say whether a value is an object with these fields. Others may stand beside them. */
export function fits(value: unknown, shape: Shape): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  return shape.split(" ").every((field) => {
    const [, name = "", sign = ""] = /^(\w+)(.*)$/.exec(field) ?? [];
    return isOf((value as Record<string, unknown>)[name], sign);
  });
}

/** Say whether a value is a list of such objects. */
export function allFit(value: unknown, shape: Shape): boolean {
  return Array.isArray(value) && value.every((each) => fits(each, shape));
}

/** Read JSON; undefined where it is none. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOf(value: unknown, sign: string): boolean {
  if (sign.endsWith("?")) return value === null || isOf(value, sign.slice(0, -1));
  return sign === "[]" ? Array.isArray(value) : value !== null && typeof value === KINDS[sign];
}
