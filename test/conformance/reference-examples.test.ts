import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type Caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { faultProxy } from "../support/fault-proxy.ts";
import { documentOf, type Route, routesOf } from "../support/openapi.ts";

const run = promisify(execFile);

type Language = {
  readonly needs: readonly [command: string, ...given: string[]];
  readonly extension: string;
  /** Carries out programs one after the other; returns those that it has sent. */
  readonly run: (files: readonly string[], env: NodeJS.ProcessEnv) => Promise<readonly string[]>;
};

const PYTHON = "import sys\nfor file in sys.argv[1:]: exec(open(file).read())";

const languages: { readonly [language: string]: Language } = {
  curl: {
    needs: ["curl", "--fail-with-body", "--version"],
    extension: "sh",
    run: (files, env) => allOf(files, env, "sh", ["-ec", files.map((file) => `. ${file}`).join("\n")]),
  },
  Python: {
    needs: ["python3", "-c", "import requests"],
    extension: "py",
    run: (files, env) => allOf(files, env, "python3", ["-c", PYTHON, ...files]),
  },
  TypeScript: {
    needs: [process.execPath, "--version"],
    extension: "mts",
    run: (files, env) => {
      const imports = files.map((file) => `await import(${JSON.stringify(file)});`).join("\n");
      return allOf(files, env, process.execPath, ["--input-type=module", "-e", imports]);
    },
  },
  Go: {
    needs: ["go", "version"],
    extension: "go",
    run: async (files, env) => {
      expect((await run("gofmt", ["-l", ...files])).stdout).toBe("");
      // Each takes a second to compile, so one of each method is sent.
      const sent = [...new Map(files.toReversed().map((file) => [/-(\w+)\.go$/.exec(file)?.[1], file])).values()];
      for (const file of sent) await run("go", ["run", file], { env });
      return sent;
    },
  },
};

async function allOf(files: readonly string[], env: NodeJS.ProcessEnv, command: string, given: readonly string[]) {
  await run(command, given, { env, maxBuffer: 64 * 1024 * 1024 });
  return files;
}

const entities: { readonly [name: string]: string } = { quot: '"', "#39": "'", lt: "<", gt: ">", amp: "&" };

/** The code of an operation's example as the page shows it. */
function exampleOf(page: string, operationId: string, language: string): string {
  const [, section = ""] = page.split(`<section class="operation" id="${operationId}">`);
  const [, code = ""] = section.split(`data-language="${language}"><code>`);
  return (code.split("</code>")[0] ?? "").replaceAll(/&(#?\w+);/g, (_, name: string) => entities[name] ?? "?");
}

const ID = "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1";

type Ids = { readonly [operationId: string]: readonly (readonly [example: string, real: string])[] };

/** What the example ids of the page are on a server on which the example writes were carried out. */
async function idsOn(admin: Caller): Promise<Ids> {
  const first = async (path: string) => (await admin.get(path)).body.data[0];
  const secret = (await first("/api/svc/v1/secret-groups")).associatedSecrets[0].id;
  const app = (await first("/api/svc/v1/apps?applicationType=service")).id;
  const job = await admin.put("/api/svc/v1/apps", {
    manifest: {
      ...{ type: "job", name: "nightly", workspace_fqn: "prod-eu:ranking" },
      image: { type: "image", image_uri: "registry.example.com/nightly:1" },
    },
    triggerOnDeploy: true,
  });
  const jobId = job.body.data.applicationId;
  const runs = async () => (await admin.get(`/api/svc/v1/jobs/${jobId}/runs`)).body.data;
  await expect.poll(async () => (await runs()).length).toBe(1);
  const model = (await first("/api/ml/v1/model-versions")).model_id;
  const stage = await admin.post("/api/ml/v1/artifact-versions/stage", {
    manifest: { type: "artifact-version", name: "logs", ml_repo: "ranking" },
  });
  await admin.get("/api/svc/v1/personal-access-tokens/laptop");
  const token = (await first("/api/svc/v1/personal-access-tokens?subject=user:admin")).id;
  return {
    listSecretDeployments: [[ID, secret]],
    getSecret: [[ID, secret]],
    getArtifact: [[ID, model]],
    listDeployments: [[ID, app]],
    listJobRuns: [[ID, jobId]],
    getJobRun: [
      [ID, jobId],
      ["nightly-3-1", (await runs())[0].name],
    ],
    markStageFailure: [[ID, stage.body.id]],
    revokePersonalAccessToken: [[ID, token]],
  };
}

// What is declared comes before what refers to it; the rest follows in the order of the document.
const declaredFirst = ["putCluster", "putWorkspace", "putMlRepo"];

test.for(Object.entries(languages))("the examples in %s do what they say", async ([name, language], { skip }) => {
  const [command, ...given] = language.needs;
  skip(spawnSync(command, given).status !== 0, `${command} is not installed here, or lacks what the examples use`);
  const plane = await startControlPlane();
  const proxy = await faultProxy(plane);
  const env = { ...process.env, HOLDFAST_URL: proxy.url, HOLDFAST_TOKEN: plane.adminToken.open() };
  const page = await (await fetch(`${plane.url}/docs`)).text();
  const routes = routesOf(await documentOf(plane.url));
  const folder = await temporaryFolder();
  const carryOut = async (some: readonly Route[], ids: Ids = {}): Promise<void> => {
    const examples = some.map(({ method, path, operation: { operationId, parameters = [] } }) => {
      const file = join(folder, `${operationId}-${method}.${language.extension}`);
      const real = (text: string) =>
        (ids[operationId] ?? []).reduce((all, [from, to]) => all.replaceAll(from, to), text);
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => {
        const found = parameters.find((one) => "name" in one && one.name === parameter);
        return encodeURIComponent(String(found !== undefined && "example" in found ? found.example : ""));
      });
      return { file, code: real(exampleOf(page, operationId, name)), call: `${method.toUpperCase()} ${real(filled)}` };
    });
    for (const { file, code } of examples) await writeFile(file, `${code}\n`);
    proxy.asked.length = 0;
    const sent = await language.run(
      examples.map(({ file }) => file),
      env,
    );
    expect(proxy.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(
      sent.map((file) => examples.find((one) => one.file === file)?.call),
    );
    // What later examples need is there also where only some are sent.
    for (const { method, path, operation } of sent.length < some.length ? some : [])
      if (method !== "get")
        await plane.admin[method as "put" | "post"](path, operation.requestBody?.content["application/json"].example);
  };
  // The examples of prompts are in a repository of their own.
  const support = await plane.admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  expect([support.status, support.text]).toEqual([200, support.text]);
  const rank = ({ operation }: Route) => [...declaredFirst, operation.operationId].indexOf(operation.operationId);
  const ordered = routes.toSorted((one, other) => rank(one) - rank(other));
  const needsIds = ({ operation }: Route) => exampleOf(page, operation.operationId, name).includes(ID);
  const [needIds, free] = [ordered.filter(needsIds), ordered.filter((route) => !needsIds(route))];
  // What is disabled for good can do nothing afterwards.
  const isLast = ({ operation }: Route) => operation.operationId === "disableSubject";
  await carryOut([...free.filter((route) => !isLast(route)), ...free.filter(isLast)]);
  await carryOut(needIds, await idsOn(plane.admin));
  expect(needIds.length + free.length).toBe(routes.length);
});
