// Obsidian's Markdown renderer, dangerous where it is: HTML is put in as it stands, images load, embeds transclude, and
// code that other plugins would run is handed to `benchRun`, so that a test sees what would have run.
import MarkdownIt from "markdown-it";
import type { App } from "./app";
import { Component } from "./events";
import { partOf } from "./popover";
import { parseLinktext } from "./vault";

/** Languages of fenced code that common plugins, or Obsidian itself, turn into something that runs, asks or draws. */
const RUN = new Set([
  "dataviewjs",
  "dataview",
  "tasks",
  "query",
  "templater",
  "js-engine",
  "run-js",
  "button",
  "meta-bind",
]);
const DRAWN = new Set(["mermaid", "base", "music-abc"]);

/** What would have run in the app, by kind and text. */
export const ran: { kind: string; code: string }[] = [];

const engine = makeEngine();

export class MarkdownRenderChild extends Component {
  constructor(public containerEl: HTMLElement) {
    super();
  }
}

/** A class of static functions, as in Obsidian. */
export class MarkdownRenderer {
  /** Render into an element, over several ticks, as Obsidian does. */
  static async render(
    app: App,
    markdown: string,
    el: HTMLElement,
    sourcePath: string,
    component: Component,
  ): Promise<void> {
    if (!component) throw new Error("MarkdownRenderer.render: a component is required");
    const holder = el.doc.createElement("div");
    // The danger that these tests are about: markup in a text becomes markup on the page.
    holder.innerHTML = engine.render(prepare(markdown));
    await Promise.resolve();
    runInlineCode(holder);
    turnCallouts(holder);
    turnTasks(holder);
    for (const link of holder.querySelectorAll<HTMLElement>("a.internal-link")) markUnresolved(app, link, sourcePath);
    el.append(...holder.childNodes);
    await new Promise((resolve) => window.setTimeout(resolve));
    await Promise.all(
      [...el.querySelectorAll<HTMLElement>(".internal-embed:not(.is-loaded)")].map((embed) =>
        transclude(app, embed, sourcePath, component),
      ),
    );
  }

  static renderMarkdown(markdown: string, el: HTMLElement, sourcePath: string, component: Component): Promise<void> {
    return MarkdownRenderer.render(window.bench.app, markdown, el, sourcePath, component);
  }
}

/** Frontmatter and comments are not shown. */
function prepare(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---(?:\n|$)/, "").replace(/%%[\s\S]*?%%/g, "");
}

function makeEngine(): MarkdownIt {
  const made = new MarkdownIt({ html: true, linkify: true, highlight: null });
  made.validateLink = () => true;
  made.renderer.rules.fence = (tokens, at) => {
    const token = tokens[at];
    const language = token?.info.trim().split(/\s+/)[0] ?? "";
    const code = token?.content ?? "";
    if (RUN.has(language.toLowerCase())) {
      ran.push({ kind: language, code });
      return `<div class="block-language-${language}">${made.utils.escapeHtml(`ran ${language}`)}</div>`;
    }
    if (DRAWN.has(language.toLowerCase())) return `<div class="block-language-${language}"></div>`;
    const name = made.utils.escapeHtml(language);
    return `<pre class="language-${name}"><code class="language-${name}">${made.utils.escapeHtml(code)}</code><button class="copy-code-button">Copy</button></pre>\n`;
  };
  const plain = made.renderer.rules.link_open;
  made.renderer.rules.link_open = (tokens, at, options, env, self) => {
    tokens[at]?.attrJoin("class", "external-link");
    tokens[at]?.attrSet("target", "_blank");
    tokens[at]?.attrSet("rel", "noopener nofollow");
    return plain ? plain(tokens, at, options, env, self) : self.renderToken(tokens, at, options);
  };
  made.inline.ruler.before("link", "wikilink", wikilink);
  made.inline.ruler.before("emphasis", "highlight", highlight);
  made.inline.ruler.before("escape", "math", math);
  made.inline.ruler.push("tag", tag);
  made.renderer.rules.raw = (tokens, at) => tokens[at]?.content ?? "";
  return made;
}

type InlineRule = Parameters<MarkdownIt["inline"]["ruler"]["push"]>[1];
type State = Parameters<InlineRule>[0];

function put(state: State, html: string, length: number, silent: boolean): boolean {
  if (!silent) state.push("raw", "", 0).content = html;
  state.pos += length;
  return true;
}

function wikilink(state: State, silent: boolean): boolean {
  const found = /^(!?)\[\[([^\]\n|]+)(?:\|([^\]\n]*))?]]/.exec(state.src.slice(state.pos));
  if (!found) return false;
  const escape = engine.utils.escapeHtml;
  const target = escape((found[2] ?? "").trim());
  const name = escape(found[3] ?? (found[2] ?? "").trim());
  const html = found[1]
    ? `<span class="internal-embed" src="${target}" alt="${name}"></span>`
    : `<a data-href="${target}" href="${target}" class="internal-link" target="_blank" rel="noopener nofollow">${name}</a>`;
  return put(state, html, found[0].length, silent);
}

