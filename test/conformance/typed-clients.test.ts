import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { Secret } from "../../src/contract/secret.ts";
import { startControlPlane } from "../control-plane.ts";
import { documentOf, routesOf } from "../support/openapi.ts";
import { servedFiles } from "../support/served-files.ts";

const run = promisify(execFile);
const workspace = join(import.meta.dirname, "../clients");
const programs: Readonly<Record<"openapi-fetch" | "hey-api", readonly string[]>> = {
  "openapi-fetch": ["openapi-typescript", "document.json", "-o", "build/openapi-typescript.ts"],
  "hey-api": ["openapi-ts", "-i", "document.json", "-o", "build/hey-api", "--no-log-file"],
};

type Program = {
  readonly callEveryOperation: (url: string, fetch: typeof globalThis.fetch) => Promise<void>;
};

/** A folder in which the workspace's packages are found, with one program and the client made from the document. */
async function generated(name: keyof typeof programs, document: unknown): Promise<string> {
  const folder = await mkdtemp(join(workspace, "run-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const file of [`${name}.ts`, "tsconfig.json"]) await copyFile(join(workspace, file), join(folder, file));
  await writeFile(join(folder, "document.json"), JSON.stringify(document));
  const [generator = "", ...given] = programs[name];
  await run(join(workspace, "node_modules/.bin", generator), given, { cwd: folder });
  return folder;
}

/** `fetch` with a token, which tells what it calls. */
function recording(token: Secret, calls: string[]): typeof globalThis.fetch {
  return (input, init) => {
    const request = new Request(input, init);
    request.headers.set("authorization", `Bearer ${token.open()}`);
    calls.push(`${request.method} ${new URL(request.url).pathname}`);
    return fetch(request);
  };
}

test.each(["openapi-fetch", "hey-api"] as const)(
  "a client that is typed by the document, for %s, compiles under strict and calls every operation",
  async (name) => {
    const { url, adminToken } = await startControlPlane(await servedFiles());
    const document = await documentOf(url);
    const folder = await generated(name, document);
    // The compiler of the checkout: that of the generators takes four times as long.
    const compiled = await run(join(workspace, "../../node_modules/.bin/tsc"), ["-p", folder]).catch((error) => error);
    expect(compiled.stdout).toBe("");

    const { callEveryOperation }: Program = await import(join(folder, `${name}.ts`));
    const calls: string[] = [];
    await callEveryOperation(url, recording(adminToken, calls));
    const isCalled = ({ method, path }: { readonly method: string; readonly path: string }) => {
      const pattern = new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      return calls.some((call) => pattern.test(call));
    };
    // Their files are bytes, which each client sends in a way of its own.
    expect(calls.filter((call) => /^(?:GET|PUT) .*\/staged\/[^/]+\/a\.bin$/.test(call))).toHaveLength(2);
    const uncalled = routesOf(document).filter((route) => !isCalled(route));
    expect(uncalled.map(({ operation }) => operation.operationId)).toEqual([]);
  },
);
