import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { account, everyKind, type Files, foundations, model, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const names = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`);

const services = names("service", 12);
const many: Files = {
  ...foundations,
  ...Object.fromEntries(services.map((name) => [`services/${name}.yaml`, service(name)])),
  ...Object.fromEntries(names("prompt", 3).map((name) => [`prompts/${name}.yaml`, prompt(name, "Be kind.")])),
  ...Object.fromEntries(names("model", 3).map((name) => [`models/${name}.yaml`, model(name)])),
  "team.yaml": team("ml"),
  "account.yaml": account("ci"),
};

// Short, since a run after a crash waits until nothing that was sent can arrive any more.
const flags = ["apply", "--yes", "--concurrency", "2", "--request-timeout", "2"];

describe.each(controlPlaneVariants)("an apply that is killed, on a $name control plane", (plane) => {
  test.each([1, 9, 15])("after %i effects, and run again, makes one version of each", async (point) => {
    const server = await plane.serve();
    const before = server.effects().length;
    const source = await sourceOf(many, server);
    const killed = source.start(flags);
    await eventually(`${point} effects`, () => server.effects().length >= before + point, { everyMs: 1 });
    killed.kill("SIGKILL");
    // Where this process is kept waiting, the apply may be over by then.
    const { code, signal } = await killed.ended;
    expect([code, signal]).toBeOneOf([
      [null, "SIGKILL"],
      [0, null],
    ]);

    const rerun = await source.runHere(flags);
    const total = Object.keys(many).length;
    expect(server.effects().length - before).toBe(plane.name === "full" ? total : total - 3);
    await expectOneOfEach(server);
    const token = join(source.folder, ".holdfast/tokens", new URL(server.url).host.replace(":", "_"));
    if (existsSync(join(token, "virtual-account/ci"))) expect(rerun).toMatchObject({ code: 0 });
    else expect(rerun.stdout).toContain("[token-unrecovered]");
    expect(await source.runHere(flags)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`\nApplied: ${total} unchanged\n`),
    });
  });
});

describe.each(controlPlaneVariants)(
  "an apply during which the control plane is killed and comes back, on a $name one",
  (plane) => {
    test.each([2, 8])("after %i effects, finishes, and makes one version of each", async (point) => {
      const { "account.yaml": _, ...files } = many;
      const server = await plane.serveProcess();
      const before = server.effects().length;
      const source = await sourceOf(files, server);
      const apply = source.start(flags);
      await eventually(`${point} effects`, () => server.effects().length >= before + point, { everyMs: 1 });
      server.process.kill("SIGKILL");
      await server.process.ended;
      const again = ["--port", new URL(server.url).port, ...(plane.name === "full" ? [] : ["--documented-only"])];
      const restarted = await serve(again, { data: server.data });

      const ended = await apply.ended;
      expect(ended).toMatchObject({ code: 0 });
      await expectOneOfEach(restarted);
      const total = Object.keys(files).length;
      expect(await source.runHere(flags)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`\nApplied: ${total} unchanged\n`),
      });
    });
  },
);

describe.each(controlPlaneVariants)(
  "an apply that is killed before a reply arrives, on a $name control plane",
  (plane) => {
    const modelWrite = plane.name === "full" ? "PUT" : "POST";
    test.each([
      { kind: "service", method: "PUT", path: "/api/svc/v1/apps" },
      { kind: "chat_prompt", method: "PUT", path: "/api/ml/v1/prompt-versions" },
      { kind: "model-version", method: modelWrite, path: "/api/ml/v1/model-versions" },
      { kind: "team", method: "PUT", path: "/api/svc/v1/teams" },
    ])("of a $kind finds out in the next run what became of it, and writes it once", async ({ kind, method, path }) => {
      const server = await plane.serve();
      const gate = await startHoldingProxy(server);
      const source = await sourceOf(everyKind, server);
      const only = ["--kind", kind, "--server", gate.url];
      const before = server.effects().length;
      const held = gate.hold(method, path);
      const killed = source.start([...flags, ...only]);
      await held;
      killed.kill("SIGKILL");
      await killed.ended;
      gate.open();

      const written = server.effects().length;
      expect(written).toBeGreaterThan(before);
      const rerun = await source.runHere([...flags, ...only]);
      expect(rerun.code).toBe(0);
      const of = (prefix: string) => server.effects().filter(({ resource }) => resource.startsWith(prefix));
      expect(of(`${kind}/`)).toHaveLength(1);
      expect(server.effects()).toHaveLength(written);
      expect(await source.runHere([...flags, ...only])).toMatchObject({ code: 0, stderr: "" });
    });

    test("of an account gets its token all the same, and writes it once", async () => {
      const server = await plane.serve();
      const gate = await startHoldingProxy(server);
      const source = await sourceOf(everyKind, server);
      const held = gate.hold("PUT", "/api/svc/v1/virtual-accounts");
      const killed = source.start([...flags, "--server", gate.url]);
      await held;
      killed.kill("SIGKILL");
      await killed.ended;
      gate.open();
      expect(await source.runHere([...flags, "--server", gate.url])).toMatchObject({ code: 0 });
      const token = await readFile(
        join(source.folder, ".holdfast/tokens", new URL(gate.url).host.replace(":", "_"), "virtual-account/ci"),
        "utf8",
      );
      const reply = await fetch(`${server.url}/api/svc/v1/workspaces`, {
        headers: { authorization: `Bearer ${token.trim()}` },
      });
      expect(reply.status).toBe(200);
      const of = server.effects().filter(({ resource }) => resource === "virtual-account/ci");
      expect(of).toHaveLength(1);
    });
  },
);

async function expectOneOfEach({ effects, call }: Server): Promise<void> {
  const resources = effects().map(({ resource }) => resource);
  expect(resources.length).toBe(new Set(resources).size);
  for (const kind of ["prompt-versions", "model-versions"]) {
    const { pagination } = await call("GET", `/api/ml/v1/${kind}`);
    expect(pagination.total).toBe(3);
  }
  for (const name of services) {
    const { data } = await call("PUT", "/api/svc/v1/apps", {
      manifest: { type: "service", name, workspace_fqn: "dev:web", image: { type: "image", image_uri: "x" } },
      dryRun: true,
    });
    const { pagination } = await call("GET", `/api/svc/v1/apps/${data.applicationId}/deployments`);
    expect([name, pagination.total]).toEqual([name, 1]);
  }
}
