// Holds the stand-in against obsidian.d.ts, at compile time: no name that Obsidian lacks, and no method that takes or
// gives something else. Classes of the API count as objects here, since ours hold a part of each; what begins with
// `bench` is the stand-in's own.
import type * as Real from "obsidian";
import type * as Ours from "./obsidian";

type Blurred<T> = T extends string | number | boolean | bigint | symbol | null | undefined | void
  ? T
  : T extends Node | Event | Window
    ? T
    : T extends (...given: infer Given) => infer Answer
      ? (...given: BlurredAll<Given>) => Blurred<Answer>
      : T extends Promise<infer Answer>
        ? Promise<Blurred<Answer>>
        : T extends readonly unknown[]
          ? readonly unknown[]
          : object;
type BlurredAll<T extends unknown[]> = { [K in keyof T]: Blurred<T[K]> };

type OwnName = `bench${string}`;
/** Names of ours that the real one does not have. */
type Invented<O, R> = Exclude<keyof O, keyof R | OwnName>;
/** Names of ours that are not what the real one has under that name. */
type Different<O, R> = {
  [K in keyof O & keyof R]: Blurred<O[K]> extends Blurred<R[K]> ? never : K;
}[keyof O & keyof R];
type Wrong<O, R> = Invented<O, R> | Different<O, R>;

type Instance<T> = T extends { prototype: infer Made } ? Made : never;
type Statics<T> = Omit<T, "prototype">;
type WrongOf<Name extends keyof typeof Ours & keyof typeof Real> = (typeof Ours)[Name] extends { prototype: unknown }
  ? | Wrong<Instance<(typeof Ours)[Name]>, Instance<(typeof Real)[Name]>>
    | Wrong<Statics<(typeof Ours)[Name]>, Statics<(typeof Real)[Name]>>
  : Different<{ it: (typeof Ours)[Name] }, { it: (typeof Real)[Name] }>;

type Report = {
  [Name in keyof typeof Ours & keyof typeof Real]: WrongOf<Name>;
};
type Mistakes = { [Name in keyof Report as [Report[Name]] extends [never] ? never : Name]: Report[Name] };

/** The names below do not exist in obsidian.d.ts, or are something else there. */
export const noMistakes: Mistakes = {};
export const noInventedNames: Record<Exclude<keyof typeof Ours, keyof typeof Real>, never> = {};
