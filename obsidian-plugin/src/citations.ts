// From an answer's `[n]` and the daemon's places to links that Obsidian resolves. Pure.
import { encodePart, encodePath } from "./addresses";
import { blocksOf, openFence } from "./blocks";
import { neutraliseForNote } from "./neutralise";
import type { Citation, Source } from "./wire";

export type Place = Pick<Source, "path" | "heading" | "heading_path" | "block" | "line_start" | "line_end" | "title">;

/** What of a place a link needs; related notes have no more. */
export type LinkPlace = Pick<Source, "path" | "heading" | "block"> & { heading_path?: readonly string[] };

/** What ends or splits the target of a wikilink. */
const SPLITS_A_LINK = /[#^|[\]\\]|%%/;
const CITATIONS = /\[\u2060?\s*\d{1,3}(?:\s*[,;]\s*\d{1,3})*\s*\]/g;

/** Whether a wikilink, or a linktext, can name this note at all; others are opened by their file, or by an address. */
export function isLinkable(path: string): boolean {
  return !SPLITS_A_LINK.test(path);
}

/**
 * The linktext for openLinkText and hover-link: `Folder/Note#Heading`, `#^block`, or the note alone. Where `headings`
 * of the note are given and the place's occurs twice among them, the headings above it are named too.
 */
export function linktext(place: LinkPlace, headings: readonly string[] = []): string {
  const note = place.path.replace(/\.md$/i, "");
  return isLinkable(place.path) ? note + subpath(place, headings) : place.path;
}

/** A heading as it stands in a link: Obsidian writes a blank for the signs that have a meaning there. */
export function plainHeading(heading: string): string {
  return heading.replace(/(?:[#^|[\]\\:\s]|%%)+/g, " ").trim();
}

function subpath({ heading, heading_path = [], block }: LinkPlace, headings: readonly string[]): string {
  if (block) return `#^${block}`;
  const name = plainHeading(heading ?? "");
  if (name === "") return "";
  const twins = headings.filter((other) => plainHeading(other) === name);
  const names = twins.length > 1 ? heading_path.map(plainHeading).filter((each) => each !== "") : [name];
  return names.map((each) => `#${each}`).join("");
}

/** What a chip says to someone who hears it: "Source 3: Rent, under Notice". */
export function chipLabel(n: number, { title, heading }: Pick<Place, "title" | "heading">): string {
  const under = heading?.trim() && heading.trim() !== title ? `, under ${heading.trim()}` : "";
  return `Source ${n}: ${title}${under}`;
}

/** A piece of text: words, or the numbers that stood in it as `[1]`, `[1, 2]` or `[1][2]`. */
export type Piece = string | number;

/** Cut a text at its citations of known numbers; unknown ones stay words. */
export function cutAtCitations(text: string, known: (n: number) => boolean): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const { 0: group, index } of text.matchAll(CITATIONS)) {
    const numbers = (group.match(/\d+/g) ?? []).map(Number);
    if (!numbers.some(known)) continue;
    pieces.push(text.slice(at, index), ...numbers.map((n) => (known(n) ? n : `[${n}]`)));
    at = index + group.length;
  }
  return join([...pieces, text.slice(at)]);
}

/** Put words that follow words together, and leave out empty ones. */
function join(pieces: readonly Piece[]): Piece[] {
  return pieces.reduce<Piece[]>((joined, piece) => {
    const last = joined.at(-1);
    if (typeof piece === "string" && typeof last === "string") joined[joined.length - 1] = last + piece;
    else if (piece !== "") joined.push(piece);
    return joined;
  }, []);
}

/** The place that `[n]` stands for: the citation that grounding narrowed to lines, else the whole source. */
export function placeOf(n: number, sources: readonly Source[], citations: readonly Citation[]): Source | null {
  const source = sources.find((each) => each.n === n);
  return source ? { ...source, ...citations.find((each) => each.n === n) } : null;
}

/** The answer as Markdown to paste: `[n]` as wikilinks, and the list of sources below when asked for. */
export function answerWithLinks(
  { text, sources, citations }: { text: string; sources: readonly Source[]; citations: readonly Citation[] },
  how: { list: boolean },
): string {
  const cited = new Map<number, Source>();
  const link = (n: number, isInTable: boolean) => {
    const place = placeOf(n, sources, citations);
    if (place === null) return `[${n}]`;
    cited.set(n, place);
    return linkTo(place, String(n), isInTable);
  };
  const known = (n: number) => sources.some((source) => source.n === n);
  const answer = neutraliseForNote(closed(text), (words, isInTable) => {
    const pieces = cutAtCitations(words, known);
    return pieces.map((piece) => (typeof piece === "string" ? piece : link(piece, isInTable))).join("");
  });
  if (!how.list || cited.size === 0) return answer;
  const numbers = [...cited].sort(([a], [b]) => a - b);
  const entries = numbers.map(([n, place]) => `- ${linkTo(place, place.title, false)} (${n})`);
  return `${answer.trimEnd()}\n\n**Sources**\n\n${entries.join("\n")}\n`;
}

/** A link to a place: a wikilink, or a Markdown link where a wikilink cannot hold the note's name. */
function linkTo(place: Source, label: string, isInTable: boolean): string {
  if (isLinkable(place.path)) {
    const alias = label.replace(/(?:[|[\]<>`\s]|%%)+/g, " ").trim();
    return `[[${linktext(place)}${isInTable ? "\\" : ""}|${alias}]]`;
  }
  const target = [encodePath(place.path), ...subpath(place, []).split("#").slice(1).map(encodePart)];
  return `[${label.replace(/[\\`*_[\]<>|~=$%!#&\n]/g, "\\$&")}](${target.join("#")})`;
}

/** An answer that was stopped inside of a code block must not take what stands below into it. */
function closed(answer: string): string {
  const open = openFence(blocksOf(answer).at(-1) ?? "");
  return open === null ? answer : `${answer.trimEnd()}\n${open}\n`;
}
