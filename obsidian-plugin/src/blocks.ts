// Markdown cut into the blocks that are drawn one by one. Pure.
//
// A cut is made before a line only where nothing that may still be appended could undo it. So the signs at the
// beginning of a line that is not finished decide as soon as they are certain (`- ` is an item, `-` may become
// anything), and what a finished line opens or closes (a fence, math) is known only at its end. Where it is doubtful
// there is no cut.

interface Fence {
  /** The sign it is made of: a backtick, a tilde, or a dollar of display math. */
  sign: string;
  length: number;
}

interface Scan {
  fence: Fence | null;
  /** The column at which the text of the list's items begins; 0 outside of lists. */
  item: number;
  isQuote: boolean;
  /** The line before ended its block for certain: a heading, or the end of a fence. */
  isEnded: boolean;
  isAfterBlank: boolean;
  isEmpty: boolean;
}

const FENCE = /^( {0,3})(`{3,}|~{3,})([^\n]*)/;
const MATH = /^( {0,3})\$\$(.*)$/;
const HEADING = /^#{1,6}(?:[ \t]|$)/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?:([ \t]{1,5})|$)/;
const TABLE = /^[^\n|]*\|[^\n]*\n[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\||$)/m;
const MAYBE_ITEM = /^(?:[-*+]|\d{1,9}[.)]?)$/;

/**
 * Cut Markdown into top-level blocks whose concatenation is the text. Appending to the text never changes any block but
 * the last, so that a finished block is drawn once: fences, lists, tables, quotes and math stay whole.
 */
export function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let scan = fresh();
  let start = 0;
  for (let at = 0; at < markdown.length;) {
    const end = markdown.indexOf("\n", at);
    const isWhole = end >= 0;
    const line = markdown.slice(at, isWhole ? end : undefined).replace(/\r$/, "");
    if (!scan.isEmpty && beginsBlock(line, isWhole, scan)) {
      blocks.push(markdown.slice(start, at));
      start = at;
      scan = fresh();
    }
    pass(line, scan);
    at = isWhole ? end + 1 : markdown.length;
  }
  if (start < markdown.length) blocks.push(markdown.slice(start));
  return blocks;
}

/** Whether a block is one of code between fences, from its first line to its last. */
export function isCodeBlock(block: string): boolean {
  const lines = block.trimEnd().split("\n");
  const open = opening(lines[0] ?? "");
  return open !== null && open.sign !== "$" && lines.length > 1 && closes(lines.at(-1) ?? "", open);
}

/** Whether a block has a table in it. */
export function hasTable(block: string): boolean {
  return TABLE.test(block);
}

/** The line that would close a block of code or math that its block leaves open; null where it leaves none open. */
export function openFence(block: string): string | null {
  const lines = block.trimEnd().split("\n");
  const open = opening(lines[0] ?? "");
  const isOpen = open !== null && !lines.slice(1).some((line) => closes(line, open));
  return isOpen ? open.sign.repeat(open.length) : null;
}

function fresh(): Scan {
  return { fence: null, item: 0, isQuote: false, isEnded: false, isAfterBlank: false, isEmpty: true };
}

/** Whether a line, perhaps only its beginning, starts a block whatever follows. */
function beginsBlock(line: string, isWhole: boolean, scan: Scan): boolean {
  const words = line.trimStart();
  if (scan.fence !== null || words === "") return false;
  if (scan.isEnded) return true;
  const indent = line.length - words.length;
  if (/^(?:```|~~~)/.test(words) && indent < (scan.item || 4)) return true;
  if (scan.isAfterBlank) return beginsAfterBlank(line, indent, isWhole, scan);
  if (indent > 0) return false;
  return (HEADING.test(line) && (isWhole || /[ \t]/.test(line))) || (line.startsWith(">") && !scan.isQuote);
}

function beginsAfterBlank(line: string, indent: number, isWhole: boolean, scan: Scan): boolean {
  if (scan.item === 0) return indent < 4 && !line.startsWith("\t");
  const isItem = ITEM.test(line) || (!isWhole && MAYBE_ITEM.test(line));
  return indent === 0 && !isItem;
}

/** Take note of what a line opens, closes and ends. */
function pass(line: string, scan: Scan): void {
  const isBlank = line.trim() === "";
  if (scan.fence !== null) {
    scan.isEnded = closes(line, scan.fence);
    if (scan.isEnded) scan.fence = null;
  } else if (!isBlank) {
    if (scan.isEmpty) scan.isQuote = line.startsWith(">");
    scan.isEnded = HEADING.test(line);
    scan.fence = opening(line, scan.item);
    passItem(line, scan);
  }
  scan.isAfterBlank = isBlank;
  scan.isEmpty &&= isBlank;
}

function passItem(line: string, scan: Scan): void {
  const [, indent = "", mark = "", gap = " "] = ITEM.exec(line) ?? [];
  if (mark !== "" && (scan.item === 0 || indent.length < scan.item)) {
    scan.item = indent.length + mark.length + (gap.length > 4 ? 1 : gap.length);
  }
}

/** What a line opens that goes on over blank lines. Inside of a list item it is the item that holds it together. */
function opening(line: string, item = 0): Fence | null {
  const [, indent = "", run = "", info = ""] = FENCE.exec(line) ?? [];
  if (run !== "" && indent.length < (item || 4) && !(run.startsWith("`") && info.includes("`"))) {
    return { sign: run.charAt(0), length: run.length };
  }
  const math = MATH.exec(line);
  const isOpen = math !== null && (math[1] ?? "").length < (item || 4) && !(math[2] ?? "").includes("$$");
  return isOpen ? { sign: "$", length: 2 } : null;
}

function closes(line: string, { sign, length }: Fence): boolean {
  if (sign === "$") return line.includes("$$");
  const words = line.trim();
  const isRun = words.length >= length && words === sign.repeat(words.length);
  return isRun && line.length - line.trimStart().length < 4;
}
