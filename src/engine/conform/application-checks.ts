import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { MISSING_EXTENSION } from "../../core/missing-extensions.ts";
import { type ApplicationWrites, applicationWrites } from "./application-writes.ts";
import { appliedOf, type Check, needed } from "./check.ts";
import type { ConformContext } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";

const write = { level: "write", part: "semantics", operations: ["putApp", "listDeployments"] } as const;

/** The checks of applications, by writes of one in the named workspace. */
export const applicationChecks: readonly Check[] = [
  {
    ...{ ...write, check: "application", part: "interface" },
    asserts: "a write answers {data: {id, version, applicationId}}, and is the newest deployment right after it",
    without: "it cannot tell whether its write took effect: the outcome is unknown",
    find: async (context) => {
      const { data, listed, manifest } = (await applicationWrites(context)).first;
      const missing = ["id", "applicationId"].filter((field) => typeof data[field] !== "string");
      if (!Number.isSafeInteger(data.version)) missing.push("version");
      if (missing.length > 0) return `the reply has no ${missing.join(", ")}`;
      if (listed?.id !== data.id) return "the newest deployment that is listed is another one";
      const lost = lostIn(manifest, listed?.manifest);
      return lost === null ? null : `live lacks what was written at ${lost}`;
    },
  },
  {
    ...{ ...write, check: "deployment-in-progress" },
    asserts: "a write while a deployment is in progress is refused with 409",
    without: "nothing: it waits where it is refused. A rollout may be cut short by the next write",
    find: async (context) => {
      const { during, wasInProgress } = await writes(context);
      if (during.state === "refused" && during.status === 409) return null;
      if (!wasInProgress) throw new NotCheckableError("the rollout had ended before the second write");
      if (during.state === "refused") return `it is answered ${during.status}`;
      return "it was accepted";
    },
  },
  {
    ...{ ...write, check: "rollout-ends" },
    asserts: "a rollout reaches a status that ends it",
    without: "it waits for each rollout until --wait-timeout, and reports it as timed out",
    find: async (context) => ((await writes(context)).ended === "timeout" ? "it had not ended in time" : null),
  },
  {
    ...{ ...write, check: "identical-deployment" },
    asserts: "an identical write makes a new version all the same",
    without: "redeploy cannot start a failed rollout again",
    find: async (context) => {
      const { first, identical } = await writes(context);
      const again = await identical();
      if (!Number.isSafeInteger(first.data.version))
        throw new NotCheckableError("the reply of the write has no version");
      return Number(again.data.version) > Number(first.data.version) ? null : "it answers the same version";
    },
  },
  {
    ...{ ...write, check: "replaces" },
    asserts: "a write replaces the manifest: what is left out is gone",
    without: "what was taken out of git stays live, and is written again in each pass",
    required: true,
    find: async (context) => {
      const { listed } = await (await writes(context)).replaced();
      const env = isObject(listed?.manifest) ? listed.manifest.env : null;
      return isObject(env) && "CONFORM" in env ? "env, which was left out, is still there" : null;
    },
  },
  {
    ...{ level: "write", part: "extension", check: "extension-E10", operations: ["putLease"] },
    asserts: "PUT /api/svc/v1/leases/{scope}: one holder at a time has a lease, with a fencing token",
    without: "nothing but the lock of the state keeps two writers apart",
    find: leaseFault,
  },
  {
    ...{ level: "write", part: "extension", check: "fencing", operations: ["putLease", "putApp"] },
    asserts: "a write with a fencing token that was never issued is refused with 412",
    without: "a writer whose lease was lost may still write",
    find: async (context) => {
      const scope = context.names.workspace ?? "";
      const { first } = await writes(context);
      const fence = { token: NEVER_ISSUED, scope };
      const sent = await context.writer.send("putApp", { body: { manifest: first.manifest }, fence }, context);
      if (sent.state === "refused") return sent.status === 412 ? null : `it is answered ${sent.status}`;
      appliedOf("putApp", sent);
      return "it is accepted";
    },
  },
];

const NEVER_ISSUED = 2 ** 50;

async function writes(context: ConformContext): Promise<ApplicationWrites> {
  return needed(applicationWrites(context), "the application could not be written");
}

/** The JSON Pointer of a value that was written and is not live as it was written; null if there is none. */
function lostIn(sent: JsonObject, live: Json | undefined, at = ""): string | null {
  for (const [name, value] of Object.entries(sent)) {
    const pointer = `${at}/${name}`;
    const found = isObject(live) ? live[name] : undefined;
    if (Array.isArray(value)) continue;
    const lost = isObject(value) ? lostIn(value, found, pointer) : found === value ? null : pointer;
    if (lost !== null) return lost;
  }
  return null;
}

async function leaseFault(context: ConformContext): Promise<string | null> {
  const { writer, signal, names, unusedName } = context;
  const path = { scope: names.workspace ?? "" };
  const asOf = (holder: string, more: JsonObject = {}) => ({ path, body: { holder, ttlSeconds: 30, ...more } });
  const taken = await writer.send("putLease", asOf(unusedName), { signal });
  if (taken.state === "refused" && taken.reason === "route-missing") return MISSING_EXTENSION;
  if (taken.state === "refused" && taken.status === 409) {
    throw new NotCheckableError("another writer has a lease of the workspace");
  }
  const { data } = appliedOf("putLease", taken);
  try {
    const { fencingToken } = data;
    if (!Number.isSafeInteger(fencingToken)) return "the reply has no fencingToken";
    const other = await writer.send("putLease", asOf(`${unusedName}-other`), { signal });
    return other.state === "refused" && other.status === 409 ? null : "a second holder gets it too";
  } finally {
    await writer.send("putLease", asOf(unusedName, { release: true }), { signal });
  }
}
