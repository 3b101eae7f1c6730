// Makes the files of a release in obsidian-plugin/release/<version>/: main.js, manifest.json, styles.css, as Obsidian's
// directory wants them attached to a tag that is the version itself. Refuses to make one that the directory would.
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { spawnSync } from "node:child_process";

const root = new URL("../../", import.meta.url);
const read = async (name) => JSON.parse(await readFile(new URL(name, root), "utf8"));

const [manifest, versions, packageJson] = await Promise.all(
  ["manifest.json", "versions.json", "package.json"].map(read),
);
const changelog = await readFile(new URL("CHANGELOG.md", root), "utf8");
const { version, minAppVersion } = manifest;

const faults = [
  !/^\d+\.\d+\.\d+$/.test(version) && `manifest.json says version ${version}; a version is three numbers, without a v.`,
  versions[version] !== minAppVersion && `versions.json must say that ${version} needs Obsidian ${minAppVersion}.`,
  packageJson.version !== version && `package.json says version ${packageJson.version}, manifest.json ${version}.`,
  !changelog.includes(`## [${version}]`) && `CHANGELOG.md has no section "## [${version}]".`,
].filter(Boolean);
if (faults.length > 0) {
  console.error(`No release was made. ${faults.join(" ")}`);
  process.exit(1);
}

const built = spawnSync(process.execPath, [new URL("obsidian-plugin/build/bundle.mjs", root).pathname], {
  stdio: "inherit",
});
if (built.status !== 0) process.exit(built.status ?? 1);

const release = new URL(`obsidian-plugin/release/${version}/`, root);
await rm(release, { recursive: true, force: true });
await mkdir(release, { recursive: true });
for (const name of ["main.js", "manifest.json", "styles.css"]) {
  await cp(new URL(`obsidian-plugin/dist/${name}`, root), new URL(name, release));
}
console.log(`obsidian-plugin/release/${version}/ holds the files to attach to the tag ${version}.`);
