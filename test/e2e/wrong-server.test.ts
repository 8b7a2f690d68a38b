import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { everyKind, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { createAuthority } from "../unit/client/certificate.ts";

const plan = ["plan", "--server"];

test("a token that the control plane does not take is exit 4 at once", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const ended = await source.runHere(["plan"], { HOLDFAST_TOKEN: "not-a-token" });
  expect(ended).toMatchObject({ code: 4, stdout: "" });
  expect(ended.stderr).toMatch(/^error: .* answered 401: .*\n {2}→ check the token: /);
});

test("http to a port that speaks TLS, and https to one that does not, say so at the first answer", async () => {
  const { cert, key } = createAuthority().issue("plane.test");
  const source = await sourceOf({ ...everyKind, "tls.crt": cert, "tls.key": key });
  const flags = ["--tls-cert", "tls.crt", "--tls-key", "tls.key", "--port", "0", "--data", "data"];
  const served = source.start(["serve", ...flags]);
  const [, url = ""] = await served.shows("stdout", /^listening on (\S+)\n/);
  const env = { HOLDFAST_TOKEN: "some-token" };
  const plain = url.replace("https:", "http:");
  const cleartext = await source.runHere([...plan, plain], env);
  expect(cleartext).toMatchObject({ code: 1, stdout: "" });
  expect(cleartext.stderr).toBe(`error: ${plain} speaks TLS\n  → use https: --server ${url}\n`);

  const http = await serve();
  const secure = http.url.replace("http:", "https:");
  const encrypted = await source.runHere([...plan, secure], env);
  expect(encrypted).toMatchObject({ code: 1, stdout: "" });
  expect(encrypted.stderr).toContain(`error: ${secure} does not speak TLS\n  → if plain HTTP is intended, use http: `);
});

test("a path below a control plane's address is recognised by the routes that are not there", async () => {
  const server = await serve();
  for (const files of [everyKind, { "team.yaml": team("ml") }]) {
    const source = await sourceOf(files, server);
    const ended = await source.runHere([...plan, `${server.url}/below`]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /^error: the server at \S+ is not a control plane: it has no [A-Z]+ \/api\/\S+\n {2}→ check that --server/m,
    );
  }
});

const page = "<!doctype html><title>Welcome</title>";

test.each([
  ["a page", 200, { "content-type": "text/html" }, page, "200, and the reply is not JSON"],
  ["an empty reply", 200, { "content-type": "application/json" }, "", "200, and the reply is empty"],
  ["JSON of its own", 200, { "content-type": "application/json" }, '{"status":"ok"}', "200 and JSON of another form"],
  ["a list of its own", 200, { "content-type": "application/json" }, "[]", "200 and JSON of another form"],
  ["a sign-in", 302, { location: "https://login.example.com/" }, "", "a redirect, which is not followed"],
  ["a firewall", 403, { "content-type": "text/html" }, page, "403 and no reason"],
  ["another protocol", 400, { "content-type": "text/html" }, page, "400 and no reason"],
])(
  "a server that is no control plane is recognised by its first answer, such as %s",
  async (_, status, headers, body, what) => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(status, headers).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // Teams are read by an operation that a control plane need not have.
    for (const files of [everyKind, { "team.yaml": team("ml") }]) {
      const source = await sourceOf(files);
      const ended = await source.runHere([...plan, url], { HOLDFAST_TOKEN: "some-token" });
      expect(ended).toMatchObject({ code: 1, stdout: "" });
      expect(ended.stderr).toMatch(/^error: the server at .*\n {2}→ check that --server is .*\n$/);
      expect(ended.stderr).toContain(`${url} does not look like a control plane: it answers GET /api/`);
      expect(ended.stderr).toContain(`with ${what}`);
    }
  },
);

test("S51 a command that sends its token in clear to another machine warns once, and shows no password", async () => {
  const source = await sourceOf(everyKind);
  const stderrOf = async (server: string) => {
    const ended = await source.runHere([...plan, server, "--connect-timeout", "0.2"], {
      HOLDFAST_TOKEN: "CANARY-token",
    });
    const { stderr, code } = ended;
    return { code, warnings: stderr.split("\n").filter((line) => line.includes("in clear")), stderr };
  };
  const remote = await stderrOf("http://control-plane.invalid:7071");
  expect(remote).toMatchObject({
    code: 1,
    warnings: [
      "warning: tokens travel in clear to control-plane.invalid:7071; use https:// for other machines [clear-text]",
    ],
  });
  expect(remote.stderr).not.toContain("CANARY");
  const secret = await stderrOf("http://ada:CANARY-password@control-plane.invalid");
  expect(secret.code).toBe(3);
  expect(secret.stderr).not.toContain("CANARY");
  expect((await stderrOf("https://control-plane.invalid")).warnings).toEqual([]);
  expect((await stderrOf("http://127.0.0.1:1")).warnings).toEqual([]);
});
