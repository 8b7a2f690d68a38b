import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  API,
  type ApiAction,
  type ApiOperation,
  apiActions,
  apiOperations,
  SEND_PLAN,
  STREAM,
  streamEvents,
} from "../../src/daemon/api/api-operations.ts";

type Part = { readonly [keyword: string]: unknown };

const SCHEMAS = "#/components/schemas/";
const ACTION_REPLY = "actionReply";

/** The OpenAPI document of the interface `/api/v1` of a daemon: its operations, and the schemas of its replies. */
export function dashboardOpenApi(root: string): Part {
  const parts = partsIn(join(root, "schemas"));
  const operations = Object.entries<ApiOperation>(apiOperations);
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast daemon",
      version: "v1",
      description:
        "What a daemon keeps equal, and how far it is: what its dashboard shows. Plans of pull requests can be sent, and people may ask for actions where the operator lets them; all else only reads. Timestamps are ISO 8601 in UTC. A reader must ignore members that it does not know.",
      contact: { name: "The operators of this daemon" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This daemon" }],
    security: [{ bearer: [] }, { basic: [] }, {}],
    tags: [{ name: "Dashboard", description: "Targets, their resources, passes and events" }],
    paths: {
      ...Object.fromEntries(
        operations.map(([name, one]) => {
          const get = operationOf(name, one);
          return [API + one.path, one.path === SEND_PLAN.path ? { get, post: sendPlan } : { get }];
        }),
      ),
      ...Object.fromEntries(
        Object.entries<ApiAction>(apiActions).map(([name, one]) => [
          `${API}${apiOperations.getTarget.path}/${name}`,
          { post: actionOf(name, one) },
        ]),
      ),
      [API + STREAM]: { get: streamOperation },
    },
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The token of HOLDFAST_UI_TOKEN_FILE" },
        basic: { type: "http", scheme: "basic", description: "The same token as the password, under any user name" },
        plans: {
          type: "http",
          scheme: "bearer",
          description: "The token of the file that dashboard.plansTokenFile names",
        },
      },
      responses: Object.fromEntries(refusals.map(({ name, description }) => [name, responseOf(description, "Error")])),
      schemas: reachable(
        [
          ...["Error", ACTION_REPLY, SEND_PLAN.body, SEND_PLAN.reply],
          ...operations.map(([, { reply }]) => reply),
          ...Object.values<ApiAction>(apiActions).map(({ body }) => body),
          ...streamEvents,
        ],
        parts,
      ),
    },
  };
}

const refusals = [
  { status: 400, name: "BadRequest", description: "A parameter is not known, or its value is not taken" },
  { status: 401, name: "Unauthorized", description: "The token is missing or wrong" },
  {
    status: 403,
    name: "Forbidden",
    description: "The asker may only read, a page of another site asks, or this daemon takes no plans",
  },
  { status: 404, name: "NotFound", description: "There is no such target or plan" },
  { status: 409, name: "Conflict", description: "The daemon refuses that now; the message says why" },
  { status: 413, name: "TooLarge", description: "The body is larger than 8 MiB, or that of an action than 64 KiB" },
  { status: 421, name: "Misdirected", description: "The host name is none of this daemon" },
  { status: 429, name: "TooManyRequests", description: "Too many requests" },
  { status: 503, name: "Unavailable", description: "The state cannot be read now, or too much is asked for at once" },
] as const;

function operationOf(name: string, { path, summary, parameters, reply, readsLive }: ApiOperation): Part {
  const [, inPath] = /\{(\w+)\}/.exec(path) ?? [];
  const own = inPath === undefined ? [] : [pathParameter(inPath)];
  const query = Object.entries(parameters).map(([parameter, { description, schema, isRequired }]) => {
    return { name: parameter, in: "query", ...(isRequired && { required: true }), description, schema };
  });
  const left = refusals.filter(
    ({ status }) => !OF_SENDING.includes(status) && (own.length > 0 || status !== 404) && (readsLive || status !== 409),
  );
  return {
    operationId: name,
    tags: ["Dashboard"],
    summary,
    ...(own.length + query.length > 0 && { parameters: [...own, ...query] }),
    responses: {
      200: responseOf(summary, reply),
      ...Object.fromEntries(left.map((one) => [one.status, { $ref: `#/components/responses/${one.name}` }])),
    },
  };
}

