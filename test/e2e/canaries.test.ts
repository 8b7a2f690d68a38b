import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { foundations, prompt, service, team } from "../support/manifests.ts";
import { serve, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

/** Secrets to look for, as they are given out: each holds what URLs, JSON and YAML write in ways of their own. */
function canaries() {
  const secrets: string[] = [];
  const next = (): string => {
    const secret = `${randomUUID()}"/%é`;
    secrets.push(secret);
    return secret;
  };
  return { secrets, next };
}

const traced = { once: "its log says what is requested when, and when it is refused" };

const quoted = (text: string) => JSON.stringify(text);

/** A service and a prompt with a secret in every place that may hold one. */
function secretsIn(next: () => string) {
  const api = service(
    "api",
    `    auth: { type: basic, password_hash: ${quoted(next())} }
env:
  DB_PASSWORD: ${quoted(next())}
  Token: ${quoted(next())}
  DATABASE_URL: ${quoted(`postgres://app:${encodeURIComponent(next())}@db.example.com/app`)}
labels:
  token: ${quoted(next())}
mounts:
  - { type: string, mount_path: /run/app.conf, data: ${quoted(next())} }
kustomize:
  patch:
    spec:
      env: [{ name: DB_PASSWORD, value: ${quoted(next())} }]
  additions:
    - { apiVersion: v1, kind: Secret, metadata: { name: api }, stringData: { any: ${quoted(next())} } }
`,
  );
  const built = `type: service
name: built
workspace_fqn: dev:web
image:
  type: build
  build_source: { type: git, repo_url: "https://git.example.com/app", ref: main }
  build_spec:
    type: dockerfile
    build_args:
      NPM_TOKEN: ${quoted(next())}
`;
  const greeting = `type: chat_prompt
name: greeting
ml_repo: registry
messages:
  - { role: system, content: Be kind. }
metadata:
  api-key: ${quoted(next())}
variables:
  password: ${quoted(next())}
model_configuration:
  provider: example
  model: example
  extra_parameters: { anything: { at: { all: ${quoted(next())} } } }
routing_config:
  type: weight-based-routing
  load_balance_targets:
    - { target: example/one, weight: 1, override_params: { secret: ${quoted(next())} } }
`;
  return { "services/api.yaml": api, "services/built.yaml": built, "registry/greeting.yaml": greeting };
}

/** What must not be seen of a secret: the beginning, the end, and the whole in other alphabets. */
function tracesOf(secret: string): readonly string[] {
  const [core] = secret.split('"');
  const bytes = Buffer.from(core ?? "");
  // At each of the three places where it can begin in a longer text, without the letters that its neighbours change.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64url")
      .slice(4, -4),
  );
  return [secret.slice(0, 8), bytes.toString().slice(-8), bytes.toString("hex"), ...base64];
}

function expectNoTrace(secrets: readonly string[], outputs: { readonly [name: string]: string }): void {
  for (const [name, output] of Object.entries(outputs)) {
    // Broken over lines it would be as readable, and base64 has two alphabets.
    const text = output.replaceAll(/\s+/g, "").replaceAll("+", "-").replaceAll("/", "_");
    const seen = secrets.flatMap(tracesOf).filter((trace) => output.includes(trace) || text.includes(trace));
    expect(seen, name).toEqual([]);
  }
}

function filesIn(folder: string): { readonly [name: string]: string } {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "latin1")]),
  );
}

test("S10, S12: a secret of a manifest is in no output, whatever is asked for", async () => {
  const { secrets, next } = canaries();
  const server = await serveProcess(["--log-level", "trace"]);
  const source = await sourceOf({ ...foundations, "team.yaml": team("ml"), ...secretsIn(next) }, server);
  const outputs: { [name: string]: string } = {};
  const run = async (args: readonly string[], env?: { readonly [name: string]: string }) => {
    const { code, stdout, stderr } = await source.run([...args, "--log-level", "trace"], env, traced);
    outputs[`${Object.keys(outputs).length}: ${args.join(" ")}`] = stdout + stderr;
    return { code, stdout };
  };
  const colours = { FORCE_COLOR: "1" };
  expect(await run(["validate"], colours)).toMatchObject({ code: 0 });
  expect(await run(["apply", "--yes", "-o", "json"])).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(secretsIn(next))) await source.write(file, text);
  expect((await run(["plan", "--out", "plan.json", "--show", "server", "unchanged", "unmanaged"])).stdout).toContain(
    "(sensitive) → (sensitive, changed)",
  );
  expect(await run(["plan", "-o", "json", "--log-format", "pretty"])).toMatchObject({ code: 0 });
  expect(await run(["apply", "--plan", "plan.json"])).toMatchObject({ code: 0 });
  for (const [file, text] of Object.entries(secretsIn(next))) await source.write(file, text);
  expect(await run(["apply", "--yes", "--log-format", "pretty"], colours)).toMatchObject({ code: 0 });
  const watch = source.start(["watch", "--sink", "file", "--log-level", "trace"]);
  await watch.shows("stdout", /^Applied: /m);
  for (const [file, text] of Object.entries(secretsIn(next))) await source.write(file, text);
  for (const name of ["service/dev:web/api", "service/dev:web/built", "chat_prompt/registry/greeting"]) {
    await watch.shows("stdout", new RegExp(`updated {3}${name}`));
  }
  watch.kill("SIGTERM");
  await watch.ended;
  outputs.watch = watch.stdout() + watch.stderr();
  // Somebody else's change, recorded in no manifest.
  const foreign = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    env: { DB_PASSWORD: next(), Token: next() },
  };
  const image = { type: "image", image_uri: "registry.example.com/api:2.0.0" };
  await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...foreign, image } });
  expect(await run(["drift"], colours)).toMatchObject({ code: 2 });
  expect((await run(["drift", "-o", "json"])).stdout).toContain("(sensitive)");

  expect((await run(["history", "--changes"], colours)).stdout).toContain("(sensitive) → (sensitive, changed)");
  expect((await run(["history", "--changes", "-o", "json"])).stdout).toContain("(sensitive, changed)");

  expect(secrets.length).toBeGreaterThan(40);
  const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
  outputs["control plane's metrics"] = await metrics.text();
  outputs["control plane's log"] = server.process.stdout() + server.process.stderr();
  expectNoTrace(secrets, { ...outputs, ...filesIn(join(source.folder, ".holdfast")) });
  expectNoTrace(secrets, { "plan.json": readFileSync(join(source.folder, "plan.json"), "utf8") });
});

test("S11, B31: what is wrong beside a secret is told without it, on a terminal too and with the control plane's words", async () => {
  const { secrets, next } = canaries();
  const server = await serveProcess(["--log-level", "trace"]);
  const broken = {
    "unclosed.yaml": `${service("a")}env:\n  DB_PASSWORD: "${next().replace('"', "")}\n`,
    "flow.yaml": `${service("b")}env: { DB_PASSWORD: ${quoted(next())}, [] }\n`,
    "tab.yaml": `${service("c")}env:\n\tDB_PASSWORD: ${quoted(next())}\n`,
    "type.yaml": `${service("d")}env:\n  DB_PASSWORD: [${quoted(next())}]\n`,
    "unknown.yaml": `${service("e")}password: ${quoted(next())}\n`,
    "twice.yaml": `${service("f")}env:\n  A_TOKEN: ${quoted(next())}\n  A_TOKEN: ${quoted(next())}\n`,
    "alias.yaml": `${service("g")}env:\n  A_TOKEN: &a ${quoted(next())}\n  B_TOKEN: *${next().slice(0, 36)}\n`,
    "tag.yaml": `${service("h")}env:\n  A_TOKEN: !secret ${quoted(next())}\n`,
    "json.json": `{"type": "service", "env": {"A_TOKEN": ${quoted(next())} "B": 1}}`,
  };
  const source = await sourceOf({ ...foundations, ...broken }, server);
  const outputs: { [name: string]: string } = {};
  for (const args of [["validate"], ["validate", "-o", "json"], ["plan"], ["apply", "--yes"]]) {
    const { code, stdout, stderr } = await source.run([...args, "--log-level", "trace"], { FORCE_COLOR: "1" });
    expect(code).toBe(3);
    for (const file of Object.keys(broken)) expect(stdout + stderr).toContain(file);
    outputs[args.join(" ")] = stdout + stderr;
  }
  for (const file of Object.keys(broken)) await source.remove(file);
  // The control plane refuses the mount, and may say of what.
  const refused = `env:\n  DB_PASSWORD: ${quoted(next())}\nmounts:\n  - { type: secret, mount_path: /run/key, secret_fqn: "holdfast:absent:key" }\n`;
  await source.write("refused.yaml", service("refused", refused));
  const ended = await source.run(["apply", "--yes", "--log-level", "trace"], { FORCE_COLOR: "1" });
  expect(ended.code).toBe(7);
  expectNoTrace(secrets, { ...outputs, refused: ended.stdout + ended.stderr, server: server.process.stderr() });
});

