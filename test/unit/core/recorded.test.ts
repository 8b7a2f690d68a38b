import { describe, expect, test } from "vitest";
import { withoutIgnored } from "../../../src/core/recorded.ts";
import { against, causes, present, recorded, service, shapeOf } from "./given.ts";

const ignored = [["replicas"]];
const shape = shapeOf("service");

/** The receipt of a pass under a rule that leaves the replicas to somebody else, who has made them 5. */
function under(known = recorded(service({ replicas: 2 }))) {
  const sent = service({ replicas: 5, service_account: "new" });
  return withoutIgnored(shape, recorded(sent), { ignored, known });
}

describe("F77 a receipt made while a rule suppresses a field", () => {
  test("says of that field what was recorded before, and of the others what was written", () => {
    expect(under()).toEqual(recorded(service({ replicas: 2, service_account: "new" })));
  });

  test("says nothing of a field that was never recorded", () => {
    const sent = service({ replicas: 5, service_account: "new" });
    const receipt = withoutIgnored(shape, recorded(sent), { ignored, known: null });
    expect(receipt).toEqual(recorded(service({ service_account: "new" }), { unrecorded: ignored }));
    // And from one pass to the next.
    expect(withoutIgnored(shape, recorded(sent), { ignored, known: receipt })).toEqual(receipt);
  });

  test("tells drift from what nobody recorded, once the rule is gone", () => {
    const live = present(service({ replicas: 5, service_account: "new" }));
    const desired = service({ replicas: 2, service_account: "new" });
    expect(causes(against(desired, live, { recorded: [under()] }))).toEqual({ "/replicas": "drift" });
    const unrecorded = withoutIgnored(shape, recorded(desired), { ignored, known: null });
    expect(causes(against(desired, live, { recorded: [unrecorded] }))).toEqual({ "/replicas": "unrecorded" });
    const changed = service({ replicas: 3, service_account: "new" });
    expect(causes(against(changed, live, { recorded: [under()] }))).toEqual({ "/replicas": "conflict" });
  });

  test("keeps the items of keyed lists apart", () => {
    const ports = (host: string) => [{ port: 80, host }, { port: 90 }];
    const receipt = withoutIgnored(shape, recorded(service({ ports: ports("theirs") })), {
      ignored: [["ports", "80:TCP", "host"]],
      known: recorded(service({ ports: ports("ours") })),
    });
    expect(receipt).toEqual(recorded(service({ ports: ports("ours") })));
  });
});
