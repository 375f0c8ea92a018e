// Serves a folder under a sub-path of a port of its own, the way a documentation site would.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function serve(folder, prefix = "/docs/deltascope/") {
  const server = createServer(async (request, response) => {
    const answer = (status, type, body) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(body);
    };
    const { pathname } = new URL(request.url, "http://localhost");
    if (!pathname.startsWith(prefix)) return answer(404, "text/plain", "outside the sub-path");
    const name = normalize(decodeURIComponent(pathname.slice(prefix.length)) || "index.html");
    if (name.startsWith("..") || name.startsWith(sep)) return answer(404, "text/plain", "outside");
    try {
      const body = await readFile(join(folder, name));
      answer(200, TYPES[extname(name)] ?? "application/octet-stream", body);
    } catch {
      answer(404, "text/plain", `no ${name}`);
    }
  });
  await new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}${prefix}`,
    close: () =>
      new Promise((closed) => {
        server.close(closed);
        server.closeAllConnections();
      }),
  };
}
