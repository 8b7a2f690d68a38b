import type { ActionName } from "../../contract/generated/output.ts";
import { badRequest } from "../../http/http-error.ts";
import { replaceUnprintable } from "../../model/unprintable.ts";
import type { TargetCommand } from "../control-socket.ts";
import { holdable, requestedHold } from "../requested-hold.ts";
import { parseRequestBody } from "./request-body.ts";

/** What a person asks for, and what the history says of it. */
export type AskedAction = {
  readonly name: ActionName;
  readonly by: string;
  readonly command: TargetCommand;
  /** The resources that it is about, which the target must have. */
  readonly identities: readonly string[];
  readonly text: string;
};

/** Reads the body of an action; refuses members that are not known, and values that they do not take. */
export function readAction(name: ActionName, body: unknown, now: number): AskedAction {
  const asked = (
    given: { readonly by: string },
    command: TargetCommand,
    identities: readonly string[],
    text: string,
  ): AskedAction => {
    const by = personIn(given);
    return {
      ...{ name, by, command: { ...command, by }, identities },
      text: replaceUnprintable(`${by}: ${text}`),
    };
  };
  switch (name) {
    case "reconcile":
      return asked(parseRequestBody("reconcileRequest", body), { is: "reconcile" }, [], "reconcile");
    case "hold": {
      const given = parseRequestBody("holdRequest", body);
      const wanted = requestedHold(
        { what: given.what.trim(), reason: given.reason.trim(), until: given.until.trim() },
        now,
      );
      const { what, until, reason } = { ...wanted, reason: replaceUnprintable(wanted.reason) };
      refuseStage(what);
      const text = `hold ${what} until ${until === "commit" ? "the next commit that changes it" : until}: ${reason}`;
      const hold = { what, reason, until, by: personIn(given) };
      return asked(given, { is: "hold", hold }, resourcesIn([what]), text);
    }
    case "release": {
      const given = parseRequestBody("releaseRequest", body);
      const what = holdable(given.what.trim());
      refuseStage(what);
      return asked(given, { is: "release", what }, [], `release ${what}`);
    }
    case "adopt": {
      const given = parseRequestBody("adoptRequest", body);
      const identities = identitiesIn(given);
      return asked(given, { is: "adopt", identities }, identities, `adopt ${identities.join(", ")}`);
    }
    case "redeploy": {
      const given = parseRequestBody("redeployRequest", body);
      const { force = false } = given;
      const identities = identitiesIn(given);
      const text = `redeploy ${identities.join(", ")}${force ? ", also what has not failed" : ""}`;
      return asked(given, { is: "redeploy", identities, force, isForced: false }, identities, text);
    }
    case "resolve": {
      const given = parseRequestBody("resolveRequest", body);
      const { as } = given;
      const identities = identitiesIn(given);
      return asked(given, { is: "resolve", identities, as }, identities, `resolve ${identities.join(", ")} as ${as}`);
    }
  }
}

function personIn({ by }: { readonly by: string }): string {
  const name = by.trim();
  if (replaceUnprintable(name) !== name) throw badRequest("by must be your name, of at most 100 printable characters");
  return name.toWellFormed();
}

function identitiesIn({ identities }: { readonly identities: readonly string[] }): readonly string[] {
  const twice = identities.find((one, at) => identities.indexOf(one) < at);
  if (twice !== undefined) throw badRequest(`identities has ${replaceUnprintable(twice.slice(0, 200))} twice`);
  return identities;
}

function refuseStage(what: string): void {
  if (what.startsWith("stage/")) throw badRequest("a stage is held by the command: holdfast hold stage/NAME");
}

function resourcesIn(named: readonly string[]): readonly string[] {
  return named.filter((what) => what.includes("/"));
}
