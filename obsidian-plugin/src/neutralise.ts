// Makes model and note text harmless before Obsidian's renderer sees it, and what the renderer made of it after. Pure.
//
// A word joiner (U+2060) parts the signs that together begin something live. It has no width, so the text reads as it
// was, and it works the same in words and in code: nothing here rests on telling code from words as some renderer does,
// which is where such filters are led astray. Nor does it rest on text being rendered once only: a plugin that takes
// the shown words and renders them again finds the joiners still there. `scrub` takes them out of rendered code, so
// that what is copied from there is what was written.
import { blocksOf, hasTable, isCodeBlock } from "./blocks";

export { scrub } from "./scrub";

const JOINER = "\u2060";

/** Languages that are coloured, and that no plugin is known to run or to draw. */
const PLAIN_LANGUAGES = new Set(
  (
    "bash c cpp cs css diff docker go http ini java javascript js json jsx kotlin lua markdown md perl php " +
    "powershell py python r ruby rust scss sh shell sql swift tex text toml ts tsx txt typescript xml yaml yml"
  ).split(" "),
);

/** What stands before the text of a line: quotes and list items, in any order. */
const CONTAINERS = String.raw`(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*`;

/** Where Dataview or Meta Bind would find code to run that begins a line: "= ..", "$= ..", "VIEW[..]". */
const LIVE_LINE = new RegExp(String.raw`^${CONTAINERS}(?=\$=|=(?!=)|[A-Z][A-Za-z_]{1,40}\[)`, "gm");

/**
 * Signs that are parted behind the first of them. Each looks a bounded way, or to the next such sign: no text is slow.
 */
const PARTED: readonly RegExp[] = [
  /<(?=[a-z/!?%])/gi, // tags, comments, autolinks, Templater
  /!(?=\[)/g, // pictures and embeds, also those by reference
  /\](?=:)/g, // definitions of references
  /\](?=\((?!\s*https?:\/\/))/gi, // links to anything but the web
  /\[(?=\[[^[\]|#\n]*:)/g, // wikilinks with a scheme: no note's name holds a colon
  /\b(?!https?:)[a-z][a-z0-9+.-]{1,30}(?=:\/\/)/gi, // bare addresses of other schemes
  /\b(?:javascript|vbscript|data|file|blob)(?=:\S)/gi,
  /%(?=%)/g, // comments, which would hide what follows
  /&(?=#?\w{1,40};)(?!(?:nbsp|ndash|mdash|hellip|euro|deg|times|quot|amp(?!;#?\w+;));)/g, // signs in disguise
  // TeX that carries addresses, attributes and styles, or loads what does.
  /\\(?=(?:href|url|style|class|cssId|data|html|require|bbox|unicode|mmlToken|toggle|mathtip|texttip|csname)(?![a-z]))/gi,
  // A citation that would be the box of a task.
  new RegExp(String.raw`^(?=[ \t]*[\d>*+-])${CONTAINERS}\[(?=\d{1,3}\][ \t])`, "gm"),
  LIVE_LINE, // the first line of a code block
  // The same in inline code.
  /`[ \t]*(?:\n[ \t>]*)?(?=\$?=|[A-Z][A-Za-z_]{1,40}\[)/g,
];

/** A run of backticks or tildes where a fence may begin, and what follows it. */
const FENCE = new RegExp(`^(${CONTAINERS}(?:\`{3,}(?=[^\`\\n]*$)|~{3,}))([^\\n]*)$`, "gm");
const IS_FENCE = new RegExp(FENCE.source);
const IS_TICK_FENCE = new RegExp(`^${CONTAINERS}\`{3,}[^\`]*$`);

/**
 * Rewrite Markdown so that nothing in it runs, loads or transcludes: raw HTML is shown as text; fenced code keeps its
 * text and loses every language name that is not on a list of plain ones; inline code that Dataview would run is
 * broken; images and embeds become links or words; links other than http(s) and wikilinks become words; MathJax
 * commands that carry addresses or attributes are taken out. Citations `[n]` are escaped so that they are never list
 * tasks or link labels.
 */
export function neutralise(markdown: string): string {
  return partInlineCode(part(oneLineEnd(markdown)));
}

/**
 * The same for text that is written into a note, where nobody takes the joiners out of code again: a code block stays
 * as it is but for what would run, and so does inline code. `change` is given the words that are
 * not code.
 */
export function neutraliseForNote(markdown: string, change: (words: string, isInTable: boolean) => string): string {
  const blocks = blocksOf(oneLineEnd(markdown)).map((block) => {
    if (isCodeBlock(block))
      return partFences(block)
        .replace(/<(?=%)/g, `<${JOINER}`)
        .replace(LIVE_LINE, `$&${JOINER}`);
    const isInTable = hasTable(block);
    return changeWords(part(block), (words) => change(words, isInTable));
  });
  return blocks.join("");
}

/** A carriage return ends a line in Markdown, too; what ends one for regular expressions alone is a blank. */
function oneLineEnd(markdown: string): string {
  return markdown.replace(/\r\n?/g, "\n").replace(/[\u2028\u2029]/g, " ");
}

function part(markdown: string): string {
  const parted = PARTED.reduce((text, sign) => text.replace(sign, `$&${JOINER}`), partFences(markdown));
  // At the very beginning these dashes would make properties of what follows, which are not shown.
  return parted.replace(/^---(?=[ \t]*(?:\n|$))/, "\n---");
}

function partFences(markdown: string): string {
  return markdown.replace(FENCE, (all, fence: string, info: string) => {
    const name = info.trim().toLowerCase();
    return name === "" || info.startsWith(JOINER) || PLAIN_LANGUAGES.has(name) ? all : fence + JOINER + info;
  });
}

/** Begin every inline code with a joiner, so that no plugin finds the prefix it looks for. */
function partInlineCode(markdown: string): string {
  return markdown.replace(/^[^\n]*`[^\n]*$/gm, (line) =>
    IS_TICK_FENCE.test(line) ? line : line.replace(/`+\u2060?/g, (run) => (run.endsWith(JOINER) ? run : run + JOINER)),
  );
}

/** Change what is not code, line by line: code in list items is told by its fences, inline code by its backticks. */
function changeWords(text: string, change: (words: string) => string): string {
  let isCode = false;
  const lines = text.split("\n").map((line) => {
    const isFence = IS_FENCE.test(line);
    isCode = isCode !== isFence;
    return isCode || isFence ? line : changeLine(line, change);
  });
  return lines.join("\n");
}

function changeLine(line: string, change: (words: string) => string): string {
  const runs = [...line.matchAll(/`+/g)].map(({ 0: run, index }) => ({ index, length: run.length }));
  const last = new Map(runs.map(({ length }, i) => [length, i]));
  let done = "";
  let at = 0;
  for (let i = 0; i < runs.length; i += 1) {
    const open = runs[i];
    if (open === undefined || last.get(open.length) === i) continue;
    do i += 1;
    while (runs[i]?.length !== open.length);
    const end = (runs[i]?.index ?? 0) + open.length;
    done += change(line.slice(at, open.index)) + line.slice(open.index, end);
    at = end;
  }
  return done + change(line.slice(at));
}
