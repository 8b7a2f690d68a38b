import { ClientError } from "../../client/client-error.ts";
import {
  type GetOperation,
  isDocumented,
  isListOperation,
  type ListOperation,
  type OperationName,
  operation,
  operations,
  type WriteOperation,
} from "../../contract/operations.ts";
import { MISSING_EXTENSION } from "../../core/missing-extensions.ts";
import { type Check, refusalOf, requireTelling } from "./check.ts";
import { NotCheckableError } from "./not-checkable-error.ts";

// One number stands for two operations there.
const SUFFIX: { readonly [name in OperationName]?: string } = { listOwnTeams: "-own", putUser: "-put" };

const WITHOUT: { readonly [name in OperationName]?: string } = {
  listOwnTeams: "nothing: it reads roles by E14",
  listJobRuns: "the runs of a job are known by name alone",
  listPersonalAccessTokens: "holdfast token list ends with exit code 1",
  revokePersonalAccessToken: "holdfast token revoke ends with exit code 1",
  getDigest: "every full pass reads whole lists",
  listAudit: "holdfast audit ends with exit code 1",
  disableSubject: "holdfast disable ends with exit code 1",
  listUsers: "holdfast user list ends with exit code 1",
  putUser: "holdfast user add and remove end with exit code 1",
  putRolloutFailures: "nothing: it rehearses failed rollouts",
  reissueVirtualAccount: "holdfast token reissue ends with exit code 1",
};

/** The writes for which a request without a manifest shows the route; the others have no request without effect. */
const PROBED: readonly OperationName[] = ["putWorkspace", "putModelVersion", "putMlRepo", "putSecretGroup"];

/** The checks of the extensions: whether a control plane has their routes. They are made from the table of operations. */
export const extensionChecks: readonly Check[] = (Object.keys(operations) as OperationName[])
  .filter((name) => !isDocumented(operation(name)) && name !== "putLease")
  .map(extensionCheck);

function extensionCheck(name: OperationName): Check {
  const { method, number, path, summary, without = WITHOUT[name] } = operation(name);
  const isRead = method === "GET";
  return {
    check: `extension-${number}${SUFFIX[name] ?? ""}`,
    part: "extension",
    level: isRead ? "read" : "dry-run",
    operations: [name],
    asserts: `${method} ${path}: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}`,
    without: without ?? "the command that needs it ends with exit code 1",
    find: isRead ? readFault(name) : writeFault(name),
  };
}

function readFault(name: OperationName): Check["find"] {
  return async (context) => {
    // A list of the runs of a job that does not exist is answered 404, which may also mean that there is no such list.
    const path = name === "listJobRuns" ? { jobId: await context.applicationId() } : {};
    const request = isListOperation(name)
      ? context.page(name satisfies ListOperation, { path, limit: 1 })
      : context.reader.get(name as GetOperation, { path }, { signal: context.signal });
    const refusal = await refusalOf(request);
    if (refusal === null || refusal.reason === "not-found" || refusal.reason === "refused") return null;
    if (refusal.reason === "route-missing") return MISSING_EXTENSION;
    await requireTelling(refusal, context);
    requireTold(refusal);
    throw refusal;
  };
}

function writeFault(name: OperationName): Check["find"] {
  return async ({ probeRoute, capabilities, signal }) => {
    if (!PROBED.includes(name)) throw new NotCheckableError("no request shows it without an effect");
    const isRefused = await probeRoute(name as WriteOperation, { signal }).catch((error: unknown) => {
      requireTold(error);
      throw error;
    });
    if (capabilities.support(name) === "no") return MISSING_EXTENSION;
    return isRefused ? null : "a PUT without a manifest is answered with success";
  };
}

// Then the route may be there, or not.
function requireTold(error: unknown): void {
  if (error instanceof ClientError && ["route-unclear", "server-error"].includes(error.reason))
    throw new NotCheckableError(`it cannot be told whether it is there: ${error.message}`, { cause: error });
}
