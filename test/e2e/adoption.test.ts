import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { deployAs, foreignService } from "../support/foreign-service.ts";
import { planOf, statusOf } from "../support/json-output.ts";
import { account, type Files, foundations, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const image = { type: "image", image_uri: "registry.example.com/same:1.0.0" };
const same = { type: "service", name: "same", workspace_fqn: "dev:web", image, ports: [{ port: 8080 }] };
const declared: Files = {
  ...foundations,
  "api.yaml": service("api", "replicas: 2\n"),
  "new.yaml": service("new"),
  "same.yaml": service("same"),
};

/** A control plane whose platform somebody else has made: one service differs, one is equal, and one is absent. */
async function inheritedPlatform(): Promise<Server> {
  const server = await serve();
  const first = await sourceOf(foundations, server);
  expect(await first.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  await foreignService(server);
  await deployAs("more", same, server);
  return server;
}

async function daemonOn(server: Server, target: object, config: object = {}) {
  const upstream = await upstreamOf(declared);
  const { run, start } = await operatorOf(
    {
      ...config,
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600, ...target }],
    },
    server,
  );
  const status = async () => statusOf(await run(["status", "-o", "json"])).targets[0];
  return { run, start: () => start(["watch", "--no-wait"], guarded), status };
}

describe("a target without a ledger, on a platform of others", () => {
  test("only reports: every surface says NotAdopted, how many, and what to do", async () => {
    const server = await inheritedPlatform();
    const source = await sourceOf(declared, server);
    const before = server.effects();
    const told =
      /NotAdopted.*1 of 6 declared resources differs and is somebody else's: apply writes nothing until it is adopted or allowed.*holdfast adopt service\/dev:web\/api/;
    const inOneLine = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string =>
      `${stdout}${stderr}`.replaceAll(/\s+/g, " ");
    expect(inOneLine(await source.runHere(["plan"], guarded))).toMatch(told);
    expect(inOneLine(await source.runHere(["plan", "-o", "markdown"], guarded))).toMatch(told);
    const json = planOf(await source.runHere(["plan", "-o", "json"], guarded));
    expect(json.diagnostics.map(({ code }) => code)).toContain("not-adopted");
    expect(json.steps.find(({ risks }) => risks.includes("adopts"))?.guard?.dangers).toMatchObject([
      { text: "env.QUEUE, replicas" },
    ]);
    const refused = await source.runHere(["apply", "--yes"], guarded);
    expect(refused.code).toBe(5);
    expect(inOneLine(refused)).toMatch(told);
    const document = await source.runHere(["apply", "--yes", "-o", "json"], guarded);
    expect(JSON.parse(document.stdout)).toMatchObject({
      error: { code: "refused" },
      diagnostics: [{ code: "not-adopted" }, {}],
    });
    expect(server.effects()).toEqual(before);

    const { run, start, status } = await daemonOn(server, {});
    const daemon = start();
    await daemon.shows("stdout", /2 blocked, 4 unchanged/);
    expect(await status()).toMatchObject({ reason: "NotAdopted", condition: "Stalled" });
    expect(server.effects()).toEqual(before);
    expect(await run(["adopt", "--all"], guarded)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("5 resources adopted"),
    });
    await daemon.shows("stdout", /1 created, 1 updated, 4 unchanged/);
    // What was equal is recorded, and costs no write.
    expect(server.effects().filter(({ resource }) => resource === "service/dev:web/same")).toHaveLength(1);
  });

  test("is taken over without a lost field by the command that the plan offers", async () => {
    const server = await inheritedPlatform();
    const source = await sourceOf(declared, server);
    const { diagnostics } = planOf(await source.runHere(["plan", "-o", "json"], guarded));
    const { detail = "" } = diagnostics.find(({ code }) => code === "not-adopted") ?? {};
    const [, offered = ""] = /^holdfast (import --update .*?) takes/.exec(detail ?? "") ?? [];
    expect(offered).toBe("import --update service/dev:web/api");
    expect(await source.runHere(offered.split(" "), guarded)).toMatchObject({ code: 0 });
    const before = server.effects();
    expect(await source.runHere(["apply", "--yes"], guarded)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Applied: 1 created, 5 unchanged"),
    });
    expect(server.effects().slice(before.length)).toMatchObject([{ resource: "service/dev:web/new" }]);
  });

  test("overwrites what differs where the operator has written sync: heal, and plan says so", async () => {
    const server = await inheritedPlatform();
    const { run, start, status } = await daemonOn(server, { sync: "heal" });
    const planned = await run(["plan", "--target", "prod"], guarded);
    expect(planned.stdout).toContain("Plan: 1 to create, 1 to update, 4 unchanged");
    expect(planned.stdout).not.toMatch(/NotAdopted|--allow-adopt/);
    await start().shows("stdout", /1 created, 1 updated, 4 unchanged/);
    await eventually("the target is in sync", async () => ((await status())?.sync === "Synced" ? true : null));
  });

  test("is never overwritten by sync: heal where the operator has also written that adopting is refused", async () => {
    const server = await inheritedPlatform();
    const before = server.effects();
    const { start, status } = await daemonOn(server, { sync: "heal" }, { guards: { adopts: "refuse" } });
    await start().shows("stdout", /2 blocked, 4 unchanged/);
    expect(await status()).toMatchObject({ reason: "NotAdopted" });
    expect(server.effects()).toEqual(before);
  });

  test("is carried out by apply of a target with sync: heal, and of nothing else", async () => {
    const server = await inheritedPlatform();
    const healing = await daemonOn(server, { sync: "heal" });
    const reporting = await daemonOn(server, { sync: "report" });
    const apply = ["apply", "--yes", "--target", "prod", "--no-wait"];
    expect(await reporting.run(apply, guarded)).toMatchObject({ code: 5 });
    expect(await healing.run(apply, guarded)).toMatchObject({ code: 0, stdout: expect.stringContaining("1 updated") });
  });
});

describe.each(controlPlaneVariants)("a new platform on a $name control plane", (plane) => {
  test("is written at once", async () => {
    const server = await plane.serve();
    const files = {
      ...foundations,
      "team.yaml": team("ml"),
      "account.yaml": account("ci"),
      "api.yaml": service("api"),
    };
    const source = await sourceOf(files, server);
    const watch = source.start(["watch", "--yes", "--sink", "file"], { ...guarded, HOLDFAST_ALLOW_PRIVILEGE: "true" });
    await watch.shows("stdout", /created +service\/dev:web\/api/);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });
});
