// Takes one picture: node tests/plugin/bench/look.mjs OUT.png [--dark] [--phone] [--ask QUESTION] [--js CODE]
/* global window */
import { parseArgs } from "node:util";
import { openBench } from "./load.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dark: { type: "boolean" },
    phone: { type: "boolean" },
    personal: { type: "boolean" },
    note: { type: "string", default: "Projects/Allotment Plot 27.md" },
    ask: { type: "string" },
    reply: {
      type: "string",
      default: "The plot gave **31 kg** of potatoes [1].\n\n- Garlic: 79 heads [2]\n- Rent: 1,350 kr a year [1, 2]\n",
    },
    js: { type: "string" },
  },
});
const opened = await openBench();
opened.model.script(values.reply.match(/\S+\s*/g) ?? []);
const app = await opened.obsidian({ theme: values.dark ? "dark" : "light", phone: values.phone ?? false });
await app.page.evaluate((path) => window.bench.openNote(path), values.note);
await app.page.evaluate(() => window.bench.command("vault-ask:ask"));
await app.page.waitForSelector(".vault-ask-composer textarea");
if (values.personal) await app.page.click(".vault-ask-personal");
if (values.ask) {
  await app.page.fill(".vault-ask-composer textarea", values.ask);
  await app.page.keyboard.press("Enter");
  await app.page.waitForSelector(".vault-ask-turn[data-state=done], .vault-ask-turn[data-state=failed]");
}
if (values.js) await app.page.evaluate(values.js);
await app.page.waitForLoadState("networkidle", { timeout: 3000 }).catch(() => {});
await app.page.screenshot({ path: positionals[0] ?? "/tmp/look.png" });
if (app.errors.length) console.error(app.errors.join("\n"));
console.log("icons drawn as a dot:", await app.page.evaluate(() => [...window.bench.unknownIcons].join(" ") || "none"));
await opened.end();
