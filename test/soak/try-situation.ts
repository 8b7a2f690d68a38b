import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../src/contract/json.ts";
import type { Plan, Step } from "../../src/core/plan/plan.ts";
import type { Outcome } from "../../src/core/report/report.ts";
import { effects, startControlPlane } from "../control-plane.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Ended, run as runApart } from "../support/process.ts";
import { runHere } from "../support/run-here.ts";
import type { Declared, Situation, SituationCaller } from "./situation.ts";

/** A control plane that several situations share; each has resources of its own. */
export type SituationPlane = {
  readonly name: "full" | "documented-only";
  readonly url: string;
  readonly adminToken: string;
  readonly data: string;
  readonly put: (
    manifest: JsonObject,
  ) => Promise<{ readonly status: number; readonly body: JsonObject & { readonly token?: string } }>;
};

const routes: { readonly [type: string]: string } = {
  cluster: "/api/svc/v1/clusters",
  workspace: "/api/svc/v1/workspaces",
  team: "/api/svc/v1/teams",
  "virtual-account": "/api/svc/v1/virtual-accounts",
  "ml-repo": "/api/ml/v1/ml-repos",
  chat_prompt: "/api/ml/v1/prompt-versions",
  "model-version": "/api/ml/v1/model-versions",
};

/** Starts a control plane with the secret that manifests refer to; one without extensions has the workspaces of these situations. */
export async function situationPlane(name: SituationPlane["name"], seeds: readonly number[]): Promise<SituationPlane> {
  const seed = await temporaryFolder();
  const found = seeds.flatMap((one) => [
    { type: "cluster", name: `s${one}`, cluster_type: "generic", base_domains: [`s${one}.example.com`] },
    { type: "workspace", name: "web", cluster_fqn: `s${one}` },
    { type: "ml-repo", name: `s${one}`, description: "one" },
  ]);
  await mkdir(seed, { recursive: true });
  for (const [nth, manifest] of found.entries()) await writeFile(join(seed, `${nth}.json`), JSON.stringify(manifest));
  const documentedOnly = name === "documented-only";
  const plane = await startControlPlane({ documentedOnly, ...(documentedOnly ? { seed } : {}) });
  await plane.admin.post("/api/svc/v1/secret-groups", {
    name: "shared",
    integrationId: "builtin",
    secrets: [{ key: "key", value: "v" }],
  });
  return {
    name,
    url: plane.url,
    adminToken: plane.adminToken.open(),
    data: plane.data,
    put: (manifest) => plane.admin.put(routes[String(manifest.type)] ?? "/api/svc/v1/apps", { manifest }),
  };
}

/** How a situation ended, and what of it did not go as the plan said. */
export type Tried = {
  readonly end: "invalid" | "planned" | "incomplete" | "refused" | "applied";
  readonly faults: readonly string[];
  /** What became of each step that apply came to. */
  readonly results: readonly Outcome["result"][];
};

