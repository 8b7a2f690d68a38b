import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, foundations, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** A refusal says what is wrong and what to do now, writes no result, and shows no stack. */
function expectRefusal(ended: Ended, code: number, message: RegExp): void {
  expect(ended).toMatchObject({ code, stdout: "" });
  // A daemon says first that it begins.
  expect(ended.stderr.replace(/^\S+Z watching: .*\n/, "")).toMatch(message);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
  expect(ended.stderr).not.toContain("fault of holdfast");
}

describe("exit code 3 is for a command line that cannot be meant", () => {
  test.each([
    { args: ["aply"], message: /unknown command 'aply'[\s\S]*apply/ },
    { args: ["plans"], message: /unknown command 'plans'[\s\S]*Did you mean plan\?/ },
    // A word that is no misspelling of it leads to no command that writes.
    { args: ["delete"], message: /unknown command 'delete'\n(?![\s\S]*Did you mean)/ },
    { args: ["plan", "--sever", "http://127.0.0.1:1"], message: /unknown option '--sever'[\s\S]*--server/ },
    { args: ["plan", "--concurrency", "many"], message: /--concurrency[\s\S]*whole number/ },
    { args: ["plan", "--timeout", "10m"], message: /--timeout[\s\S]*seconds/ },
    { args: ["plan", "-o", "yaml"], message: /Allowed choices are text, json/ },
    { args: ["plan", "--token", "abc"], message: /a token is never given on the command line/ },
    { args: ["validate", "no/such/path"], message: /^error: .*no\/such\/path does not exist\n {2}→ /m },
    { args: ["validate", "--source", "nowhere"], message: /^error: the source .*nowhere is no folder\n {2}→ /m },
    { args: ["validate", "--config", "nowhere.yaml"], message: /^error: .*nowhere\.yaml does not exist\n {2}→ /m },
    {
      args: ["validate", "--only", "service/dev:web/apii"],
      message: /apii matches nothing[\s\S]*did you mean service\/dev:web\/api\?/,
    },
    {
      args: ["validate", "--only", "servce/*/ap*"],
      message: /ap\* matches nothing[\s\S]*did you mean service\/\*\/ap\*\?/,
    },
    {
      args: ["validate", "--only", "service/dev:wbe/**"],
      message: /wbe\/\*\* matches nothing[\s\S]*did you mean service\/dev:web\/\*\*\?/,
    },
    {
      args: ["validate", "--kind", "sevice"],
      message: /--kind sevice is not a kind[\s\S]*did you mean service\?/,
    },
    { args: ["validate", "--kind", "gadget"], message: /--kind gadget is not a kind[\s\S]*the kinds are / },
    { args: ["plan", "--server", "not a url"], message: /^error: .*\n {2}→ /m },
    { args: ["plan", "--server", "ftp://127.0.0.1"], message: /^error: .*\n {2}→ /m },
    { args: ["apply", "--yes", "--lease-scope", ".."], message: /--lease-scope[\s\S]*without spaces, such as c1:ws1/ },
    { args: ["serve", "--port", "99999999"], message: /port/ },
    { args: ["plan", "--request-timeout", "5s"], message: /--request-timeout[\s\S]*seconds, such as 30/ },
  ])("$args", async ({ args, message }) => {
    const source = await sourceOf(everyKind);
    expectRefusal(await source.runHere(args, { HOLDFAST_TOKEN: "any" }), 3, message);
  });

  test("a command without a server says how to name one", async () => {
    const source = await sourceOf(everyKind);
    for (const args of [["plan"], ["drift"], ["apply", "--yes"], ["watch"]]) {
      const hint =
        /^error: no control plane is named, and no token is given\n {2}→ name one with --server URL [\s\S]*--token-file FILE [\s\S]*--embedded/;
      expectRefusal(await source.runHere(args), 3, hint);
    }
  });

  test("a configuration that names a sink which does not exist says which ones do", async () => {
    const source = await sourceOf(everyKind);
    const config = join(await temporaryFolder(), "operator.yaml");
    await writeFile(config, "sinks: [nowhere]\n");
    const ended = await source.runHere(["plan", "--embedded", "--config", config]);
    expectRefusal(
      ended,
      3,
      /^error: sinks: there is no sink nowhere\n {2}→ name one of these: exec, file, kubernetes, vault$/m,
    );
  });

  test("apply without a terminal wants --yes or a plan", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    expectRefusal(
      await source.runHere(["apply"]),
      3,
      /there is no terminal\n {2}→ run it with --yes, or with --plan FILE/,
    );
    expect(server.effects()).toEqual([]);
  });

  test("a twin in the environment is held to the same rules, and named", async () => {
    const source = await sourceOf(everyKind);
    expectRefusal(
      await source.runHere(["validate"], { HOLDFAST_OUTPUT: "yaml" }),
      3,
      /^error: HOLDFAST_OUTPUT .*Allowed choices are/,
    );
    expectRefusal(
      await source.runHere(["plan"], { HOLDFAST_CONCURRENCY: "0" }),
      3,
      /^error: HOLDFAST_CONCURRENCY .*from 1/,
    );
    expectRefusal(
      await source.runHere(["plan"], { HOLDFAST_YES: "1", HOLDFAST_EMBEDDED: "maybe" }),
      3,
      /^error: HOLDFAST_EMBEDDED /,
    );
  });

  test("operator keys in the repository's own configuration are refused without a terminal", async () => {
    const server = await serve();
    const source = await sourceOf({ ...everyKind, "holdfast.yaml": `server: ${server.url}\n` });
    expectRefusal(
      await source.runHere(["apply", "--yes"], { HOLDFAST_TOKEN: server.token }),
      3,
      /^error: holdfast\.yaml sets server, which only the operator may\n {2}→ /,
    );
    expect(server.effects()).toEqual([]);
  });

  test("a broken configuration is located", async () => {
    const source = await sourceOf({ ...everyKind, "holdfast.yaml": "guards:\n  shrinkShar: 0.5\n" });
    const ended = await source.runHere(["validate"]);
    expect(ended.code).toBe(3);
    expect(ended.stdout).toMatch(/^holdfast\.yaml:2:3: error: .*did you mean `shrinkShare`/m);
  });
});

