// Measures the built plugin in Chromium against a real daemon: node scripts/measure_plugin.mjs [--json] [--runs N]
// Size, load time, first paint of a token, a long answer's long tasks and frames, and what a closed pane leaves.
/* global window, document, MutationObserver, MessageChannel, PerformanceObserver, requestAnimationFrame */
import { stat } from "node:fs/promises";
import net from "node:net";
import os from "node:os";
import { parseArgs } from "node:util";
import { bench, openBench } from "../tests/plugin/bench/load.mjs";

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, runs: { type: "string", default: "20" } },
});
const RUNS = Number(values.runs);
const TOKENS = 5_000;
const now = () => performance.timeOrigin + performance.now();

function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

const spread = (numbers) => ({ p50: quantile(numbers, 0.5), p95: quantile(numbers, 0.95) });

/** Stand between page and daemon, and note when the daemon's first words of an answer pass by. */
async function between(port) {
  const seen = { firstDelta: null };
  const proxy = net.createServer((page) => {
    const daemon = net.connect(port, "127.0.0.1");
    daemon.on("data", (data) => {
      if (seen.firstDelta === null && data.includes('"type":"delta"')) seen.firstDelta = now();
      page.write(data);
    });
    page.on("data", (data) => daemon.write(data));
    for (const [one, other] of [
      [page, daemon],
      [daemon, page],
    ]) {
      one.on("close", () => other.destroy());
      one.on("error", () => other.destroy());
    }
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return { seen, port: proxy.address().port, close: () => proxy.close() };
}

/** In the page: when the first words of the newest answer were painted, as the clock of this machine has it. */
function watchPaint() {
  window.painted = new Promise((resolve) => {
    const look = new MutationObserver(() => {
      const answers = document.querySelectorAll(".vault-ask-answer");
      if (!answers[answers.length - 1]?.textContent.includes("Potatoes")) return;
      look.disconnect();
      const channel = new MessageChannel();
      // A task that a frame's callback posts runs after that frame was painted.
      channel.port1.onmessage = () => resolve(performance.timeOrigin + performance.now());
      requestAnimationFrame(() => channel.port2.postMessage(null));
    });
    look.observe(document.querySelector(".vault-ask-turns"), { childList: true, subtree: true, characterData: true });
  });
}

async function firstPaint(opened) {
  const middle = await between(opened.daemon.port);
  const app = await opened.obsidian({ settings: { address: `http://127.0.0.1:${middle.port}` } });
  const pane = await bench.Pane.open(app.page);
  const times = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const gate = new bench.Gate();
    opened.model.script([{ wait: gate }, "Potatoes, ", "thirty-one kilos [1]."]);
    await pane.command("new-question");
    await pane.send();
    await bench.until("the model was asked", () => opened.model.requests.length === 1);
    await app.page.evaluate(watchPaint);
    middle.seen.firstDelta = null;
    gate.open();
    const painted = await app.page.evaluate(() => window.painted);
    await pane.reached("done");
    // The first run warms everything up.
    if (run > 0) times.push(painted - middle.seen.firstDelta);
  }
  await app.close();
  middle.close();
  return spread(times);
}

/** An answer of many tokens with all that Markdown has. */
function longAnswer() {
  const paragraph =
    "The plot gave **31 kg** of potatoes [1], and [[Hanna Lövgren]] had `more` than *that* in 2026 [2]. ";
  const list = "\n\n- garlic, 79 heads [1]\n- beans, two freezer drawers [2]\n- beetroot, 14 jars\n\n";
  const table =
    "\n\n| Bed | Crop | Result |\n| --- | --- | --- |\n| A | Potatoes | 31 kg [1] |\n| B | Garlic | 79 heads |\n\n";
  const code = "\n\n```python\nfor bed in beds:\n    print(bed.crop, bed.result)\n```\n\n";
  const section = paragraph.repeat(4) + list + paragraph.repeat(3) + table + paragraph.repeat(3) + code;
  return bench.tokens(section.repeat(40)).slice(0, TOKENS);
}

function watchFrames() {
  const seen = (window.seen = { longTasks: [], frames: [], over: false });
  new PerformanceObserver((list) => seen.longTasks.push(...list.getEntries().map((entry) => entry.duration))).observe({
    type: "longtask",
  });
  let before = performance.now();
  const frame = (at) => {
    seen.frames.push(at - before);
    before = at;
    if (!seen.over) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

async function heap(app) {
  const session = await app.context.newCDPSession(app.page);
  await session.send("HeapProfiler.enable");
  for (let round = 0; round < 3; round += 1) await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  await session.detach();
  return { bytes: usedSize, nodes, listeners: jsEventListeners };
}

/** The longest task of the page by the processor's time: what it takes by the clock depends on who else runs. */
function longestWork(trace) {
  const { traceEvents } = JSON.parse(trace);
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const main = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid}:${tid}`));
  const tasks = traceEvents.filter(
    ({ name, tdur, pid, tid }) => name === "RunTask" && tdur && main.has(`${pid}:${tid}`),
  );
  return tasks.reduce((longest, { tdur }) => Math.max(longest, tdur / 1000), 0);
}

async function stream(opened, pane, reply, pace) {
  opened.model.pace = pace;
  opened.model.script(reply);
  await pane.page.evaluate(watchFrames);
  await opened.browser.startTracing(pane.page, { categories: ["disabled-by-default-devtools.timeline"] });
  const began = Date.now();
  await pane.send();
  await pane.page.waitForFunction(
    () => [...document.querySelectorAll(".vault-ask-turn")].at(-1)?.dataset.state === "done",
    null,
    { timeout: 180_000 },
  );
  const seconds = (Date.now() - began) / 1000;
  opened.model.pace = 0;
  const work = longestWork(await opened.browser.stopTracing());
  const { longTasks, frames } = await pane.page.evaluate(() => {
    window.seen.over = true;
    return window.seen;
  });
  return {
    seconds,
    longest_task_work_ms: work,
    longest_task_ms: Math.max(0, ...longTasks), // 0: none was over 50 ms
    long_tasks: longTasks.length,
    frames: frames.length,
    dropped_frames: frames.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / (1000 / 60)) - 1), 0),
    longest_frame_ms: Math.max(...frames),
  };
}

const closePane = (page) => page.evaluate(() => window.bench.app.workspace.detachLeavesOfType("vault-ask"));

/** Open the pane, stream a long answer into it, and close it: what is on the heap with it and after it. */
async function cycle(opened, app, pace) {
  const pane = await bench.Pane.open(app.page);
  const streamed = await stream(opened, pane, longAnswer(), pace);
  const during = await heap(app);
  await pane.command("new-question");
  await closePane(app.page);
  return { streamed, during, after: await heap(app) };
}

async function longRun(opened) {
  const app = await opened.obsidian();
  // As fast as a large model on a fast machine; then as fast as it goes. What the first leaves is compiled code and
  // caches that the second finds again, so what the second leaves beside it is what a closed pane keeps.
  const first = await cycle(opened, app, 4);
  const second = await cycle(opened, app, 0);
  await app.close();
  const { during, after } = second;
  return { paced: first.streamed, burst: second.streamed, heap: { before: first.after, during, after } };
}

async function loadTimes(opened) {
  const app = await opened.obsidian();
  const times = [];
  for (let run = 0; run <= RUNS; run += 1) {
    await app.page.evaluate(() => window.bench.disable());
    await app.enable();
    if (run > 0) times.push(app.times.evaluate + app.times.onload);
  }
  await app.close();
  return spread(times);
}

async function measure() {
  const opened = await openBench();
  try {
    const { size } = await stat(new URL("../obsidian-plugin/dist/main.js", import.meta.url));
    const load = await loadTimes(opened);
    const paint = await firstPaint(opened);
    const long = await longRun(opened);
    const machine = `${os.cpus().length} x ${os.cpus()[0]?.model ?? "?"}`;
    return {
      machine,
      chromium: opened.browser.version(),
      main_js_bytes: size,
      load_ms: load,
      first_paint_ms: paint,
      long,
    };
  } finally {
    await opened.end();
  }
}

function told({ machine, chromium, main_js_bytes, load_ms, first_paint_ms, long }) {
  const ms = (value) => `${value.toFixed(1)} ms`;
  const streamed = (name, one) =>
    `${TOKENS} tokens, ${name}: ${one.seconds.toFixed(1)} s, longest task ${ms(one.longest_task_work_ms)} of work, ${ms(one.longest_task_ms)} by the clock ` +
    `(${one.long_tasks} over 50 ms), ` +
    `${one.dropped_frames} frames dropped of ${one.frames + one.dropped_frames}, longest frame ${ms(one.longest_frame_ms)}`;
  const kept = long.heap.after.bytes - long.heap.before.bytes;
  return [
    `${machine}, Chromium ${chromium}`,
    `main.js: ${main_js_bytes} bytes`,
    `load (evaluate and onload): p50 ${ms(load_ms.p50)}, p95 ${ms(load_ms.p95)}`,
    `first token painted after the daemon sent it: p50 ${ms(first_paint_ms.p50)}, p95 ${ms(first_paint_ms.p95)}`,
    streamed("4 ms apart", long.paced),
    streamed("at once", long.burst),
    `heap: ${(long.heap.before.bytes / 1e6).toFixed(1)} MB before, ${(long.heap.during.bytes / 1e6).toFixed(1)} MB with the answer, ` +
      `${(long.heap.after.bytes / 1e6).toFixed(1)} MB after closing (${(kept / 1e3).toFixed(0)} kB kept)`,
    `DOM nodes: ${long.heap.before.nodes} before, ${long.heap.during.nodes} with the answer, ${long.heap.after.nodes} after; ` +
      `listeners ${long.heap.before.listeners}, ${long.heap.during.listeners}, ${long.heap.after.listeners}`,
  ].join("\n");
}

const measured = await measure();
console.log(values.json ? JSON.stringify(measured, null, 2) : told(measured));
