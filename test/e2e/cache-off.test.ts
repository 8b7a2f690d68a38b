import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { everyKind, prompt, service, team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

type Situation = {
  readonly is: string;
  readonly change: (source: Source, server: Server) => Promise<unknown>;
};

const apply = async ({ runHere }: Source): Promise<void> => {
  expect(await runHere(["apply", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
};

/** Each changes what the one before it left. */
const situations: readonly Situation[] = [
  { is: "nothing applied", change: async () => undefined },
  { is: "everything applied", change: apply },
  { is: "a changed manifest", change: ({ write }) => write("services/api.yaml", service("api", "replicas: 3\n")) },
  {
    is: "a new manifest and a second document",
    change: ({ write }) => write("more.yaml", `${team("web")}---\n${prompt("bye", "Go.")}`),
  },
  {
    is: "a moved manifest",
    change: async ({ write, remove }) => {
      await remove("account.yaml");
      await write("accounts/ci.yaml", everyKind["account.yaml"] ?? "");
    },
  },
  { is: "a removed manifest", change: ({ remove }) => remove("registry/prompt.yaml") },
  { is: "a faulty manifest", change: ({ write }) => write("team.yaml", "type: team\nname: ml\nmembers: 7\n") },
  {
    is: "the fault mended, and a reference to nothing",
    change: async ({ write }) => {
      await write("team.yaml", team("ml"));
      await write("services/lost.yaml", service("lost").replace("dev:web", "dev:nowhere"));
    },
  },
  {
    is: "applied again",
    change: async (source) => {
      await source.remove("services/lost.yaml");
      await apply(source);
    },
  },
  {
    is: "live moved by somebody else",
    change: (_, { call }) =>
      call("PUT", "/api/svc/v1/apps", {
        manifest: {
          type: "service",
          name: "api",
          workspace_fqn: "dev:web",
          image: { type: "image", image_uri: "registry.example.com/api:1.0.0" },
          ports: [{ port: 8080 }],
          replicas: 5,
        },
      }),
  },
];

const whole = ["plan", "-o", "json", "--show", "unchanged", "--partial"];
const others = [["plan"], ["plan", "--kind", "service", "-o", "json"], ["drift", "-o", "json"]];

describe.each(controlPlaneVariants)("without its cache, on a $name control plane", (plane) => {
  test("holdfast answers byte for byte what it answers with one", { timeout: 300_000 }, async () => {
    const server = await plane.serve();
    const source = await sourceOf(everyKind, server);
    for (const [index, { is, change }] of situations.entries()) {
      await change(source, server);
      const answer = async (args: readonly string[], env = { HOLDFAST_CACHE: "on" }) => {
        const situation = `${args.join(" ")} with ${is}`;
        return { situation, ...(await source.runHere(args, env)) };
      };
      const off = { HOLDFAST_CACHE: "off" };
      const uncached = await answer(whole, off);
      expect(await answer(whole)).toEqual(uncached);
      // The second run answers from the cache that the first one filled.
      expect(await answer(whole)).toEqual(uncached);
      const other = others[index % others.length] ?? whole;
      expect(await answer(other)).toEqual(await answer(other, off));
    }
    expect(await readdir(join(source.folder, ".holdfast/cache"))).toHaveLength(2);
  });
});

test("HOLDFAST_CACHE=off leaves no cache behind, and what it cannot mean is refused", async () => {
  const source = await sourceOf(everyKind, await serve());
  const off = { HOLDFAST_CACHE: "off" };
  expect(await source.run(["apply", "--yes", "--no-wait"], off)).toMatchObject({ code: 0 });
  expect(await source.run(["plan"], off)).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
  const files = await readdir(join(source.folder, ".holdfast/cache")).catch(() => []);
  expect(files).toEqual([]);
  const wrong = await source.run(["plan"], { HOLDFAST_CACHE: "no" });
  expect(wrong).toMatchObject({ code: 3, stdout: "" });
  expect(wrong.stderr).toContain('error: HOLDFAST_CACHE is "no"\n  → set it to off or on');
});