/** What of a situation did not go as the plan said; nothing where everything did. */
export async function trySituation(
  plane: SituationPlane,
  situation: Situation,
  { apart = false } = {},
): Promise<Tried> {
  const folder = await temporaryFolder();
  const admin = { HOLDFAST_SERVER: plane.url, HOLDFAST_TOKEN: plane.adminToken, HOLDFAST_RETRY_WAIT: "5" };
  const allowed = { HOLDFAST_ALLOW_ADOPT: "true", HOLDFAST_ALLOW_PRIVILEGE: "true" };
  const command = apart ? runApart : runHere;
  const run = (args: readonly string[], env: { readonly [name: string]: string }): Promise<Ended> =>
    command(args, { cwd: folder, env });
  await lay(folder, {}, situation.before.declared);
  if (situation.before.by !== "nobody" && Object.keys(situation.before.declared).length > 0) {
    const state = situation.before.by === "us" ? [] : ["--state", await temporaryFolder()];
    await runHere(["apply", "--yes", "--no-wait", "--partial", ...state], {
      cwd: folder,
      env: { ...admin, ...allowed },
    });
  }
  for (const manifest of Object.values(situation.drift)) await plane.put(manifest);
  await lay(folder, situation.before.declared, situation.declared);
  const env = {
    ...admin,
    HOLDFAST_TOKEN: await tokenOf(situation.caller, situation, plane),
    ...(situation.isAllowed ? allowed : {}),
  };
  const out = join(await temporaryFolder(), "plan.json");
  const earlier = await effects(plane.data);
  const planned = await run(["plan", "--show", "unchanged", "-o", "json", "--out", out], env);
  const atPlan = await effects(plane.data);
  const wroteAtPlan = atPlan.slice(earlier.length).map((effect) => `plan wrote ${effect}`);
  if (wroteAtPlan.length > 0) return { end: "planned", faults: wroteAtPlan, results: [] };
  // A manifest that is invalid where it is read, or a version that leaps.
  if (planned.code === 3) return { end: "invalid", faults: [], results: [] };
  if (planned.code !== 0) {
    return { end: "planned", faults: [`plan ended with ${planned.code}: ${planned.stderr}`], results: [] };
  }
  const plan: Plan = JSON.parse(planned.stdout);
  await happen(situation, folder, plane);
  const before = await effects(plane.data);
  const applying = situation.isSealed ? ["--plan", out] : ["--yes"];
  const applied = await run(["apply", "--no-wait", "-o", "json", ...applying], env);
  const wrote = writesIn((await effects(plane.data)).slice(before.length));
  return judge({ situation, plan, applied, wrote, again: () => run(["plan", "-o", "json"], env) });
}

async function lay(folder: string, old: Declared, declared: Declared): Promise<void> {
  for (const file of Object.keys(old)) await rm(join(folder, file), { force: true });
  await writeFile(join(folder, "holdfast.yaml"), 'external: ["**"]\n');
  for (const [file, manifest] of Object.entries(declared))
    await writeFile(join(folder, file), JSON.stringify(manifest));
}

async function happen({ between, changed }: Situation, folder: string, plane: SituationPlane): Promise<void> {
  if (between.is === "nothing" || changed === null) return;
  if (between.is === "live") await plane.put(changed);
  else await writeFile(join(folder, between.file), JSON.stringify(changed));
}

async function tokenOf(caller: SituationCaller, { seed }: Situation, plane: SituationPlane): Promise<string> {
  if (caller === "admin") return plane.adminToken;
  const type = caller.replace(/-[a-z]+$/, "");
  const resource_fqn = type === "workspace" ? `s${seed}:web` : `s${seed}`;
  const permissions = [{ resource_type: type, resource_fqn, role_id: caller }];
  const { body } = await plane.put({ type: "virtual-account", name: `s${seed}-caller`, permissions });
  return body.token ?? plane.adminToken;
}

/** The resources of effects, without the leases. */
function writesIn(all: readonly string[]): readonly string[] {
  return all
    .map((effect) => effect.split(" "))
    .filter(([, operation]) => operation !== "E10")
    .map(([, , resource = ""]) => resource.replace(/@\d+$/, ""));
}

type Judging = {
  readonly situation: Situation;
  readonly plan: Plan;
  readonly applied: Ended;
  readonly wrote: readonly string[];
  readonly again: () => Promise<Ended>;
};

const results: { readonly [action in Step["action"]]: readonly Outcome["result"][] } = {
  create: ["created"],
  update: ["updated"],
  keep: ["unchanged"],
  block: ["blocked"],
  ensure: ["updated", "created", "unchanged"],
  orphan: [],
};

