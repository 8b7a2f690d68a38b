import { expect, test } from "vitest";
import { foreignService } from "../support/foreign-service.ts";
import { commitAll } from "../support/git.ts";
import { foundations, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import { onTerminal } from "../support/pty.ts";
import { screenOf } from "../support/screen.ts";
import { serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";

const BLOCK = /Applying .*\d of \d/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours begin with
const COLOUR = /\u001b\[3\dm/;

test("an apply on a terminal leaves its outcomes once, and nothing of the block that was redrawn", async () => {
  const server = await serve([], { rolloutSeconds: 0.4 });
  const broken = service("broken", "env:\n  KEY: secret://holdfast:platform:absent-key\n");
  const source = await sourceOf({ ...foundations, "api.yaml": service("api"), "broken.yaml": broken }, server);
  const apply = (columns: number, env: { readonly [name: string]: string } = {}): Promise<Ended> =>
    source.runThrough(onTerminal(columns), ["apply", "--yes"], { TERM: "xterm-256color", ...env });

  const first = await apply(80);
  expect(first.code).toBe(7);
  expect(first.stdout).toMatch(BLOCK);
  expect(first.stdout).toMatch(COLOUR);
  const lines = await screenOf(first.stdout, 80);
  expect(lines[0]).toMatch(/^Applying to http:/);
  expect(lines.slice(1, 5).toSorted()).toEqual([
    "  created   cluster/dev  cluster_type generic",
    "  created   ml-repo/registry",
    "  created   service/dev:web/api  rollout succeeded  image registry.example.com/…",
    "  created   workspace/dev:web",
  ]);
  expect(lines.slice(5)).toEqual([
    "  blocked   service/dev:web/broken",
    "            at broken.yaml:10:8",
    "            /env/KEY: the secret holdfast:platform:absent-key does not exist",
    "            [refused]",
    "            → fix that, then run apply again",
    "",
    "Incomplete: 4 created, 1 blocked",
  ]);

  await source.remove("broken.yaml");
  const variants = [
    { columns: 80, env: { NO_COLOR: "1" }, block: true },
    { columns: 80, env: { TERM: "dumb" }, block: false },
    { columns: 40, env: {}, block: true },
  ] as const;
  for (const [index, { columns, env, block }] of variants.entries()) {
    await source.write("api.yaml", service("api", `replicas: ${index + 2}\n`));
    const { stdout, code } = await apply(columns, env);
    const shown = {
      code,
      block: BLOCK.test(stdout),
      colour: COLOUR.test(stdout),
      lines: await screenOf(stdout, columns),
    };
    const change = `replicas ${index + 1} → ${index + 2}`;
    const outcome = "  updated   service/dev:web/api";
    const rollout = "rollout succeeded";
    expect([env, shown]).toEqual([
      env,
      {
        code: 0,
        block,
        colour: columns === 40,
        lines: [
          `Applying to ${server.url}`,
          ...(columns === 40
            ? [outcome, `            ${rollout}`, `            ${change}`]
            : [`${outcome}  ${rollout}  ${change}`]),
          "",
          "Applied: 1 updated, 3 unchanged",
        ],
      },
    ]);
  }
});

test("S60 a person who confirms the plan at a terminal overrules a guard, and one who does not writes nothing", async () => {
  const server = await serve(["--seed", (await sourceOf(foundations)).folder]);
  const source = await sourceOf({ ...foundations, "api.yaml": service("api") }, server);
  await foreignService(server);
  const commit = await commitAll(source.folder, "Declare a service");
  const before = server.effects().length;
  const apply = (answer: string): Promise<Ended> =>
    source.runThrough(onTerminal(80, answer), ["apply"], { ...guarded, NO_COLOR: "1" });
  const declined = await apply("n\\n");
  expect(declined.stdout).toMatch(/danger +adopts[\s\S]*Apply this plan\? \[y\/N\][\s\S]*nothing was written/);
  // Whoever is asked reads first what would be written where.
  const asked = declined.stdout.slice(0, declined.stdout.indexOf("Apply this plan?")).replaceAll(/\s+/g, " ");
  expect(asked).toContain(`Plan for ${server.url}, commit ${commit.slice(0, 12)}`);
  expect([declined.code, server.effects().length]).toEqual([0, before]);
  const confirmed = await apply("y\\n");
  expect(confirmed.stdout).toMatch(/updated {3}service\/dev:web\/api/);
  expect([confirmed.code, server.effects().length]).toEqual([0, before + 1]);
});
