import { ClientError } from "../../client/client-error.ts";
import type { PathParameters, Query } from "../../client/compose-request.ts";
import type { BodyParser } from "../../client/decode-body.ts";
import type { Reader } from "../../client/reader.ts";
import type { RouteProbe } from "../../client/route-probe.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Writer } from "../../client/writer.ts";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import { isTooDeep } from "../../contract/measure-json.ts";
import { isDocumented, type ListOperation, operation } from "../../contract/operations.ts";
import { once, oncePer } from "../../model/once.ts";
import { NotCheckableError } from "./not-checkable-error.ts";

/** What the user named for the checks. */
export type ConformNames = {
  /** The workspace that applications are written to; null where none are. */
  readonly workspace: string | null;
  /** The ml repo that prompts and models are written to; null where none are. */
  readonly mlRepo: string | null;
  /** The id of an application whose deployments are read; null to take a listed one. */
  readonly application: string | null;
};

/** How the control plane is reached. */
export type ConformOptions = Stop & {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly probeRoute: RouteProbe;
  readonly capabilities: Pick<ServerCapabilities, "support">;
  readonly serverTime: () => number | null;
  /** A reader whose token no control plane has issued. */
  readonly stranger: Reader;
  readonly rolloutTimeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly names: ConformNames;
  /** The id of the application that checks write; null where they write none. */
  readonly ownApplication: (() => Promise<string>) | null;
};

/** A page as it was received. */
export type ReceivedPage = {
  readonly rows: readonly JsonObject[];
  readonly total: number;
  readonly pagination: JsonObject;
};

/** Where a list is, and the part of it that is asked for. */
export type ListPlace = {
  readonly path?: PathParameters;
  readonly query?: Query;
  readonly offset?: number;
  readonly limit?: number;
};

/** What all checks of one control plane share; what they discover is looked for once. */
export type ConformContext = ConformOptions & {
  readonly page: (name: ListOperation, where?: ListPlace) => Promise<ReceivedPage>;
  /** The first rows of a list of the whole tenant. */
  readonly list: (name: ListOperation) => Promise<ReceivedPage>;
  /** The same rows; none where the list cannot be read. */
  readonly rows: (name: ListOperation) => Promise<readonly JsonObject[]>;
  /** The error that nothing is listed which a check needs, with how one of these lists fails. */
  readonly notListed: (what: string, names: readonly ListOperation[]) => Promise<NotCheckableError>;
  /** The first deployments of the application. */
  readonly deployments: () => Promise<ReceivedPage>;
  readonly clusterId: () => Promise<string>;
  readonly applicationId: () => Promise<string>;
  readonly secretId: () => Promise<string>;
  readonly artifactId: () => Promise<string>;
  readonly jobRun: () => Promise<{ readonly jobId: string; readonly jobRunName: string }>;
  /** A name that no resource has. */
  readonly unusedName: string;
};

