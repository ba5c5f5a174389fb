// three.js in headless Chromium on SwiftShader. Times are taken inside the page: render and readPixels
// into a Uint8Array, without the way out of the browser, which is in its favour.
//
// usage: node three_peer.mjs DESCRIPTION.json [--png FILE]
// NODE_PEERS_DIR is the folder that holds node_modules; CHROMIUM is the browser.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const installed = path.resolve(process.env.NODE_PEERS_DIR ?? here);
const require = createRequire(path.join(installed, "package.json"));
const { default: puppeteer } = await import(pathToFileURL(require.resolve("puppeteer-core")).href);
const [descriptionPath, , pngPath] = process.argv.slice(2);
const description = JSON.parse(fs.readFileSync(descriptionPath, "utf8"));

const files = {
  "/": path.join(here, "three_page.html"),
  "/description.json": descriptionPath,
  "/scene.glb": description.scene,
  "/environment.hdr": description.environment,
};
const types = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };
const server = http.createServer((request, response) => {
  const url = request.url.split("?")[0];
  if (url === "/favicon.ico") return response.writeHead(204).end();
  const file = url.startsWith("/three/")
    ? path.join(installed, "node_modules/three", path.normalize(url.slice("/three".length)))
    : files[url];
  if (!file || !fs.existsSync(file)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": types[path.extname(file)] ?? "application/octet-stream" });
  fs.createReadStream(file).pipe(response);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));

// The browser is many processes: their proportional memory and CPU time are summed from /proc.
function tree(root) {
  const children = new Map();
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ");
      const parent = Number(stat[1]);
      children.set(parent, [...(children.get(parent) ?? []), { pid: Number(pid), ticks: Number(stat[11]) + Number(stat[12]) }]);
    } catch { /* ended meanwhile */ }
  }
  const found = [], todo = [root];
  while (todo.length) for (const child of children.get(todo.pop()) ?? []) { found.push(child); todo.push(child.pid); }
  return found;
}
let maxBytes = 0;
const cpuSeconds = () => tree(process.pid).reduce((sum, { ticks }) => sum + ticks / 100, 0);
function sampleMemory() {
  let bytes = 0;
  for (const { pid } of tree(process.pid)) {
    try {
      bytes += 1024 * Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]);
    } catch { /* ended meanwhile */ }
  }
  maxBytes = Math.max(maxBytes, bytes);
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  protocolTimeout: 300_000,
  args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist", "--disable-dev-shm-usage"],
});
const sampler = setInterval(sampleMemory, 500);
try {
  const page = await browser.newPage();
  await page.setViewport({ width: description.size[0], height: description.size[1], deviceScaleFactor: 1 });
  page.on("pageerror", (error) => console.error(String(error)));
  page.on("console", (message) => console.error(message.text()));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction("window.started", { timeout: 180_000 });
  const coldMs = performance.now();          // since this process started
  const started = await page.evaluate("window.started");
  const cpuBegan = cpuSeconds();
  const { times, deviation } = await page.evaluate("window.measure()");
  const cpuMs = (cpuSeconds() - cpuBegan) * 1000 / (times.length + 1);
  sampleMemory();
  if (pngPath) fs.writeFileSync(pngPath, Buffer.from((await page.evaluate("window.png()")).split(",")[1], "base64"));
  const sorted = [...times].sort((a, b) => a - b), half = sorted.length >> 1;
  const median = sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  const round = (value) => Math.round(value * 1000) / 1000;
  console.log("\n" + JSON.stringify({
    peer: "three", version: `three r${started.revision}, ${await browser.version()}`, driver: started.driver,
    samples: started.samples, median_ms: round(median), min_ms: round(sorted[0]), max_ms: round(sorted.at(-1)),
    cpu_ms_per_frame: round(cpuMs), frames: times.length, cold_first_frame_ms: round(coldMs),
    max_rss_bytes: maxBytes, picture_std: round(deviation), cannot: [],
    notes: ["memory is the sampled sum of proportional sizes over the browser's processes",
      "timed inside the page; the pixels stay in the browser"],
  }));
} finally {
  clearInterval(sampler);
  await browser.close();
  server.close();
}
