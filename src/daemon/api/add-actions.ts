import type { FastifyInstance } from "fastify";
import type { ActionName, ActionReply } from "../../contract/generated/output.ts";
import { isObject } from "../../contract/json.ts";
import { badRequest, HttpError } from "../../http/http-error.ts";
import { queryText } from "../../http/server.ts";
import type { ActionAccess } from "./action-access.ts";
import { type DashboardReaders, dashboardHeaders, requireReader } from "./add-api.ts";
import { API, apiActions, apiOperations } from "./api-operations.ts";
import { parameterValues } from "./api-parameters.ts";
import type { ActionRequest } from "./carry-out-action.ts";

/** How actions are served. */
export type ServedActions = {
  readonly access: ActionAccess;
  readonly carryOut: (request: ActionRequest) => Promise<ActionReply>;
  readonly readers: DashboardReaders;
};

const MAX_BYTES = 65_536;

/** Adds what people may ask for: a POST for each action, below its target; and what the asker may do. */
export function addActions(app: FastifyInstance, { access, carryOut, readers }: ServedActions): void {
  app.get(API + apiOperations.getSession.path, async (request, reply) => {
    requireReader(request, readers);
    parameterValues({}, queryText(request));
    return reply.headers(dashboardHeaders).send(access.session(request));
  });
  for (const name of Object.keys(apiActions) as readonly ActionName[]) {
    const url = `${API}${apiOperations.getTarget.path.replace("{target}", ":target")}/${name}`;
    app.post<{ Params: { target: string } }>(url, { bodyLimit: MAX_BYTES }, async (request, reply) => {
      requireReader(request, readers);
      const by = access.require(request);
      parameterValues({}, queryText(request));
      const { params, body: given } = request;
      // Who has signed in gives no other name.
      const body = by !== null && isObject(given) ? { ...given, by } : given;
      const key = keyIn(request.headers["idempotency-key"]);
      const ended = await carryOut({ target: params.target, name, key, body });
      // One that goes on is asked about again with its key, so that no connection is silent for long.
      return reply
        .code(ended.record === null ? 202 : 200)
        .headers(dashboardHeaders)
        .send(ended);
    });
    app.route({
      method: ["GET", "HEAD", "PUT", "PATCH", "DELETE"],
      url,
      handler: async (request) => {
        requireReader(request, readers);
        throw new HttpError(405, "method-not-allowed", "an action is a POST", { headers: { allow: "POST" } });
      },
    });
  }
}

function keyIn(given: string | readonly string[] | undefined): string {
  if (typeof given === "string" && /^[\x21-\x7e]{8,128}$/.test(given)) return given;
  throw badRequest("an action needs a header Idempotency-Key of 8 to 128 characters");
}