test("S11: a token that is not accepted is not repeated, nor a password in an address", async () => {
  const server = await serve();
  const source = await sourceOf(foundations);
  const [token, password] = [randomUUID(), randomUUID()];
  const address = server.url.replace("://", `://me:${password}@`);
  for (const url of [server.url, address, "http://127.0.0.1:1"]) {
    const env = {
      HOLDFAST_SERVER: url,
      HOLDFAST_TOKEN: token,
      HOLDFAST_CONNECT_TIMEOUT: "1",
      HOLDFAST_LOG_LEVEL: "trace",
    };
    const ended = await source.run(["plan"], env, traced);
    expect(ended.code).not.toBe(0);
    expectNoTrace([token, password], {
      [url === address ? "an address with a password" : url]: ended.stdout + ended.stderr,
    });
  }
});

test("S15: nothing that a terminal would obey comes out, whatever files, names and values hold", async () => {
  const server = await serveProcess(["--log-level", "trace"]);
  const nasty = "\\e]0;title\\a\\e[2K\\e]8;;http://x\\e\\\\link\\r\\b\\u009b31m\\u202e\\u200b\\u2028";
  const source = await sourceOf({ ...foundations, "team.yaml": team("ml") }, server);
  const api = (value: string) => service("api", `env:\n  GREETING: "${value}"\n  "${nasty}": x\n`);
  await source.write("services/\u001b[2K\u202e.yaml", api(nasty));
  await source.write("registry/greeting.yaml", prompt("greeting", `"${nasty}"`));
  const outputs: string[] = [];
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr } = await source.run([...args, "--log-level", "trace"], {}, traced);
    outputs.push(stdout, stderr);
    return stdout;
  };
  // A key that hides something is refused, and told of.
  expect(await run("validate")).toContain("[control-character]");
  await run("validate", "-o", "json");
  const excerpts = await source.run(["validate"], { FORCE_COLOR: "1" });
  expect(excerpts.stdout).toContain(" │");
  // Our own colours, and nothing else of that kind.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the colours
  outputs.push(excerpts.stdout.replaceAll(/\u001b\[\d+m/g, ""));
  await source.write("services/\u001b[2K\u202e.yaml", api(nasty).replace(/^ {2}"\\.*\n/m, ""));
  expect(await run("plan")).toContain("\\u001b[2K");
  await run("plan", "-o", "json", "--log-format", "pretty");
  await run("apply", "--yes");
  await source.write("services/\u001b[2K\u202e.yaml", api("hello").replace(/^ {2}"\\.*\n/m, ""));
  expect(await run("plan")).toContain("\\u001b]0;title\\u0007");
  await run("drift", "-o", "json");
  outputs.push(server.process.stdout(), server.process.stderr());
  expect(outputs.join("").replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
});
