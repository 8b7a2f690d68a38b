import type { RolloutFailures } from "../../contract/generated/resources.ts";
import { isObject, type Json } from "../../contract/json.ts";
import { conflict, forbidden, unprocessable } from "../../http/http-error.ts";
import { isTenantAdmin } from "../auth/access.ts";
import { tenant } from "../auth/principal.ts";
import { recordEffect } from "../database/audit.ts";
import { toText } from "../database/json-text.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import type { ResourceDefinition } from "../resource.ts";
import { findFailures, wakeRollouts } from "../rollouts/advance-rollouts.ts";
import type { FailureRule } from "../rollouts/rollout-driver.ts";
import { applicationsSection } from "./application/resource.ts";

const MAX_RULES = 100;
const MAX_GLOB_LENGTH = 256;
const MAX_SECONDS = 86_400;

const putRolloutFailures: Handler<"putRolloutFailures"> = async ({ principal, body }, context) => {
  const { store, clock, rollouts } = context;
  if (!isTenantAdmin(principal)) throw forbidden("you may not make rollouts fail");
  const failures = readRules(body.failures);
  if (rollouts.setFailures === undefined)
    throw conflict(
      "not-simulated",
      "this server does not simulate rollouts: its rollout driver decides whether they fail",
    );
  await store.write(async (transaction) => {
    const given = toText(failures);
    if (toText(await findFailures(transaction)) === given) return;
    await transaction.deleteFrom("rollout_failures").execute();
    const rows = failures.map((rule, position) => ({ position, json: toText(rule) }));
    if (rows.length > 0) await transaction.insertInto("rollout_failures").values(rows).execute();
    await wakeRollouts(transaction, context);
    const resource = `rollout-failures/${tenant}`;
    await recordEffect(transaction, context, { principal, operation: "putRolloutFailures", resource });
  });
  // For the next deployment; before a rollout is advanced, they are read again.
  rollouts.setFailures(failures);
  context.scheduleAdvance(clock.now());
  return { data: toText<RolloutFailures>({ failures }) };
};

function readRules(given: readonly Json[]): readonly FailureRule[] {
  if (given.length > MAX_RULES)
    throw unprocessable([{ pointer: "/failures", message: `must be at most ${MAX_RULES} rules`, code: "size" }]);
  return given.map((rule, nth) => {
    const refuse = (name: string, message: string) =>
      unprocessable([{ pointer: `/failures/${nth}${name}`, message, code: "form" }]);
    if (!isObject(rule)) throw refuse("", "must be an object");
    const { match, failure, afterSeconds, ...others } = rule;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw refuse(`/${unknown}`, "is not a field of a rule");
    if (typeof match !== "string" || match === "" || match.length > MAX_GLOB_LENGTH)
      throw refuse("/match", `must be a glob of 1 to ${MAX_GLOB_LENGTH} characters, such as service/prod-eu:ranking/*`);
    if (failure !== "build" && failure !== "deploy" && failure !== "stuck")
      throw refuse("/failure", "must be build, deploy or stuck");
    if (afterSeconds === undefined) return { match, failure };
    if (typeof afterSeconds !== "number" || !(afterSeconds >= 0 && afterSeconds <= MAX_SECONDS))
      throw refuse("/afterSeconds", `must be a number of seconds from 0 to ${MAX_SECONDS}`);
    return { match, failure, afterSeconds };
  });
}

/** The operation that makes simulated rollouts fail, for tests: E19. */
export const resource: ResourceDefinition = {
  section: applicationsSection,
  operations: [
    defineOperation("putRolloutFailures", putRolloutFailures, {
      refuses: { also: [409], never: [404] },
      description:
        "Replaces the rules by which simulated rollouts fail, for tests of what follows a failed rollout; an empty list ends all failures. The rules hold for rollouts in progress too, and until they are replaced. Runs of jobs do not fail by them. A server with a rollout driver of its own answers 409 `not-simulated`. Only tenant-admins may call it.",
      replySchema: "RolloutFailures",
      members: {
        failures: {
          description: "The rules, as `failures` in the reply; at most 100",
          items: {
            type: "object",
            required: ["match", "failure"],
            properties: {
              match: {
                type: "string",
                minLength: 1,
                maxLength: MAX_GLOB_LENGTH,
                description: "Glob for identities of applications",
                examples: ["service/prod-eu:ranking/*"],
              },
              failure: {
                type: "string",
                enum: ["build", "deploy", "stuck"],
                description: "How their rollouts fail",
                examples: ["deploy"],
              },
              afterSeconds: {
                type: "number",
                minimum: 0,
                maximum: MAX_SECONDS,
                description:
                  "Seconds from the beginning of the rollout until it fails, or, for `stuck`, until it succeeds",
                examples: [30],
              },
            },
            additionalProperties: false,
          },
          maxItems: MAX_RULES,
          examples: [[{ match: "service/prod-eu:ranking/*", failure: "deploy", afterSeconds: 30 }]],
        },
      },
    }),
  ],
};
