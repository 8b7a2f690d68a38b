import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { withServerSide } from "../../../../src/core/diff/server-side-changes.ts";
import type { Live } from "../../../../src/core/live.ts";
import { makePlan } from "../../../../src/core/plan/make-plan.ts";
import { type Around, declare, planInput, present, recorded, service } from "../given.ts";

const API = "service/c1:ws1/api";

/** The changes of the step of a service, as paths and causes; those that only the server made come last. */
function shown(desired: JsonObject, live: Live, around: Around = {}): readonly (readonly string[])[] {
  const input = planInput([declare(desired)], { ...around, live: { [API]: live } });
  return withServerSide(makePlan(input), input).steps.flatMap(({ changes }) =>
    changes.map(({ path, cause }) => [path, cause]),
  );
}

test("what the control plane adds or rewrites is shown beside what an apply changes", () => {
  const declared = service({ replicas: 3, ports: [{ port: 80, host: "a" }] });
  const returned = service({ replicas: 2, ports: [{ port: 80, host: "A" }], service_account: "added" });
  const around = { recorded: [recorded(service({ replicas: 2, ports: [{ port: 80, host: "a" }] }), { returned })] };
  expect(shown(declared, present(returned), around)).toEqual([
    ["/replicas", "manifest"],
    ["/ports/0/host", "server"],
    ["/service_account", "default"],
  ]);
});

test("what a rule ignores, and what equals the manifest, is not", () => {
  const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
  expect(shown(service({ replicas: 2 }), present(service({ replicas: 9, tags: { a: "1" } })), { ignore })).toEqual([
    ["/tags/a", "unrecorded"],
  ]);
  expect(shown(service({ replicas: 2 }), present(service({ replicas: 2 })))).toEqual([]);
});

test("of what is not live, and of what no manifest of the plan declares, there is nothing to show", () => {
  expect(shown(service(), { state: "absent" })).toEqual([["", "manifest"]]);
  const input = planInput([], { live: { [API]: present(service()) }, recorded: [recorded(service())] });
  const planned = makePlan(input);
  expect(withServerSide(planned, input).steps).toEqual(planned.plan.steps);
  expect(planned.plan.steps).toHaveLength(1);
});
