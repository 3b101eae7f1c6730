// Faithful where it bites: a name of the API that the stand-in lacks is an error with that name, never undefined.

const ASKED_BY_THE_LANGUAGE = new Set([
  "then",
  "toJSON",
  "constructor",
  "prototype",
  "$$typeof",
  "asymmetricMatch",
  "nodeType",
  "__esModule",
]);

/** Wrap a value so that reading a name it lacks throws with that name. */
export function strict<T extends object>(what: string, value: T): T {
  return new Proxy(value, {
    get(target, name, receiver) {
      if (typeof name === "symbol" || name in target || ASKED_BY_THE_LANGUAGE.has(name)) {
        return Reflect.get(target, name, receiver) as unknown;
      }
      throw new Error(`${what}.${name} is not in the stand-in of Obsidian`);
    },
  });
}
