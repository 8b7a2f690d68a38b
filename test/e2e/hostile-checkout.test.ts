import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { everyKind } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

/** A server that a repository could name, and what reached it. */
async function strangeServer() {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, requests };
}

describe("a server that the repository names", () => {
  test("S41 gets no request, whichever way the token came and whichever file names it", async () => {
    const { url, requests } = await strangeServer();
    const outside = await temporaryFolder();
    const source = await sourceOf({
      ...everyKind,
      "holdfast.yaml": `server: ${url}\ntokenFile: token\n`,
      "ops/config.yaml": `server: ${url}\n`,
      token: "committed\n",
    });
    const ways = [
      { args: [], env: { HOLDFAST_TOKEN: "secret" } },
      { args: [], env: { HOLDFAST_TOKEN_FILE: "token" } },
      { args: ["--token-file", "token"], env: {} },
      { args: [], env: {} },
      { args: ["--config", "ops/config.yaml"], env: { HOLDFAST_TOKEN: "secret", HOME: outside } },
    ];
    for (const { args, env } of ways) {
      for (const command of [["plan"], ["drift"], ["apply", "--yes"], ["watch", "--yes"]]) {
        const ended = await source.run([...command, ...args], env);
        expect(ended).toMatchObject({ code: 3, stdout: "" });
        expect(ended.stderr).toMatch(
          /^error: (?:holdfast|ops\/config)\.yaml sets server.*which only the operator may\n/,
        );
      }
    }
    expect(requests).toEqual([]);
  });

  test("S41 is used when a file outside the source names it", async () => {
    const { url, requests } = await strangeServer();
    const outside = await temporaryFolder();
    const source = await sourceOf(everyKind);
    await writeFile(join(outside, "config.yaml"), `server: ${url}\n`);
    await source.run(["plan", "--config", join(outside, "config.yaml")], { HOLDFAST_TOKEN: "secret" });
    expect(requests[0]?.headers.authorization).toBe("Bearer secret");
  });
});