/** Creates what the checks share. */
export function createConformContext(options: ConformOptions): ConformContext {
  const { reader, signal, names } = options;
  const page: ConformContext["page"] = async (name, where = {}) => {
    let received: Json | undefined;
    const parse: BodyParser = (bytes, maxDepth) => {
      if (isTooDeep(bytes, maxDepth)) return null;
      received = JSON.parse(bytes.toString("utf8"));
      return received ?? null;
    };
    try {
      const { total } = await reader.page(name, where, { signal, parse });
      const { data, pagination } = isObject(received) ? received : {};
      const rows = Array.isArray(data) ? data.filter(isObject) : [];
      return { rows, total, pagination: isObject(pagination) ? pagination : {} };
    } catch (error) {
      throw received === undefined ? error : withFormFault(error, received);
    }
  };
  const list = oncePer((name: ListOperation) => page(name, { limit: FIRST_ROWS }));
  const rows = async (name: ListOperation): Promise<readonly JsonObject[]> => {
    try {
      return (await list(name)).rows;
    } catch (error) {
      if (error instanceof ClientError) return [];
      throw error;
    }
  };
  const notListed = async (what: string, names: readonly ListOperation[]): Promise<NotCheckableError> => {
    const failures = await Promise.all(names.map((name) => failureOf(list(name))));
    const cause = failures.find((failure) => failure !== null && !isMissingExtension(failure));
    return cause ? new NotCheckableError(`${what}: ${cause.message}`, { cause }) : new NotCheckableError(what);
  };
  const known = async (
    what: string,
    lists: readonly ListOperation[],
    idsIn: (row: JsonObject) => readonly (string | undefined)[],
  ): Promise<string> => {
    const all = (await Promise.all(lists.map(rows))).flat();
    const id = all.flatMap(idsIn).find((one) => one !== undefined && isPathSegment(one));
    if (id === undefined) throw await notListed(what, lists);
    return id;
  };
  const applicationId = once(async () => {
    if (names.application !== null) return names.application;
    const why = "no application is listed (E4) that this token sees: name one by its id with --application";
    // One with several versions shows more.
    const all = (await rows("listApps")).toSorted((one, other) => versionsOf(other) - versionsOf(one));
    const ids = all.map(({ id }) => text(id));
    if (ids.length === 0 && options.ownApplication !== null) return options.ownApplication();
    const id = ids.find((one) => one !== undefined && isPathSegment(one));
    if (id === undefined) throw await notListed(why, ["listApps"]);
    return id;
  });
  return {
    ...options,
    page,
    list,
    rows,
    notListed,
    applicationId,
    deployments: once(async () => page("listDeployments", { path: { id: await applicationId() }, limit: FIRST_ROWS })),
    unusedName: `holdfast-conform-${options.random.id()}`,
    clusterId: once(() =>
      known("no workspace that this token sees names a cluster", ["listWorkspaces"], ({ clusterId, manifest }) => [
        text(clusterId) ?? text(isObject(manifest) ? manifest.cluster_fqn : null),
      ]),
    ),
    secretId: once(() =>
      known("no secret is listed (E8) that this token sees", ["listSecretGroups"], (group) =>
        listedSecrets(group).map(({ id }) => text(id)),
      ),
    ),
    artifactId: once(() =>
      known(
        "no version that this token sees names its artifact",
        ["listModelVersions", "listPromptVersions"],
        (row) => [text(row.artifact_id) ?? text(row.model_id) ?? text(row.prompt_id)],
      ),
    ),
    jobRun: once(async () => {
      for (const { id } of (await rows("listApps")).slice(0, MOST_JOBS)) {
        const jobId = segment(id);
        const runs = jobId === undefined ? [] : await unlessRefused(page("listJobRuns", { path: { jobId }, limit: 1 }));
        const jobRunName = segment(runs[0]?.name);
        if (jobId !== undefined && jobRunName !== undefined) return { jobId, jobRunName };
      }
      throw await notListed("no run of a job is listed (E4, E9) that this token sees", ["listApps"]);
    }),
  };
}

function segment(id: Json | undefined): string | undefined {
  const name = text(id);
  return name !== undefined && isPathSegment(name) ? name : undefined;
}

/** Whether an id can stand in a path: a server may answer anything. */
export function isPathSegment(id: string): boolean {
  return !/^\.{0,2}$/.test(id);
}

const FIRST_ROWS = 100;
const MOST_JOBS = 30;

// It lists nothing.
function isMissingExtension({ reason, operation: name }: ClientError): boolean {
  return reason === "route-missing" && !isDocumented(operation(name));
}

/** How a request fails; null if it does not. */
export async function failureOf(page: Promise<unknown>): Promise<ClientError | null> {
  try {
    await page;
    return null;
  } catch (error) {
    if (error instanceof ClientError) return error;
    throw error;
  }
}

async function unlessRefused(page: Promise<ReceivedPage>): Promise<readonly JsonObject[]> {
  return (await failureOf(page)) === null ? (await page).rows : [];
}

/** The error with what is wrong with the form of a page, as far as it is known. */
function withFormFault(error: unknown, received: Json): unknown {
  if (!(error instanceof ClientError) || error.reason !== "protocol") return error;
  const fault = formFault(received);
  if (fault === null) return error;
  const { message, ...context } = error;
  return new ClientError("protocol", `${message}: ${fault}`, { ...context, cause: error });
}

function formFault(received: Json): string | null {
  if (!isObject(received)) return "it is no object";
  const { data, pagination } = received;
  if (!Array.isArray(data)) return "data is no list";
  if (!data.every((row) => isObject(row))) return "a row in data is no object";
  if (!isObject(pagination)) return "it has no pagination";
  return Number.isSafeInteger(pagination.total) ? null : "pagination has no integer total";
}

function versionsOf({ lastVersion }: JsonObject): number {
  return typeof lastVersion === "number" ? lastVersion : 0;
}

/** The secrets of a group as it was received. */
export function listedSecrets({ associatedSecrets }: JsonObject): readonly JsonObject[] {
  return Array.isArray(associatedSecrets) ? associatedSecrets.filter(isObject) : [];
}