function pathParameter(name: string): Part {
  const description = name === "target" ? "Its name" : "Its id";
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

/** The refusals that only who sends something gets. */
const OF_SENDING: readonly number[] = [403, 413];

function actionOf(name: string, { summary, body }: ApiAction): Part {
  const header = (headerName: string, description: string): Part => {
    return { name: headerName, in: "header", required: true, description, schema: { type: "string" } };
  };
  return {
    operationId: name,
    tags: ["Dashboard"],
    summary,
    parameters: [
      pathParameter("target"),
      header("x-holdfast-page", "The page's token, as /api/v1/session has it"),
      header(
        "idempotency-key",
        "A new text for each action; a request that comes again with it is not carried out again, and gets the same end",
      ),
    ],
    requestBody: { required: true, content: { "application/json": { schema: { $ref: SCHEMAS + body } } } },
    responses: {
      200: responseOf("The action was carried out, or had been before", ACTION_REPLY),
      202: responseOf(
        "It is still being carried out after 20 seconds: the same request with the same key waits for its end",
        ACTION_REPLY,
      ),
      ...Object.fromEntries(refusals.map((one) => [one.status, { $ref: `#/components/responses/${one.name}` }])),
    },
  };
}

const sendPlan: Part = {
  operationId: "sendPlan",
  tags: ["Dashboard"],
  summary: "Sends a plan of a pull request, in place of one for the same pull request, commit and name",
  description:
    "What `comment --publish` does. The latest 200 plans are kept, each for 30 days. At most 5 are taken per second.",
  security: [{ plans: [] }],
  requestBody: { required: true, content: { "application/json": { schema: { $ref: SCHEMAS + SEND_PLAN.body } } } },
  responses: {
    200: responseOf("It has replaced an earlier one", SEND_PLAN.reply),
    201: responseOf("It is kept", SEND_PLAN.reply),
    ...Object.fromEntries(
      refusals
        .filter(({ status }) => status !== 404 && status !== 409)
        .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
    ),
  },
};

const streamOperation: Part = {
  operationId: "followEvents",
  tags: ["Dashboard"],
  summary: "What happens, as server-sent events",
  description: `The \`data\` of each event is JSON, and its \`event\` is that of the stream: ${streamEvents.join(", ")}. A comment every 15 seconds keeps the connection open. A reader that comes back with the id of its last event gets what it missed, or \`snapshot-needed\`.`,
  parameters: [
    {
      name: "last-event-id",
      in: "header",
      description: "The id of the last event that the reader had",
      schema: { type: "string" },
    },
  ],
  responses: {
    200: {
      description: "The events, until the reader or the daemon ends",
      content: {
        "text/event-stream": {
          schema: { type: "string", contentMediaType: "text/event-stream" },
          "x-events": streamEvents.map((name) => ({ $ref: `${SCHEMAS}${name}` })),
        },
      },
    },
    ...Object.fromEntries(
      refusals
        .filter(({ status }) => status !== 404 && status !== 409 && !OF_SENDING.includes(status))
        .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
    ),
  },
};

function responseOf(description: string, schema: string): Part {
  return { description, content: { "application/json": { schema: { $ref: `${SCHEMAS}${schema}` } } } };
}

/** Every part of the schemas of documents by its name, with references to others by theirs. */
function partsIn(folder: string): ReadonlyMap<string, Part> {
  const output = join(folder, "output");
  const files = readdirSync(output);
  const documents = files.map((file) => readPart(join(output, file)));
  const whole = documents.map(
    ({ $defs: _, $id: __, $schema: ___, ...part }, at) => [nameOf(files[at] ?? ""), part] as const,
  );
  const components = ["Error", "ErrorDetail"].map(
    (name) => [name, readPart(join(folder, "components", `${name}.json`))] as const,
  );
  const parts = documents.flatMap(({ $defs = {} }) => Object.entries($defs as Part));
  return new Map([...whole, ...parts, ...components] as [string, Part][]);
}

// A part of a document by its own name, and a document by that of its file.
function nameOf(reference: string): string {
  return reference.includes("#") ? basename(reference) : `${basename(reference, ".json")}Report`;
}

function readPart(file: string): Part {
  return JSON.parse(readFileSync(file, "utf8"), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? `${SCHEMAS}${nameOf(value)}` : value,
  ) as Part;
}

function reachable(names: readonly string[], parts: ReadonlyMap<string, Part>): Part {
  const found: Record<string, Part> = {};
  const follow = (name: string): void => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`no schema has the name ${name}`);
    if (Object.hasOwn(found, name)) return;
    found[name] = part;
    for (const other of namesIn(part)) follow(other);
  };
  for (const name of names) follow(name);
  return found;
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [basename(inner)] : namesIn(inner),
  );
}
