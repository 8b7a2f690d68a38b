import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type CodeSnippet,
  modelSnippet,
  promptSnippets,
} from "../../../src/server/resources/artifact/code-snippets.ts";

const run = promisify(execFile);
const FQN = "chat_prompt:holdfast/support/triage:2";
const manifest = {
  messages: [
    { role: "system", content: "Be {{tone}} to {{who}}." },
    { role: "user", content: [{ type: "text", text: "hi" }] },
  ],
  variables: { tone: "kind", who: { default: "all" }, often: true, "odd 'name\"": null },
};

// A stand-in for the registry: it answers the one version that the snippets ask for, to the right token alone.
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  const known = url.searchParams.get("fqn") === FQN && request.headers.authorization === "Bearer t0ken";
  response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
  response.end(JSON.stringify({ data: known ? [{ fqn: FQN, manifest }] : [] }));
});

let folder = "";
let env: NodeJS.ProcessEnv = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-snippet-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  env = { ...process.env, HOLDFAST_SERVER: `http://127.0.0.1:${port}`, HOLDFAST_TOKEN: "t0ken" };
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function runs(command: string, name: string, code: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, code);
  return (await run(command, [file], { env })).stdout;
}

const found = async (command: string): Promise<boolean> =>
  run(command, ["--version"]).then(
    () => true,
    () => false,
  );

const snippet = (language: string): CodeSnippet => {
  const match = promptSnippets(FQN, manifest).find((item) => item.language === language);
  if (match === undefined) throw new TypeError(`no ${language} snippet`);
  return match;
};

describe("usage snippets", () => {
  test("the TypeScript of a prompt prints its messages, filled in", async () => {
    expect(await runs(process.execPath, "prompt.mts", snippet("typescript").code)).toContain("system: Be kind to all.");
  });

  test("the Python of a prompt prints its messages, filled in", async ({ skip }) => {
    if (!(await found("python3"))) skip("no python3 on this machine");
    expect(await runs("python3", "prompt.py", snippet("python").code)).toContain("system: Be kind to all.");
  });

  test("the shell of a prompt prints the answer", async ({ skip }) => {
    if (!(await found("curl"))) skip("no curl on this machine");
    expect(JSON.parse(await runs("sh", "prompt.sh", snippet("shell").code))).toEqual({
      data: [{ fqn: FQN, manifest }],
    });
  });

  test("the Python of a model prints where its files are", async ({ skip }) => {
    if (!(await found("python3"))) skip("no python3 on this machine");
    expect(await runs("python3", "model.py", modelSnippet(FQN, {}))).toBe(`${FQN} None\n`);
  });

  test("a transformers model on a disk is loaded as a pipeline of its task, one elsewhere is only named", () => {
    const framework = { type: "transformers", pipeline_tag: "text-classification" };
    const loaded = (uri: string) => modelSnippet(FQN, { framework, source: { type: "platform", uri } });
    expect(loaded("file:///srv/artifacts/m")).toContain('pipeline("text-classification", model=location)');
    expect(loaded("s3://models/m")).not.toContain("pipeline");
  });
});
