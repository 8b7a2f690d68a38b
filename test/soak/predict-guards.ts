import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { findTarget } from "../../src/commands/targets/find-targets.ts";
import { allowedRisks } from "../../src/commands/targets/pass-rules.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { Diagnostic } from "../../src/core/diagnostic.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import { parseSignedPlan, type SignedPlan } from "../../src/core/plan/signed-plan.ts";
import type { PassResult } from "../../src/core/report/events.ts";
import { type Mode, reconcile } from "../../src/engine/reconcile.ts";
import { planFile } from "../../src/render/pass-report.ts";
import { type Caller, caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { emptyList, faultProxy } from "../support/fault-proxy.ts";
import { randomFrom } from "../support/random.ts";
import { terminalOf } from "../unit/commands/terminal.ts";
import { write } from "../unit/source/source.ts";

const PER_PLATFORM = 20;

/** The flags of a run; each may be given or not. */
type Allowed = { readonly allowAdopt: boolean; readonly allowPrivilege: boolean; readonly allowShrink: boolean };

/** Why a run is refused; null where it is not. */
type Verdict = { readonly message: string; readonly diagnostics: readonly Diagnostic[] } | null;

type Random = ReturnType<typeof randomFrom>;

const pick = <Item>(random: Random, items: readonly [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0];

const chance = (random: Random, share: number): boolean => random() < share;

const subset = (random: Random, items: readonly string[]): readonly string[] => items.filter(() => chance(random, 0.5));

const people = ["ada@example.com", "bob@example.com", "eve@example.com"];

type Manifest = { readonly type: string; readonly name: string; readonly [field: string]: unknown };

/** A manifest of one of the names that live and the source share; what it says is drawn. */
const kinds: readonly [(random: Random) => Manifest, ...((random: Random) => Manifest)[]] = [
  (random) => ({
    ...{ type: "team", name: pick(random, ["red", "blue", "green"]) },
    members: ["root@example.com", ...subset(random, people)],
    ...(chance(random, 0.3) ? { managers: [pick(random, ["ada@example.com", "eve@example.com"])] } : {}),
  }),
  (random) => ({
    ...{ type: "virtual-account", name: pick(random, ["ci", "cd"]) },
    permissions: [
      {
        ...{ resource_type: "workspace", resource_fqn: "dev:web" },
        role_id: pick(random, ["workspace-viewer", "workspace-editor", "workspace-admin"]),
      },
    ],
  }),
  (random) => ({
    ...{ type: "service", name: pick(random, ["api", "web", "job"]), workspace_fqn: "dev:web" },
    image: { type: "image", image_uri: `registry.example.com/api:${pick(random, ["1", "2"])}` },
    ports: [
      { port: 8080 },
      ...(chance(random, 0.3) ? [{ port: 9090, expose: true, host: pick(random, ["a.x.io", "b.x.io"]) }] : []),
    ],
    replicas: pick(random, [0, 1, 2]),
    ...(chance(random, 0.4) ? { env: { KEY: pick(random, ["plain", "secret://holdfast:platform:key"]) } } : {}),
  }),
];

const foundations: readonly Manifest[] = [
  { type: "cluster", name: "dev", cluster_type: "generic", base_domains: ["x.io"] },
  { type: "workspace", name: "web", cluster_fqn: "dev" },
];

const paths: { readonly [type: string]: string } = {
  cluster: "/api/svc/v1/clusters",
  workspace: "/api/svc/v1/workspaces",
  team: "/api/svc/v1/teams",
  "virtual-account": "/api/svc/v1/virtual-accounts",
  service: "/api/svc/v1/apps",
};

const put = ({ put }: Caller, manifest: Manifest) => put(paths[manifest.type] ?? "", { manifest });

async function startPlatform() {
  const plane = await startControlPlane();
  for (const manifest of foundations) await put(plane.admin, manifest);
  const secrets = [{ key: "key", value: "a-value" }];
  await plane.admin.post("/api/svc/v1/secret-groups", { name: "platform", integrationId: "builtin", secrets });
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  const manifest = { type: "virtual-account", name: "others", permissions };
  const { body } = await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest });
  return { ...plane, other: caller(plane.url, new Secret(body.token)) };
}

type Platform = Awaited<ReturnType<typeof startPlatform>>;

/** A source with its state on a platform, and passes over it as separate commands make them. */
async function sourceOn({ adminToken }: Platform, url: string) {
  const [folder, state] = [await temporaryFolder(), await temporaryFolder()];
  const env = { HOLDFAST_TOKEN: adminToken.open(), HOME: folder, XDG_STATE_HOME: state };
  const pass = async (mode: Mode, allowed: Partial<Allowed>): Promise<PassResult> => {
    const { terminal } = terminalOf({ cwd: folder, env });
    const flags = { server: url, state, sink: "file", wait: false, ...allowed } as const;
    await using target = await findTarget({ args: [], flags, terminal }, { reading: mode.is === "plan" });
    return await reconcile(target, mode, { ...terminal, emit: () => undefined });
  };
  return {
    files: new Map<string, string>(),
    set(file: string, text: string) {
      this.files.set(file, text);
      write(folder, { [file]: text });
    },
    remove(file: string) {
      this.files.delete(file);
      rmSync(join(folder, file), { force: true });
    },
    plan: (allowed: Allowed) =>
      pass(
        { is: "plan", showServer: false, showUnmanaged: false, showFingerprints: false, gate: null, signs: true },
        allowed,
      ),
    apply: (allowed: Allowed) => {
      const approve = async () => ({ is: "agreed", allows: allowedRisks(allowed) }) as const;
      return pass({ is: "apply", signed: null, approve }, allowed);
    },
    applySigned: (signed: SignedPlan) =>
      pass({ is: "apply", signed, approve: async () => ({ is: "agreed", allows: signed.allows }) }, {}),
    confirm: () =>
      pass({ is: "apply", signed: null, approve: async () => ({ is: "confirmed" }) }, { allowShrink: true }),
  };
}