async function judge({ situation, plan, applied, wrote, again }: Judging): Promise<Tried> {
  const risks = plan.steps.flatMap((step) => step.risks);
  const isGuarded = !situation.isAllowed && risks.some((risk) => risk === "adopts" || risk === "privilege-growth");
  if (!plan.complete) {
    const isRefused = applied.code === 6 || !situation.isSealed;
    return {
      end: "incomplete",
      faults: isRefused ? [] : [`an incomplete plan was applied: ${applied.code}`],
      results: [],
    };
  }
  if (applied.code === 6 || applied.code === 5) {
    const isExpected = applied.code === 5 ? isGuarded : situation.between.is !== "nothing";
    const faults = [
      ...(isExpected ? [] : [`apply ended with ${applied.code} for no reason: ${applied.stderr}${applied.stdout}`]),
      ...(wrote.length === 0 ? [] : [`apply was refused, and wrote ${wrote.join(", ")}`]),
    ];
    return { end: "refused", faults, results: [] };
  }
  const failed = (fault: string): Tried => ({ end: "applied", faults: [fault], results: [] });
  if (isGuarded) return failed(`apply did not refuse ${risks.join(", ")}: ${applied.code}`);
  if (![0, 1, 4, 7].includes(applied.code ?? -1)) return failed(`apply ended with ${applied.code}: ${applied.stderr}`);
  const { outcomes }: { readonly outcomes?: readonly Outcome[] } = JSON.parse(applied.stdout);
  if (outcomes === undefined) return failed(`apply ended with ${applied.code}: ${applied.stderr}${applied.stdout}`);
  const byIdentity = new Map(outcomes.map((outcome) => [outcome.identity, outcome]));
  // What a plan did not check may fail, and what refers to that is left then.
  const faults = plan.steps.flatMap((step) => faultOf(step, byIdentity.get(step.identity), plan, byIdentity));
  const made = outcomes.filter(({ result }) => result === "created" || result === "updated").map(bare);
  // Where live cannot be read, a write of what is there already has no effect.
  const ensured = plan.steps.filter(({ action }) => action === "ensure").map(bare);
  const unexpected = [
    ...wrote.filter((one) => !made.includes(one)),
    ...made.filter((one) => !wrote.includes(one) && !ensured.includes(one)),
  ];
  const twice = wrote.filter((one, nth) => wrote.indexOf(one) !== nth);
  const fresh = await again();
  const left = fresh.code === 0 ? (JSON.parse(fresh.stdout) as Plan).steps.filter(isLeft(byIdentity)) : [];
  return {
    end: "applied",
    results: outcomes.map(({ result }) => result),
    faults: [
      ...faults,
      ...unexpected.map((one) => `${one} was written and not reported, or reported and not written`),
      ...twice.map((one) => `${one} was written twice`),
      ...(fresh.code === 0 ? [] : [`the next plan ended with ${fresh.code}: ${fresh.stderr}`]),
      ...left.map(
        ({ action, identity, changes }) =>
          `the next plan has ${action} ${identity} ${changes.map(({ path }) => path).join(" ")}`,
      ),
    ],
  };
}

function bare({ identity }: Pick<Outcome, "identity">): string {
  return identity.replace(/@\d+$/, "");
}

function faultOf(
  { action, identity, notChecked, reason }: Step,
  outcome: Outcome | undefined,
  plan: Plan,
  outcomes: ReadonlyMap<string, Outcome>,
): readonly string[] {
  if (action === "orphan") return [];
  if (outcome === undefined) return [`${identity}: no outcome`];
  if (results[action].includes(outcome.result)) return [];
  const isTold =
    notChecked?.reason === "needs-write" ||
    notChecked?.reason === "unsupported" ||
    notChecked?.reason === "unproven" ||
    action === "ensure";
  const isRefused = outcome.error?.status === 403 || outcome.error?.status === 422;
  if (isTold && outcome.result === "failed" && isRefused) return [];
  const failed = [...outcomes.values()].filter(({ result }) => result === "failed");
  if ((outcome.result === "blocked" || outcome.result === "skipped") && failed.length > 0) return [];
  const said = JSON.stringify({ plan: { action, reason, notChecked }, outcome });
  return [`${identity}: ${said} (of ${plan.steps.length})`];
}

function isLeft(outcomes: ReadonlyMap<string, Outcome>): (step: Step) => boolean {
  return ({ action, identity }) => {
    const result = outcomes.get(identity)?.result;
    return (
      (action === "create" || action === "update") &&
      result !== "failed" &&
      result !== "blocked" &&
      result !== "skipped"
    );
  };
}
