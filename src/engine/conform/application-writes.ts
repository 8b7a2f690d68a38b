import type { Sent } from "../../client/writer.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { rolloutState } from "../../contract/rollout-state.ts";
import { deploymentInProgress, followRollout } from "../rollout.ts";
import { type AppliedWrite, appliedOf, needed } from "./check.ts";
import { type ConformContext, isPathSegment } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { oncePerContext } from "./once-per-context.ts";

/** The name of the application that checks write. */
export const APPLICATION = "holdfast-conform-service";

// Nothing of it runs: it has no replicas.
function applicationManifest(workspace: string, env: JsonObject | null): JsonObject {
  return {
    type: "service",
    name: APPLICATION,
    workspace_fqn: workspace,
    image: { type: "image", image_uri: "registry.k8s.io/pause:3.10" },
    ports: [],
    replicas: 0,
    ...(env === null ? {} : { env }),
  };
}

/** A deployment that was written: its reply, and the newest deployment that was listed right after it. */
export type WrittenDeployment = AppliedWrite & { readonly manifest: JsonObject; readonly listed: JsonObject | null };

/** What became of the writes of the application, in their order. */
export type ApplicationWrites = {
  readonly first: WrittenDeployment;
  /** The same content, sent while the first rollout may still be in progress. */
  readonly during: Sent;
  /** Whether the first rollout was in progress after that. */
  readonly wasInProgress: boolean;
  readonly ended: string;
  /** The same content again. */
  readonly identical: () => Promise<WrittenDeployment>;
  /** The content without its env. */
  readonly replaced: () => Promise<WrittenDeployment>;
};

/** The writes of the application, which are made once. */
export const applicationWrites: (context: ConformContext) => Promise<ApplicationWrites> = oncePerContext(writeAll);

async function writeAll(context: ConformContext): Promise<ApplicationWrites> {
  const { names, writer, signal, unusedName } = context;
  const { workspace } = names;
  if (workspace === null) throw new TypeError("no workspace was named");
  // Another one in each run, so that it is a difference.
  const full = applicationManifest(workspace, { CONFORM: unusedName });
  const first = await deploy(context, full);
  const during = await writer.send("putApp", { body: { manifest: full } }, { signal });
  const id = text(first.data.id) ?? "";
  const application = applicationIdOf(first);
  const path = { id: application };
  const [own] = (await context.page("listDeployments", { path, query: { deploymentId: id }, limit: 1 })).rows;
  const current = isObject(own?.currentStatus) ? own.currentStatus : null;
  const status = current === null ? null : { status: text(current.status) ?? "", state: current.state };
  const wasInProgress = rolloutState(status) === "progressing" || status?.status === "CANCELLED";
  const ended = await follow(context, application, id);
  const requireEnded = (): void => {
    if (ended === "timeout") throw new NotCheckableError("the first rollout has not ended within --wait-timeout");
  };
  return {
    first,
    during,
    wasInProgress,
    ended,
    identical: async () => {
      requireEnded();
      return deploy(context, full);
    },
    replaced: async () => {
      requireEnded();
      return deploy(context, applicationManifest(workspace, null));
    },
  };
}

/** Deploys once no other deployment of the application is in progress. */
async function deploy(context: ConformContext, manifest: JsonObject): Promise<WrittenDeployment> {
  const { writer, signal } = context;
  const body = { manifest };
  const sent = await writer.send("putApp", { body }, { signal });
  const isBusy = isRefusedAsBusy(sent);
  if (isBusy) await waitForEarlier(context, manifest);
  const last = isBusy ? await writer.send("putApp", { body }, { signal }) : sent;
  if (isBusy && isRefusedAsBusy(last)) throw new NotCheckableError("another deployment of it stays in progress");
  const made = appliedOf("putApp", last);
  const path = { id: applicationIdOf(made) };
  const [listed = null] = (await needed(context.page("listDeployments", { path, limit: 1 }), "it is not listed")).rows;
  return { ...made, manifest, listed };
}

function isRefusedAsBusy(sent: Sent): boolean {
  return sent.state === "refused" && sent.status === 409;
}

async function waitForEarlier(context: ConformContext, manifest: JsonObject): Promise<void> {
  const { reader, signal } = context;
  const list = await context
    .page("listApps", { query: { fqn: `${manifest.workspace_fqn}:${APPLICATION}` } })
    .catch(() => null);
  const id = text(list?.rows[0]?.id) ?? known.get(context);
  if (id === undefined) return;
  const running = await deploymentInProgress(reader, id, { signal });
  if (running?.id !== undefined) await follow(context, id, running.id);
}

// Its id, for a control plane that lists no applications.
const known = new WeakMap<ConformContext, string>();

async function follow(context: ConformContext, applicationId: string, deploymentId: string): Promise<string> {
  const { reader, clock, signal, rolloutTimeoutMs: timeoutMs } = context;
  known.set(context, applicationId);
  return followRollout(reader, { applicationId, deploymentId }, { clock, timeoutMs, signal });
}

/** The id of the application that checks write, which it is written for. */
export async function ownApplicationId(context: ConformContext): Promise<string> {
  return applicationIdOf((await needed(applicationWrites(context), "the application could not be written")).first);
}

function applicationIdOf({ data }: Pick<AppliedWrite, "data">): string {
  const id = text(data.applicationId) ?? text(isObject(data.application) ? data.application.id : null);
  if (id === undefined || !isPathSegment(id))
    throw new NotCheckableError("the reply of the write names no application");
  return id;
}
