import type { ActionName } from "../../contract/generated/output.ts";
import { type ApiParameters, freeText, neededText, oneOf, trueOrFalse, wholeNumber, words } from "./api-parameters.ts";

/** Where the interface begins. */
export const API = "/api/v1";

/** Where its events are, below that. */
export const STREAM = "/stream";

/** How a plan of a pull request is sent: the one operation that does not only read. */
export const SEND_PLAN = { path: "/plans", body: "planToSend", reply: "planSent" } as const;

/** The types of the events, by their names among the parts of `schemas/output/dashboard.json`. */
export const streamEvents = [
  "streamOpened",
  "streamPass",
  "streamOutcome",
  "streamStatus",
  "streamConfiguration",
  "streamSnapshotNeeded",
] as const;

/** An operation of the interface: the OpenAPI document and the routes are made of it. */
export type ApiOperation = {
  /** Below `/api/v1`; a part such as `{target}` or `{plan}` is a parameter. */
  readonly path: string;
  readonly summary: string;
  readonly parameters: ApiParameters;
  /** The type of the reply, by its name among the parts of `schemas/output`. */
  readonly reply: string;
  /** Set if it reads the control plane, which may not be possible. */
  readonly readsLive?: true;
};

/** How the resources of a target may be ordered. */
export const resourceOrders = ["attention", "identity", "-identity", "kind", "state", "since", "-since"] as const;

/** An action that people may ask for: its routes and its part of the OpenAPI document are made of it. */
export type ApiAction = {
  readonly summary: string;
  /** The schema of the body, by its name among the parts of `schemas/output/dashboard.json`. */
  readonly body: string;
};

/** The actions by name; each is a POST below its target. */
export const apiActions = {
  reconcile: {
    summary: "Asks for a pass that compares everything, and writes as the target's `sync` says",
    body: "reconcileRequest",
  },
  hold: {
    summary: "Keeps the daemon from writing a resource, or from applying a commit",
    body: "holdRequest",
  },
  release: {
    summary: "Ends a hold, or lets a commit through that was refused since too much is missing from it",
    body: "releaseRequest",
  },
  adopt: {
    summary: "Records what is live as it is, so that it may be changed; writes nothing to the control plane",
    body: "adoptRequest",
  },
  redeploy: {
    summary: "Deploys the same content again after a rollout that has failed",
    body: "redeployRequest",
  },
  resolve: { summary: "Closes writes whose outcome is unknown", body: "resolveRequest" },
} as const satisfies { readonly [name in ActionName]: ApiAction };

const MAX_PAGE = 500;
const limit = wholeNumber("The most entries of the reply", { minimum: 1, maximum: MAX_PAGE, preset: 100 });
const numbered = freeText("The cursor `next` of the page before", { pattern: "^\\d{1,15}$" });

/** Which resources of a target are asked for. */
const resourceFilters = {
  state: words("A state that entries have"),
  kind: words("A kind that entries have"),
  attention: trueOrFalse("Whether only entries that need attention are listed"),
  search: freeText(
    "A text in the identity of entries, or in why they are not as declared; letters match in both cases",
  ),
};

/** The most resources of a graph: more are not drawn in a few seconds, nor read by anybody. */
const MAX_NODES = 500;

/** The operations of the interface by name. */
export const apiOperations = {
  getSession: {
    path: "/session",
    summary: "Whether the asker may act, and the page's token, which every action needs",
    parameters: {},
    reply: "sessionReply",
  },
  listTargets: {
    path: "/targets",
    summary: "All targets in short, the stages, and what waits longest",
    parameters: {},
    reply: "fleetReply",
  },
  getTarget: {
    path: "/targets/{target}",
    summary: "One target: its status, holds, gates, freezes and invalid manifests",
    parameters: {},
    reply: "targetReply",
  },
  listResources: {
    path: "/targets/{target}/resources",
    summary: "A part of the resources of a target, those that need attention first",
    parameters: {
      ...resourceFilters,
      sort: oneOf(
        "The order of entries: those that need attention first, or by a field, with a minus sign from the end",
        resourceOrders,
        "attention",
      ),
      offset: wholeNumber("How many matching entries are left out at the beginning", {
        ...{ minimum: 0, maximum: 10_000_000, preset: 0 },
      }),
      limit,
    },
    reply: "resourcesReply",
  },
  getGraph: {
    path: "/targets/{target}/graph",
    summary: "Which resources of a target refer to which, those that need attention first",
    parameters: {
      ...resourceFilters,
      around: freeText("The resource around which the others are; left out for all that match"),
      depth: wholeNumber("Within how many references of that resource the others are", {
        ...{ minimum: 1, maximum: 20, preset: 2 },
      }),
      limit: wholeNumber("The most resources of the reply", { minimum: 1, maximum: MAX_NODES, preset: 200 }),
    },
    reply: "resourceGraphReply",
  },
  getResource: {
    path: "/targets/{target}/resource",
    summary: "One resource: what the state and the last pass know of it, and what to do next",
    parameters: { identity: neededText("The resource") },
    reply: "resourceStateReply",
  },
  explainValue: {
    path: "/targets/{target}/why",
    summary: "Where the values of a resource come from, desired, recorded and live: reads it on the control plane",
    parameters: {
      identity: neededText("The resource"),
      pointer: freeText("The JSON Pointer of a field; left out for all of it", { pattern: "^/" }),
    },
    reply: "whyReply",
    readsLive: true,
  },
  listPasses: {
    path: "/targets/{target}/passes",
    summary: "The records of the passes over a target, newest first",
    parameters: { limit, after: numbered },
    reply: "passesReply",
  },
  listEvents: {
    path: "/targets/{target}/events",
    summary: "What became of the resources of a target, newest first",
    parameters: {
      identity: freeText("The resource that the entries are about"),
      drifted: trueOrFalse("Whether only entries are listed where live had drifted"),
      at: freeText("When the pass ended that the entries are of", {
        pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$",
      }),
      changes: trueOrFalse("Whether each entry says what its write changed"),
      limit,
      after: numbered,
    },
    reply: "eventsReply",
  },
  listDrifts: {
    path: "/targets/{target}/drifts",
    summary: "What had drifted in live, newest first: by whom, and until when",
    parameters: { limit, after: numbered },
    reply: "driftsReply",
  },
  listCommits: {
    path: "/targets/{target}/commits",
    summary: "Author and subject of commits, as far as the repository is here",
    parameters: { id: words("The id of a commit") },
    reply: "commitsReply",
  },
  listDriftDays: {
    path: "/targets/{target}/drift-days",
    summary: "The days on which live had drifted, newest first",
    parameters: {
      limit,
      after: freeText("The cursor `next` of the page before", { pattern: "^\\d{4}-\\d\\d-\\d\\d$" }),
    },
    reply: "driftDaysReply",
  },
  listPlans: {
    path: "/plans",
    summary: "Plans of pull requests that were sent, the latest first",
    parameters: {
      limit,
      after: freeText("The cursor `next` of the page before", { pattern: "^\\d{4}-[\\dT:.-]+Z_[\\da-f]{32}$" }),
    },
    reply: "plansReply",
  },
  getPlan: {
    path: "/plans/{plan}",
    summary: "A plan of a pull request that was sent: what it does, by cause",
    parameters: {},
    reply: "planReply",
  },
} as const satisfies { readonly [name: string]: ApiOperation };