function highlight(state: State, silent: boolean): boolean {
  const found = /^==(?=\S)([^\n]+?)==/.exec(state.src.slice(state.pos));
  return found ? put(state, `<mark>${engine.utils.escapeHtml(found[1] ?? "")}</mark>`, found[0].length, silent) : false;
}

function tag(state: State, silent: boolean): boolean {
  const before = state.src[state.pos - 1] ?? " ";
  const found = /^#[\p{L}\p{N}_/-]*[\p{L}_/-][\p{L}\p{N}_/-]*/u.exec(state.src.slice(state.pos));
  if (!found || !/\s/.test(before)) return false;
  const name = engine.utils.escapeHtml(found[0]);
  return put(
    state,
    `<a href="${name}" class="tag" target="_blank" rel="noopener nofollow">${name}</a>`,
    name.length,
    silent,
  );
}

/** MathJax as Obsidian sets it up knows \href, \style and \class: math can carry addresses. */
function math(state: State, silent: boolean): boolean {
  const found = /^\$\$([\s\S]+?)\$\$|^\$(?!\s)([^\n$]+?)(?<!\s)\$(?!\d)/.exec(state.src.slice(state.pos));
  if (!found) return false;
  const source = engine.utils.escapeHtml(found[1] ?? found[2] ?? "");
  const drawn = source
    .replace(/\\href\s*\{([^}]*)\}\s*\{([^}]*)\}/g, '<a href="$1">$2</a>')
    .replace(/\\style\s*\{([^}]*)\}\s*\{([^}]*)\}/g, '<span style="$1">$2</span>');
  return put(
    state,
    `<span class="math"><mjx-container class="MathJax">${drawn}</mjx-container></span>`,
    found[0].length,
    silent,
  );
}

/** Dataview's inline queries: `= expression` and `$= script`; Templater's commands. */
function runInlineCode(root: HTMLElement): void {
  // In blocks of code too, as Dataview does unless it is told otherwise.
  for (const code of root.querySelectorAll("code")) {
    const text = (code.textContent ?? "").trim();
    const found = /^(\$=|=)/.exec(text);
    if (!found) continue;
    ran.push({ kind: `inline ${found[0]}`, code: text });
    code.replaceWith("ran");
  }
  if (/<%[\s\S]*?%>/.test(root.textContent ?? "")) ran.push({ kind: "templater", code: root.textContent ?? "" });
}

function turnCallouts(root: HTMLElement): void {
  for (const quote of root.querySelectorAll("blockquote")) {
    const first = quote.querySelector("p");
    const found = /^\[!([^\]\n]+)\][+-]?[ \t]*([^\n]*)\n?/.exec(first?.textContent ?? "");
    if (!first || !found) continue;
    const callout = root.doc.createElement("div");
    callout.className = "callout";
    callout.dataset.callout = (found[1] ?? "").toLowerCase();
    callout.createDiv("callout-title").createDiv({ cls: "callout-title-inner", text: found[2] || found[1] || "" });
    first.textContent = (first.textContent ?? "").slice(found[0].length);
    callout.createDiv("callout-content").append(...quote.childNodes);
    quote.replaceWith(callout);
  }
}

/** `- [x]` is a task with any one character between the brackets, `- [1]` as well. */
function turnTasks(root: HTMLElement): void {
  for (const item of root.querySelectorAll("li")) {
    const holder = item.firstElementChild?.tagName === "P" ? item.firstElementChild : item;
    const text = holder.firstChild;
    const found = text?.nodeType === 3 ? /^\s*\[(.)] /.exec(text.textContent ?? "") : null;
    if (!text || !found) continue;
    text.textContent = (text.textContent ?? "").slice(found[0].length);
    item.classList.add("task-list-item");
    item.dataset.task = found[1] ?? "";
    const box = root.doc.createElement("input");
    box.type = "checkbox";
    box.className = "task-list-item-checkbox";
    box.checked = found[1] !== " ";
    holder.prepend(box);
  }
}

function markUnresolved(app: App, link: HTMLElement, sourcePath: string): void {
  const { path } = parseLinktext(link.dataset.href ?? "");
  if (!app.metadataCache.getFirstLinkpathDest(path, sourcePath)) link.classList.add("is-unresolved");
}

async function transclude(app: App, embed: HTMLElement, sourcePath: string, component: Component): Promise<void> {
  const { path, subpath } = parseLinktext(embed.getAttribute("src") ?? "");
  const file = app.metadataCache.getFirstLinkpathDest(path, sourcePath);
  embed.classList.add("is-loaded");
  if (!file) return embed.setText(embed.getAttribute("alt") ?? "");
  if (file.extension !== "md") return void embed.createEl("img", { attr: { src: `/vault/${encodeURI(file.path)}` } });
  embed.classList.add("markdown-embed");
  await MarkdownRenderer.render(app, partOf(app, file, subpath), embed, file.path, component);
}
