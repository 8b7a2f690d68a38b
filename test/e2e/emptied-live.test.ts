import { describe, expect, test } from "vitest";
import type { OperationName } from "../../src/contract/operations.ts";
import { emptyList, faultProxy, htmlPage, listWithout } from "../support/fault-proxy.ts";
import { planOf } from "../support/json-output.ts";
import { account, everyKind, type Files, foundations, model, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const faulty = { once: "the proxy answers one request otherwise, and counts them" };

const TWELVE = Array.from({ length: 12 }, (_, nth) => `n${nth + 1}`);

const files = (folder: string, make: (name: string) => string): Files => ({
  ...foundations,
  ...Object.fromEntries(TWELVE.map((name) => [`${folder}/${name}.yaml`, make(name)])),
});

const services = files("services", (name) => service(name));

/** An applied source, with a proxy before its control plane. */
async function applied(source: Files, flags: readonly string[] = []) {
  const server = await serveProcess(flags);
  const proxy = await faultProxy(server);
  const one = await sourceOf(source, proxy.server);
  expect(await one.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const before = server.effects();
  proxy.asked.splice(0);
  return { server, proxy, source: one, before };
}

const lists: readonly (readonly [OperationName, Files])[] = [
  ["listApps", services],
  ["listTeams", files("teams", (name) => team(name))],
  ["listVirtualAccounts", files("accounts", account)],
  ["listPromptVersions", files("prompts", (name) => prompt(name, "Be kind."))],
  ["listModelVersions", files("models", (name) => model(name))],
];

describe("a list that is empty once", () => {
  test.each(lists)("F79 has nothing made anew: %s", async (operation, source) => {
    const { server, proxy, source: one, before } = await applied(source);
    for (const command of [["plan", "--detailed-exitcode"], ["drift"], ["apply", "--yes"]]) {
      const { hits } = proxy.inject(operation, emptyList, { times: 1 });
      expect(await one.runHere(command, {}, faulty)).toMatchObject({ code: 0 });
      expect(hits()).toBe(1);
    }
    expect(server.effects()).toEqual(before);
    // One more look at the list, and none at each resource.
    const pattern = /^\/api\/\w+\/v1\/(?:apps|teams|virtual-accounts|prompt-versions|model-versions)\?/;
    const looks = proxy.asked.filter(({ method, path }) => method === "GET" && pattern.test(path));
    expect(looks).toHaveLength(2 * 3);
  });

  test("F79 forgets no orphan", async () => {
    const { proxy, source } = await applied({ ...everyKind });
    await source.remove("team.yaml");
    proxy.inject("listTeams", emptyList, { times: 1 });
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    expect(planOf(await source.runHere(["plan", "-o", "json"])).summary.orphan).toBe(1);
  });
});

describe("a list that stays empty", () => {
  test("F79 has services found by their ids", async () => {
    const { server, proxy, source, before } = await applied(services);
    proxy.inject("listApps", emptyList);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 15 unchanged\n"),
    });
    expect(server.effects()).toEqual(before);
  });

  test("F79 stops every command with 5, and --allow-shrink says that it is meant", async () => {
    const { server, proxy, source, before } = await applied(files("teams", (name) => team(name)));
    proxy.inject("listTeams", emptyList);
    for (const command of [["plan", "--out", "plan.json"], ["drift"], ["apply", "--yes"]]) {
      const ended = await source.runHere(command);
      expect(ended).toMatchObject({ code: 5, stdout: "" });
      expect(ended.stderr).toContain(
        "error: live shows 3 of the 15 resources that the ledger knows and that can be read (at least 70 % expected)\n" +
          "  → nothing is written until live is complete again; if it was emptied or restored on purpose, run plan, apply or watch with --allow-shrink\n",
      );
    }
    expect(server.effects()).toEqual(before);
    const { summary } = planOf(await source.runHere(["plan", "-o", "json", "--allow-shrink"]));
    expect(summary).toMatchObject({ create: 12, keep: 3 });
  });

  test("F79 holds for one kind among many", async () => {
    const many = { ...services, ...files("teams", (name) => team(name)), ...files("accounts", account) };
    const { proxy, source } = await applied({ ...many, ...files("prompts", (name) => prompt(name, "Be kind.")) });
    proxy.inject("listTeams", emptyList);
    expect(await source.runHere(["plan"])).toMatchObject({ code: 5 });
  });

  test("F79 stalls a daemon, which says so once and goes on once live is whole again", async () => {
    const { server, proxy, source, before } = await applied(files("teams", (name) => team(name)));
    const { hits } = proxy.inject("listTeams", emptyList);
    const watch = source.start(["watch", "--interval", "0.2", "--sink", "file"]);
    await watch.shows("stderr", /^error: live shows 3 of the 15 resources/m);
    await expect.poll(hits, { timeout: 60_000 }).toBeGreaterThan(6);
    expect(watch.stderr().match(/live shows/g)).toHaveLength(1);
    proxy.heal();
    await source.write("teams/n1.yaml", team("n1", "grace@example.com"));
    await watch.shows("stdout", /updated {3}team\/n1/);
    expect(server.effects()).toHaveLength(before.length + 1);
  });
});

describe("what is really gone", () => {
  test("F79 is made again, since a second look says so too", async () => {
    const { proxy, source } = await applied(files("teams", (name) => team(name)));
    proxy.inject("listTeams", listWithout('"n7"'));
    const { steps, complete } = planOf(await source.runHere(["plan", "-o", "json"], {}, faulty));
    expect(complete).toBe(true);
    expect(steps).toMatchObject([{ identity: "team/n7", action: "create" }]);
    expect(proxy.asked.filter(({ path }) => path.startsWith("/api/svc/v1/teams?"))).toHaveLength(2);
    proxy.heal();
    proxy.inject("listTeams", listWithout('"n7"'), { times: 1 });
    expect(planOf(await source.runHere(["plan", "-o", "json"], {}, faulty)).steps).toEqual([]);
  });

  test("F79 is not decided about where the second look fails", async () => {
    const { proxy, source } = await applied(files("teams", (name) => team(name)));
    proxy.inject("listTeams", htmlPage(404));
    proxy.inject("listTeams", listWithout('"n7"'), { times: 1 });
    const ended = await source.runHere(["plan", "-o", "json"], {}, faulty);
    expect(ended.code).toBe(1);
    const { complete, summary } = planOf(ended);
    expect([complete, summary.create, summary.block, summary.keep]).toEqual([false, 0, 1, 14]);
  });

  test.each([[[]], [["--documented-only"]]])(
    "F79 with a control plane that was emptied is made again only with --allow-shrink (%j)",
    async (flags) => {
      const seeded = flags.length === 0 ? flags : [...flags, "--seed", (await sourceOf(foundations)).folder];
      const { server, source } = await applied(services, seeded);
      server.process.kill("SIGTERM");
      await server.process.ended;
      const emptied: Server = await serve([...seeded, "--port", new URL(server.url).port]);
      const as = { HOLDFAST_TOKEN: emptied.token };
      const before = emptied.effects();
      for (const command of [["plan"], ["drift"], ["apply", "--yes"]]) {
        expect(await source.runHere(command, as)).toMatchObject({ code: 5, stdout: "" });
      }
      expect(emptied.effects()).toEqual(before);
      expect(await source.runHere(["apply", "--yes", "--allow-shrink"], as)).toMatchObject({ code: 0 });
      expect(await source.runHere(["apply", "--yes"], as)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("\nApplied: 15 unchanged\n"),
      });
    },
  );
});