type TestSource = Awaited<ReturnType<typeof sourceOn>>;

// Stricter than the defaults, so that every guard has a say, also in a source of few resources.
const strict = JSON.stringify({
  guards: {
    ...{ "scale-to-zero": "refuse", exposure: "refuse", "secret-removed": "refuse", reverts: "refuse" },
    ...{ shrinkFrom: 3, shrinkShare: 0.8 },
  },
});

/** Something happens: to the source, or in live by somebody else or by our own token without a record. */
async function change(random: Random, source: TestSource, { admin, other }: Platform): Promise<void> {
  const manifest = pick(random, kinds)(random);
  const file = `${manifest.type}-${manifest.name}.json`;
  const what = random();
  if (what < 0.4) return source.set(file, JSON.stringify(manifest));
  if (what < 0.6) return source.remove(file);
  if (what < 0.75) return void (await put(other, manifest));
  if (what < 0.85) return void (await put(admin, manifest));
  if (what < 0.93) return source.set("holdfast.yaml", strict);
  source.remove("holdfast.yaml");
}

async function verdictOf(
  pass: Promise<PassResult>,
): Promise<{ readonly verdict: Verdict; readonly end: PassResult | null }> {
  try {
    const end = await pass;
    return { verdict: end.what === "planned" ? end.refusal : null, end };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "refused") throw error;
    return { verdict: { message: error.message, diagnostics: error.diagnostics }, end: null };
  }
}

/** What a verdict says; of a source that lost much an apply says nothing but that. */
function saidIn(verdict: Verdict): unknown {
  if (verdict === null) return null;
  const { message, diagnostics } = verdict;
  if (message.startsWith("guards refuse")) return { message, diagnostics };
  // Where both have lost much, a plan has looked at live, and an apply has not yet.
  return { message: message.replace(/^(?:live shows|the source declares) \d.*/, "too much is missing") };
}

/** The guards of a verdict: the risks of its steps, or what has lost much. */
function reasonsOf(verdict: Verdict): Iterable<string> {
  if (verdict === null) return ["none"];
  const codes = new Set(verdict.diagnostics.map(({ code }) => code));
  if (codes.size > 0) return codes;
  return [verdict.message.startsWith("live shows ") ? "live" : "source"];
}

function signedIn(end: PassResult | null): SignedPlan {
  if (end?.what !== "planned") throw new Error("there is no plan");
  return parseSignedPlan(JSON.parse(planFile(end)));
}

/**
 * Compares, in random situations, what a plan says that guards refuse with what an apply refuses. Returns how often each
 * guard refused; `none` counts the plans that none refused, `source` and `live` those of what had lost much.
 */
export async function predictGuards(seed: number, situations: number): Promise<ReadonlyMap<string, number>> {
  const refusals = new Map<string, number>();
  for (let nth = 0; nth < situations; nth += PER_PLATFORM) {
    const random = randomFrom(seed + nth);
    const platform = await startPlatform();
    const proxy = await faultProxy(platform);
    const source = await sourceOn(platform, proxy.url);
    for (const manifest of foundations) source.set(`${manifest.type}.json`, JSON.stringify(manifest));
    for (let step = 0; step < PER_PLATFORM; step += 1) {
      const times = 1 + Math.floor(random() * 4);
      for (let time = 0; time < times; time += 1) await change(random, source, platform);
      const allowed = {
        allowAdopt: chance(random, 0.4),
        allowPrivilege: chance(random, 0.5),
        allowShrink: chance(random, 0.3),
      };
      // A control plane that shows nothing of what is there; with the default limits that is too little to be refused.
      if (source.files.has("holdfast.yaml") && chance(random, 0.25)) proxy.inject("listTeams", emptyList);
      const planned = await verdictOf(source.plan(allowed));
      const isSigned = planned.verdict === null && chance(random, 0.5);
      const applied = await verdictOf(isSigned ? source.applySigned(signedIn(planned.end)) : source.apply(allowed));
      const where = `seed ${seed}, situation ${nth + step}, ${JSON.stringify(allowed)}`;
      expect(saidIn(planned.verdict), where).toEqual(saidIn(applied.verdict));
      if (planned.end?.what === "planned") {
        const { plan, signature } = planned.end;
        expect([plan.summary.refused > 0, signature === null], where).toEqual(Array(2).fill(planned.verdict !== null));
      }
      proxy.heal();
      for (const why of reasonsOf(planned.verdict)) refusals.set(why, (refusals.get(why) ?? 0) + 1);
      if (applied.verdict !== null && chance(random, 0.5)) await source.confirm();
    }
    await platform.close();
  }
  return refusals;
}
