// Serves a folder under a sub-path of its own port, as a documentation site would. With `api`, requests under
// /k8s/ are passed on, as a development server would.
import { createServer, request as ask } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize, sep } from "node:path";

export const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const API = "/k8s/";

/** Each piece is passed on at once. An end on one side ends the other. */
function passOn(request, response, api) {
  const { host: _, ...headers } = request.headers;
  const onward = ask(new URL(request.url.slice(API.length), `${api}/`), { method: request.method, headers });
  onward.on("response", (answer) => {
    // Hop-by-hop headers are not passed on.
    const { connection: _c, "keep-alive": _k, "transfer-encoding": _t, ...kept } = answer.headers;
    response.writeHead(answer.statusCode, kept);
    response.flushHeaders();
    answer.on("error", () => response.destroy());
    answer.pipe(response);
  });
  onward.on("error", (error) => {
    if (response.headersSent) return response.destroy();
    response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(`${error.message}\n`);
  });
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

/** @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function serve(folder, { prefix = "/docs/deltascope/", api } = {}) {
  const server = createServer(async (request, response) => {
    const answer = (status, type, body) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(body);
    };
    if (api && request.url.startsWith(API)) return passOn(request, response, api);
    const { pathname } = new URL(request.url, "http://localhost");
    if (!pathname.startsWith(prefix)) return answer(404, "text/plain", "outside the sub-path");
    const name = normalize(decodeURIComponent(pathname.slice(prefix.length)).replace(/(^|\/)$/, "$1index.html"));
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
