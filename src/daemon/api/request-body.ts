import type {
  AdoptRequest,
  HoldRequest,
  PlanToSend,
  ReconcileRequest,
  RedeployRequest,
  ReleaseRequest,
  ResolveRequest,
} from "../../contract/generated/output.ts";
import { isObject } from "../../contract/json.ts";
import { badRequest } from "../../http/http-error.ts";
import { replaceUnprintable } from "../../model/unprintable.ts";
import type { RequestName } from "../../schema/schemas.ts";
import { validateRequest } from "../../schema/validate.ts";

type Bodies = {
  readonly [name in RequestName]: {
    readonly reconcileRequest: ReconcileRequest;
    readonly holdRequest: HoldRequest;
    readonly releaseRequest: ReleaseRequest;
    readonly adoptRequest: AdoptRequest;
    readonly redeployRequest: RedeployRequest;
    readonly resolveRequest: ResolveRequest;
    readonly planToSend: PlanToSend;
  }[name];
};

/** Reads a body by its schema; refuses it with what is wrong first. */
export function parseRequestBody<Name extends RequestName>(name: Name, body: unknown): Bodies[Name] {
  if (!isObject(body)) throw badRequest("the body must be an object");
  const [fault] = validateRequest(name, body);
  // The types of bodies are generated from the schemas.
  if (fault === undefined) return body as Bodies[Name];
  const { message, help } = fault;
  throw badRequest(replaceUnprintable(help === undefined ? message : `${message}. ${help}`));
}
