import { ClientError } from "../../client/client-error.ts";
import { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Clock } from "../../clock/clock.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { type DryRunOperation, isDocumented, operation } from "../../contract/operations.ts";
import { noFacts } from "../../core/server-facts.ts";
import { kindOf } from "../../kinds/index.ts";
import { createDryRun } from "../observe/dry-run.ts";
import { type Check, needed, unlessRefused } from "./check.ts";
import type { ConformContext } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { oncePerContext } from "./once-per-context.ts";

const NOT_READ = "live cannot be read";

const dry = { level: "dry-run", part: "semantics" } as const;

/**
 * The checks of dry runs. The first sends what an application has already: where the control plane ignores `dryRun`, the new
 * version equals the newest one. No other dry run is sent before that one has shown that nothing is written.
 */
export const dryRunChecks: readonly Check[] = [
  {
    ...{ ...dry, check: "dry-run", operations: ["putApp", "listDeployments"] },
    asserts: "a dry run of an application writes nothing: its deployments stay as they were",
    without: "plan and drift end with exit code 1, since a dry run would deploy",
    required: true,
    find: async (context) => {
      const { before, after, proof, reply } = await proven(context);
      if (proof === "ignored" || newestId(before) !== newestId(after)) return "the dry run made a deployment";
      return reply === null ? "the dry run of an unchanged application has no documented reply" : null;
    },
  },
  {
    ...{ ...dry, check: "dry-run-reply", operations: ["putApp"] },
    asserts: "it answers the version that it would be, and the id of the application",
    without: "it does not find applications that no list shows, and plans less",
    find: async (context) => {
      const { before, reply } = await safely(context);
      const newest = before[0]?.version;
      if (typeof newest !== "number") throw new NotCheckableError("the newest deployment has no version");
      if (reply?.applicationId !== (await context.applicationId())) return "applicationId is another one, or missing";
      if (typeof reply.version !== "number") return "the reply has no version";
      return reply.version === newest + 1 ? null : `version is ${reply.version} instead of ${newest + 1}`;
    },
  },
  {
    ...{ ...dry, check: "dry-run-refuses", operations: ["putApp"] },
    asserts: "a dry run of what a write would refuse is refused, with 422 for a workspace that does not exist",
    without: "plans do not tell what the control plane will refuse",
    find: async (context) => {
      const { manifest } = await safely(context);
      const absent = { ...manifest, workspace_fqn: `${context.unusedName.slice(0, 30)}:absent` };
      return unlessRefused(context.reader.dryRun("putApp", { manifest: absent }, context), 422);
    },
  },
  {
    ...{ ...dry, check: "unknown-field", operations: ["putApp"] },
    asserts: "a field that the kind does not have is refused with 422",
    without: "a misspelt field is lost without a word, unless Holdfast's own schemas refuse it",
    find: async (context) => {
      const { manifest } = await safely(context);
      const odd = { ...manifest, holdfast_conform: "1" };
      return unlessRefused(context.reader.dryRun("putApp", { manifest: odd }, context), 422);
    },
  },
  unchanged("dry-run-cluster", "putCluster", "clusters", async ({ reader, clusterId, signal }) => {
    const asked = reader.get("getCluster", { path: { id: await clusterId() } }, { signal });
    return (await needed(asked, NOT_READ)) as unknown as JsonObject;
  }),
  unchanged("dry-run-account", "putVirtualAccount", "virtual accounts", firstOf("listVirtualAccounts")),
  unchanged("dry-run-team", "putTeam", "teams", firstOf("listTeams")),
  unchanged("dry-run-workspace", "putWorkspace", "workspaces", firstOf("listWorkspaces")),
  unchanged("dry-run-ml-repo", "putMlRepo", "ml repos", firstOf("listMlRepos")),
];

type Proof = {
  readonly manifest: JsonObject;
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
  readonly proof: ServerCapabilities["dryRun"];
  readonly reply: JsonObject | null;
};

