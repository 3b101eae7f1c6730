// Where a passage stands in a note today: lines may have moved since it was indexed. Pure.
import { plainHeading } from "./citations";
import type { Source } from "./wire";

/** What is known of a passage: its place when it was indexed, and its words. */
export type Passage = Pick<Source, "heading" | "block" | "line_start" | "quote"> & { heading_path?: readonly string[] };

/** Letters and digits that make a line one of its own: shorter ones stand in many places. */
const DISTINCTIVE = 12;

/**
 * Give the 0-based line on which a passage stands in a note's text: where it was if it still is, else the nearest place
 * of all of it, of its first distinctive line, its block's id or its heading, else the top.
 */
export function lineOf(text: string, passage: Passage): number {
  const lines = text.split(/\r\n|\r|\n/);
  const quote = passage.quote.split(/\r\n|\r|\n/);
  const before = Math.min(passage.line_start, lines.length) - 1;
  const at = (found: (line: number) => boolean) => nearest(lines.length, before, found);
  const { block, heading } = passage;
  const own = quote.find((words) => (words.match(/[\p{L}\p{N}]/gu) ?? []).length >= DISTINCTIVE);
  return (
    at((line) => stands(lines, line, quote)) ??
    (own ? at((line) => holds(lines[line], own)) : null) ??
    (block ? at((line) => lines[line]?.trimEnd().endsWith(`^${block}`) ?? false) : null) ??
    (heading ? at((line) => isHeading(lines[line], heading)) : null) ??
    0
  );
}

/** Look at lines in the order of their distance from one. */
function nearest(count: number, from: number, found: (line: number) => boolean): number | null {
  for (let away = 0; away <= Math.max(from, count - 1 - from); away += 1) {
    if (from - away >= 0 && from - away < count && found(from - away)) return from - away;
    if (away > 0 && from + away >= 0 && from + away < count && found(from + away)) return from + away;
  }
  return null;
}

/** Whether all of a quote stands from this line on; its first and last line may be parts of theirs. */
function stands(lines: readonly string[], from: number, quote: readonly string[]): boolean {
  return quote.some((words) => words.trim() !== "") && quote.every((words, i) => holds(lines[from + i], words));
}

function holds(line: string | undefined, words: string): boolean {
  return words.trim() === "" || (line?.includes(words.trim()) ?? false);
}

function isHeading(line: string | undefined, heading: string): boolean {
  const found = /^ {0,3}#{1,6}[ \t]+(.*)$/.exec(line ?? "");
  const words = (text: string) => plainHeading(text.replace(/[ \t]#+[ \t]*$/, "")).toLowerCase();
  return found?.[1] !== undefined && words(found[1]) === words(heading);
}