describe("exit code 4 is for a caller who may not", () => {
  test.each([
    { what: "no token", env: { HOLDFAST_TOKEN: "" }, message: /^error: no token is given\n {2}→ / },
    { what: "a wrong token", env: { HOLDFAST_TOKEN: "wrong" }, message: /401/ },
    { what: "a missing token file", env: { HOLDFAST_TOKEN_FILE: "nowhere" }, message: /nowhere is missing or empty/ },
    {
      what: "a folder as token file",
      env: { HOLDFAST_TOKEN_FILE: "." },
      message: /token file \. cannot be read \(EISDIR\)/,
    },
  ])("$what", async ({ env, message }) => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    for (const args of [["plan"], ["drift"], ["apply", "--yes"]]) {
      expectRefusal(await source.runHere(args, env), 4, message);
    }
    expect(server.effects()).toEqual([]);
  });

  test("B27: of the token's file only the line's end is cut off", async () => {
    const server = await serve();
    const source = await sourceOf(foundations, server);
    const env = { HOLDFAST_TOKEN: "", HOLDFAST_TOKEN_FILE: "token" };
    for (const sound of [server.token, `${server.token}\n`, `${server.token}\r\n`]) {
      await source.write("token", sound);
      expect(await source.runHere(["plan"], env)).toMatchObject({ code: 0 });
    }
    for (const broken of [
      "",
      "\n",
      `${server.token}\nmore\n`,
      `${server.token.slice(0, 9)} ${server.token.slice(9)}`,
    ]) {
      await source.write("token", broken);
      const ended = await source.runHere(["plan"], env);
      expectRefusal(ended, 4, /token/);
      expect(ended.stderr).not.toContain(server.token.slice(0, 9));
    }
  });

  test("someone who may read only sees a plan, and applies nothing", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const before = server.effects();
    const tokenFile = join(
      source.folder,
      ".holdfast/tokens",
      new URL(server.url).host.replace(":", "_"),
      "virtual-account/ci",
    );
    const env = { HOLDFAST_TOKEN: "", HOLDFAST_TOKEN_FILE: tokenFile };
    const only = ["--only", "service/dev:web/api"];
    const plan = await source.runHere(["plan", ...only], env);
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toMatch(/manifest +replicas +2 → 3/);
    const apply = await source.runHere(["apply", "--yes", "-o", "json", ...only], env);
    expect(apply.code).toBe(4);
    expect(reportOf(apply).outcomes.find(({ kind }) => kind === "service")).toMatchObject({
      result: "failed",
      error: { status: 403, role: "workspace-editor on workspace dev:web" },
    });
    expect((await source.runHere(["apply", "--yes", ...only], env)).stdout).toContain(
      "→ give the token workspace-editor on workspace dev:web, or ask someone who has it, then run apply again\n",
    );
    expect(server.effects()).toEqual(before);
  });
});

