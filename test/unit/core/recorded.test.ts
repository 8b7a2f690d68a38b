import { describe, expect, test } from "vitest";
import { equalRecorded, isOpened, isRecordOf, requireOpened, withoutIgnored } from "../../../src/core/recorded.ts";
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

describe("a record", () => {
  const record = recorded(service({ replicas: 2 }), { version: 3 });

  test.each<[string, Partial<typeof record>, boolean]>([
    ["of another time", { at: 0 }, true],
    ["that names no unrecorded paths", { unrecorded: [] }, true],
    ["with other unrecorded paths", { unrecorded: ignored }, false],
    ["of another id", { id: "id-2" }, false],
    ["of another version", { version: 4 }, false],
    ["of another manifest", { written: service() }, false],
    ["with another reply", { returned: service() }, false],
    ["without a reply", { returned: null }, false],
  ])("%s is equal: %s", (_, fields, is) => {
    expect([equalRecorded(record, { ...record, ...fields }), equalRecorded({ ...record, ...fields }, record)]).toEqual([
      ...[is, is],
    ]);
  });

  test("without a reply is equal to another one", () => {
    expect(equalRecorded({ ...record, returned: null }, { ...record, returned: null })).toBe(true);
  });

  test("is that of a manifest and of live where both are the same", () => {
    const same = service({ replicas: 2 });
    expect(isRecordOf(record, same, same)).toBe(true);
    expect([isRecordOf(record, service(), same), isRecordOf(record, same, service())]).toEqual([false, false]);
    expect(isRecordOf({ ...record, returned: null }, same, same)).toBe(false);
  });

  test("has a manifest once it was opened", () => {
    expect([isOpened(record), requireOpened(record)]).toEqual([true, record]);
    const { written: _, ...head } = record;
    expect(isOpened(head)).toBe(false);
    expect(() => requireOpened(head)).toThrow("the record of service/c1:ws1/api was not opened");
  });
});
