// Servers between the page and an API server: the ways that the book describes, each with the page on the same
// port.
import { spawn, spawnSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// Far more than any step takes: it distinguishes a hang from a busy machine.
const PATIENCE_MS = 60_000;

const there = (program, ...args) => spawnSync(program, args, { stdio: "ignore" }).status === 0;
/** Why a test is skipped, or false. */
export const NO_KUBECTL = !there("kubectl", "version", "--client") && "no kubectl on PATH (Debian's package: kubernetes-client)";
export const NO_TRUNK = !there("trunk", "--version") && "no trunk on PATH (make setup)";

/** `kubectl proxy` before an API server, with the page. `prefixes`: the page at /, the API under /k8s/. */
export async function kubectlProxy(api, { dist, prefixes = false, port = 0 } = {}) {
  const args = ["proxy", `--server=${api}`, `--port=${port}`, ...(dist ? [`--www=${dist}`] : [])];
  if (prefixes) args.push("--www-prefix=/", "--api-prefix=/k8s/");
  // Not the user's own cluster.
  const env = { ...process.env, KUBECONFIG: "/dev/null" };
  const [child, [, host]] = await started("kubectl", args, { env }, /Starting to serve on (\S+)/);
  const origin = `http://${host}`;
  return {
    origin,
    url: `${origin}${prefixes ? "/" : "/static/"}`,
    api: `${origin}${prefixes ? "/k8s/" : "/"}`,
    close: () => stop(child),
  };
}

/** The command of `make serve PROXY=…`, except that it serves a page that is already built. */
export async function makeServe(api, { dist }) {
  const make = spawnSync("make", ["--no-print-directory", "-n", "serve", `PROXY=${api}`], { cwd: ROOT, encoding: "utf8" });
  const command = make.stdout.trim().split("\n").at(-1).replaceAll("'", "").split(" ");
  const folder = await mkdtemp(join(tmpdir(), "deltascope-trunk-"));
  const copied = [];
  for (const name of await readdir(dist)) {
    if (name === "index.html") continue;
    await copyFile(join(dist, name), join(folder, name));
    copied.push(`<link data-trunk rel="copy-file" href="${name}">`);
  }
  const page = await readFile(join(dist, "index.html"), "utf8");
  await writeFile(join(folder, "index.html"), page.replace("</head>", () => `${copied.join("")}</head>`));
  await writeFile(join(folder, "Trunk.toml"), "[build]\npublic_url = \"./\"\n");
  const port = await freePort();
  const args = [...command.slice(1), `--port=${port}`, "--no-autoreload", "--watch=Trunk.toml"];
  const [child] = await started(command[0], args, { cwd: folder }, /server listening at/);
  const origin = `http://127.0.0.1:${port}`;
  // trunk announces its address before it listens.
  await answers(`${origin}/`);
  return {
    command,
    origin,
    url: `${origin}/`,
    api: `${origin}/k8s/`,
    close: async () => {
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a process and waits for its ready message. */
function started(program, args, options, sign) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((ready, failed) => {
    let said = "";
    const late = setTimeout(() => fail("is silent"), PATIENCE_MS);
    const fail = (why) => {
      clearTimeout(late);
      child.kill();
      failed(new Error(`${program} ${args.join(" ")} ${why}: ${said}`));
    };
    const hear = (piece) => {
      // Later output is not kept.
      if (said.length < 100_000) said += piece;
      const found = sign.exec(said);
      if (!found) return;
      clearTimeout(late);
      ready([child, found]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (error) => fail(error.message));
    child.on("exit", (code) => fail(`ended with ${code}`));
  });
}

/** Waits until a server answers at the URL. */
async function answers(url) {
  const late = AbortSignal.timeout(PATIENCE_MS);
  for (;;) {
    try {
      return await (await fetch(url, { signal: late })).text();
    } catch (error) {
      if (late.aborted) throw new Error(`${url} does not answer: ${error.cause ?? error}`);
      await new Promise(setImmediate);
    }
  }
}

function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((ended) => {
    child.once("exit", ended);
    child.kill();
  });
}

function freePort() {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
}
