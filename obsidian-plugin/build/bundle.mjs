// Builds obsidian-plugin/dist: main.js for Obsidian's require, with the manifest and the styles beside it, ready to be
// copied into a vault's .obsidian/plugins/vault-ask/. Fails when main.js is larger than it may be.
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";
import { minify } from "terser";

const LARGEST = 61_440;
const root = new URL("../../", import.meta.url);
const plugin = new URL("obsidian-plugin/", root);
const dist = new URL("dist/", plugin);

/** Where names stand that somebody else reads or writes too: Obsidian, the browser, the daemon, the device's storage. */
const SHARED = [
  "node_modules/obsidian/obsidian.d.ts",
  ...["wire", "events", "conversation", "history", "settings", "host", "commands", "settings-tab", "main"].map(
    (name) => `obsidian-plugin/src/${name}.ts`,
  ),
];

/**
 * Names of our own, which are one letter in the bundle: an eighth of it. Left alone is what stands in a shared place, in
 * JavaScript's or the browser's own types, or in a string, or is written large, as names of HTTP headers are.
 */
async function ownNames() {
  const files = (await readdir(new URL("src/", plugin), { recursive: true })).filter((name) => name.endsWith(".ts"));
  const source = await textOf(files.filter((name) => name !== "wire.ts").map((name) => `obsidian-plugin/src/${name}`));
  const library = (await readdir(new URL("node_modules/typescript/lib/", root))).filter((name) =>
    /^lib\..*\.d\.ts$/.test(name),
  );
  const shared = await textOf([...SHARED, ...library.map((name) => `node_modules/typescript/lib/${name}`)]);
  const taken = new Set([...shared.matchAll(/\w+/g), ...source.matchAll(/(?<=["'`])[\w-]+(?=["'`])/g)].map(String));
  const used = [
    ...source.matchAll(/(?<=\.)[a-z]\w{2,}/g),
    ...source.matchAll(/(?<=\bprivate (?:\w+ )*)[a-z]\w{2,}/g),
  ].map(String);
  return [...new Set(used)].filter((name) => !taken.has(name));
}

async function textOf(names) {
  return (await Promise.all(names.map((name) => readFile(new URL(name, root), "utf8")))).join("\n");
}

/** One module of all, in which what Obsidian brings is imported. */
async function bundled() {
  const { outputFiles } = await build({
    entryPoints: [new URL("src/main.ts", plugin).pathname],
    bundle: true,
    write: false,
    minify: true,
    mangleProps: new RegExp(`^(?:${(await ownNames()).join("|")})$`),
    charset: "utf8",
    format: "esm",
    // What Obsidian 1.13 runs on: Chromium on the desktop and Android, WebKit of iOS 16 and newer.
    target: ["es2022", "safari16"],
    external: ["obsidian"],
    legalComments: "none",
    logLevel: "warning",
  });
  return outputFiles[0].text;
}

/** The same for Obsidian's require: esbuild would look every name up in Obsidian's module each time it is used. */
function required(module) {
  const names = new Map();
  let body = module.replace(/\bimport\{([^}]*)\}from"obsidian";/g, (_, list) => {
    return list
      .split(",")
      .map((entry) => entry.split(" as "))
      .map(([name, local = name]) => {
        if (!names.has(name)) names.set(name, local);
        return names.get(name) === local ? "" : `const ${local}=${names.get(name)};`;
      })
      .join("");
  });
  body = body.replace(/\bexport\{(\w+) as default\};\s*$/, "module.exports=$1;");
  if (/\b(?:import|export)\s*[{*]/.test(body) || !body.includes("module.exports=")) {
    throw new Error("main.js still imports or exports as a module, which Obsidian's require cannot read.");
  }
  const list = [...names].map(([name, local]) => (name === local ? name : `${name}:${local}`));
  return `const{${list.join(",")}}=require("obsidian");${body}`;
}

await mkdir(dist, { recursive: true });
// terser takes out another fortieth: it inlines what is used once, across the modules that esbuild put together.
const { code } = await minify(required(await bundled()), {
  ecma: 2022,
  toplevel: true,
  compress: { ecma: 2022, passes: 4, keep_fargs: false, hoist_funs: true, unsafe_arrows: true },
});
await writeFile(new URL("main.js", dist), code);
await copyFile(new URL("manifest.json", root), new URL("manifest.json", dist));
await copyFile(new URL("styles.css", plugin), new URL("styles.css", dist));
const size = Buffer.byteLength(code);
console.log(`obsidian-plugin/dist/main.js ${size} bytes of ${LARGEST}`);
if (size > LARGEST) {
  console.error(
    "main.js is too large: a phone reads all of it at every start. Find what came in with the last change.",
  );
  process.exit(1);
}