// An application is dry-run as it is, once.
const proven = oncePerContext(prove);

async function prove(context: ConformContext): Promise<Proof> {
  const { reader, page, applicationId, signal, clock } = context;
  const path = { id: await applicationId() };
  const newest = async (): Promise<readonly JsonObject[]> =>
    (await needed(page("listDeployments", { path, limit: 1 }), "the deployments cannot be read")).rows;
  const before = await newest();
  const manifest = before[0]?.manifest;
  const kind = isObject(manifest) ? kindOf(text(manifest.type) ?? "") : undefined;
  if (!isObject(manifest) || kind?.rollsOut !== true) {
    throw new NotCheckableError("the application has no deployment of a kind that this release manages");
  }
  const capabilities = unknownCapabilities(clock);
  const declared = { kind: kind.type, identity: `${kind.type}/${kind.key(manifest)}`, value: manifest };
  const one = { ...declared, file: "", line: 1, references: [] };
  const dryRun = createDryRun({ reader, capabilities }, 1);
  const { state, ...result } = await dryRun(kind, one, { signal }).catch((error: unknown) => {
    if (capabilities.dryRun === "ignored") return { state: "impossible" as const };
    throw error;
  });
  if (state === "forbidden") throw new NotCheckableError("this token may not write the application");
  if (state === "refused") throw new NotCheckableError("the control plane refuses the application as it is");
  const reply = "reply" in result && isObject(result.reply) ? result.reply : null;
  return { manifest, before, after: await newest(), proof: capabilities.dryRun, reply };
}

// What earlier runs have learned proves nothing here.
function unknownCapabilities(clock: Clock): ServerCapabilities {
  return new ServerCapabilities(noFacts, { clock });
}

/** The proof; without it no further dry run is sent. */
async function safely(context: ConformContext): Promise<Proof> {
  try {
    const proof = await proven(context);
    if (proof.proof === "proven" && newestId(proof.before) === newestId(proof.after)) return proof;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
  }
  throw new NotCheckableError("it is not shown that dry runs write nothing, so no further one is sent");
}

function newestId([newest]: readonly JsonObject[]): string | undefined {
  return text(newest?.id);
}

/** The check that a dry run of a resource as it is answers the resource, and leaves it as it was. */
function unchanged(
  check: string,
  name: DryRunOperation,
  what: string,
  find: (context: ConformContext) => Promise<JsonObject>,
): Check {
  return {
    ...{ ...dry, check, operations: [name] },
    asserts: "a dry run of what is live answers it with its id, and leaves updatedAt as it was",
    without: `plans do not check ${what} before they are written`,
    required: true,
    find: async (context) => {
      await safely(context);
      const live = await find(context);
      const { manifest } = live;
      if (!isObject(manifest) || text(live.id) === undefined)
        throw new NotCheckableError("what is live has no manifest, or no id");
      const asked = context.reader.dryRun(name, { manifest }, context);
      // Whether an extension is there is for its own check.
      const reply = await (isDocumented(operation(name)) ? asked : needed(asked, "it cannot be dry-run"));
      if (reply.id !== live.id) return `it answers ${text(reply.id) ?? "no id"} instead of ${text(live.id)}`;
      const after = await find(context);
      return timeOf(after) === timeOf(live) ? null : "the dry run has changed when it was updated";
    },
  };
}

function firstOf(name: "listVirtualAccounts" | "listTeams" | "listWorkspaces" | "listMlRepos") {
  return async ({ page }: ConformContext): Promise<JsonObject> => {
    const [row] = (await needed(page(name, { limit: 1 }), NOT_READ)).rows;
    if (row === undefined) throw new NotCheckableError("there is none that this token sees");
    return row;
  };
}

function timeOf({ updatedAt, updated_at }: JsonObject): string | undefined {
  return text(updatedAt) ?? text(updated_at);
}