describe("exit code 1 is for a control plane that cannot be reached", () => {
  const limits = ["--connect-timeout", "0.5", "--request-timeout", "0.5"];
  const env = { HOLDFAST_TOKEN: "any" };

  test("nobody listens: within the connect timeout, and named", async () => {
    const source = await sourceOf(everyKind);
    const url = `http://127.0.0.1:${await freePort()}`;
    for (const args of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const begun = performance.now();
      const ended = await source.runHere([...args, "--server", url, ...limits], env);
      // Without the limit it would try for ten seconds.
      expect(performance.now() - begun).toBeLessThan(10_000);
      expectRefusal(ended, 1, /^error: the control plane at http:\/\/127\.0\.0\.1:\d+ cannot be reached .*\n {2}→ /m);
    }
  });

  test("somebody listens and never answers: within the time of one request, and nothing is decided", async () => {
    const source = await sourceOf(everyKind);
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    onTestFinished(() => void silent.close());
    const server = ["--server", `http://127.0.0.1:${portOf(silent)}`, "-o", "json"];
    const plan = await source.runHere(["plan", ...server, ...limits], env);
    expect(plan.code).toBe(1);
    expect(planOf(plan)).toMatchObject({ complete: false, summary: { create: 0, ensure: 0, block: 8 } });
    const apply = await source.runHere(["apply", "--yes", ...server, ...limits], env);
    expect(apply.code).toBe(1);
    expect(reportOf(apply).summary).toMatchObject({ created: 0, blocked: 8 });
    expect(apply.stderr).toMatch(/^error: .*GET \/api\/svc\/v1\/clusters: no complete reply within 500 ms/m);
  });
});

describe("exit code 8 is for a second writer", () => {
  test("apply is turned away while another holds the state folder; plan and drift are not", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const watch = source.start(["watch", "--sink", "file"]);
    await watch.shows("stdout", /^Applied: 8 created/m);
    const apply = await source.runHere(["apply", "--yes"]);
    expectRefusal(apply, 8, /^error: another holdfast process is using the state folder .*\n {2}→ /);
    expect(await source.runHere(["plan"])).toMatchObject({ code: 0 });
    expect(await source.runHere(["drift"])).toMatchObject({ code: 0 });
    watch.kill("SIGKILL");
    await watch.ended;
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 8 unchanged\n"),
    });
  });

  test("a second control plane on the same data is turned away", async () => {
    const server = await serve();
    const source = await sourceOf({});
    const ended = await source.runHere(["serve", "--port", "0", "--data", server.data]);
    expectRefusal(ended, 8, /^error: .* is in use by another control plane\n {2}→ /);
  });
});

test("a port that is taken is said to be", async () => {
  const server = await serve();
  const source = await sourceOf({});
  const ended = await source.runHere(["serve", "--port", new URL(server.url).port, "--data", "data"]);
  expectRefusal(ended, 1, /^error: the port is in use\n {2}→ choose another with --port/);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const port = portOf(server);
  await new Promise((done) => server.close(done));
  return port;
}

function portOf(server: ReturnType<typeof createServer>): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("it does not listen on a port");
  return address.port;
}
