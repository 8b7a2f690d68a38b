import { describe, expect, test } from "vitest";
import {
  type ConcurrentVersions,
  concurrentVersionError,
  otherWriterWarnings,
} from "../../../../src/core/guards/other-writer.ts";
import type { LiveRow } from "../../../../src/core/kind.ts";
import type { Live } from "../../../../src/core/live.ts";
import { NOON, present, recorded, service } from "../given.ts";

const at = (millisecondsBeforeNoon: number): string => new Date(NOON - millisecondsBeforeNoon).toISOString();

describe("F84 a version that the ledger does not know", () => {
  const warned = (row: Partial<LiveRow>, { known = 1, subject = "us" as string | null } = {}) =>
    otherWriterWarnings({
      live: new Map([
        ["service/c1:ws1/api", present(service(), { version: 2, createdBy: "us", createdAt: at(1_000), ...row })],
      ]),
      recorded: new Map([["service/c1:ws1/api", recorded(service(), { version: known })]]),
      subject,
      now: NOON,
    }).length;

  test.each<[string, Partial<LiveRow>, Parameters<typeof warned>[1], number]>([
    ["made lately by our subject is told", {}, {}, 1],
    ["made by somebody else is drift, and nothing more", { createdBy: "them" }, {}, 0],
    ["made some time ago is no sign of a writer at work", { createdAt: at(6 * 60_000) }, {}, 0],
    ["that is in the ledger after all is ours", {}, { known: 2 }, 0],
    ["tells nothing while nobody knows who we are", {}, { subject: null }, 0],
    ["tells nothing where the server says no time", { createdAt: "" }, {}, 0],
    ["made five minutes ago is no sign of a writer at work", { createdAt: at(5 * 60_000) }, {}, 0],
  ])("%s", (_, row, given, warnings) => {
    expect(warned(row, given)).toBe(warnings);
  });

  test("of a resource that the ledger does not know is told too", () => {
    const live = new Map([
      ["service/c1:ws1/api", present(service(), { version: 1, createdBy: "us", createdAt: at(0) })],
    ]);
    const [warning] = otherWriterWarnings({ live, recorded: new Map(), subject: "us", now: NOON });
    expect(warning).toMatchObject({
      ...{ severity: "warning", code: "other-writer", file: null, line: null, column: null },
      summary:
        "another writer may be at work: version 1 of service/c1:ws1/api was just created with this token, and this state folder's ledger knows none",
      detail: expect.stringMatching(/^on a control plane without leases, .* or let them share a state folder$/),
    });
  });

  test("is told beside the newest one that the ledger knows, and what has no version is not", () => {
    const live = new Map<string, Live>([
      ["service/c1:ws1/api", present(service(), { version: 7, createdBy: "us", createdAt: at(0) })],
      ["service/c1:ws1/new", present(service(), { createdBy: "us", createdAt: at(0) })],
      ["service/c1:ws1/gone", { state: "absent" }],
    ]);
    const known = new Map([["service/c1:ws1/api", recorded(service(), { version: 5 })]]);
    const warnings = otherWriterWarnings({ live, recorded: known, subject: "us", now: NOON });
    expect(warnings.map(({ summary }) => summary)).toEqual([
      "another writer may be at work: version 7 of service/c1:ws1/api was just created with this token, and this state folder's ledger knows 5 as the newest",
    ]);
  });
});

describe("F78 versions that were made beside ours", () => {
  const row = (version: number, fields: Partial<LiveRow> = {}): LiveRow => ({
    key: "c1:ws1/api",
    id: "a",
    manifest: service(),
    version,
    stamp: null,
    createdBy: "us",
    createdAt: at(100),
    ...fields,
  });
  const told = (doubled: Partial<ConcurrentVersions>) =>
    concurrentVersionError({
      identity: "service/c1:ws1/api",
      ours: row(5),
      others: [row(4)],
      isSame: () => true,
      honoursKeys: false,
      hasLease: false,
      elapsed: 50,
      ...doubled,
    });

  test.each<[string, Partial<ConcurrentVersions>, string | null]>([
    ["of the same content, while the request was under way, are a request that arrived twice", {}, "duplicate-version"],
    ["where keys are honoured are another writer's", { honoursKeys: true }, "other-writer"],
    ["of another content are another writer's", { isSame: () => false }, "other-writer"],
    ["before the request was sent are another writer's", { others: [row(4, { createdAt: at(500) })] }, "other-writer"],
    ["under a lease are somebody's who has none", { hasLease: true, honoursKeys: true }, "other-version"],
    ["by another subject are somebody else's", { others: [row(4, { createdBy: "them" })] }, "other-version"],
    ["that cannot be read may be a request that arrived twice", { others: null }, "duplicate-version"],
    ["are none where the server only skips numbers", { others: [] }, null],
    [
      "of which one alone is of the same content are another writer's",
      { others: [row(4), row(3, { createdAt: at(500) })] },
      "other-writer",
    ],
    [
      "of which one alone is somebody else's are another writer's",
      { others: [row(4, { createdBy: "them" }), row(3, { createdAt: at(500) })] },
      "other-writer",
    ],
    [
      "as long before as the request took are of the same write",
      { others: [row(4, { createdAt: at(150) })] },
      "duplicate-version",
    ],
  ])("%s", (_, doubled, code) => {
    expect(told(doubled)?.code ?? null).toBe(code);
  });

  test("are told with all their numbers, whichever of them the reply was about", () => {
    expect(told({})?.message).toContain("versions 4 and 5 of service/c1:ws1/api");
    expect(told({ ours: row(4), others: [row(5)] })?.message).toContain("versions 4 and 5 of service/c1:ws1/api");
  });

  test.each<[Partial<ConcurrentVersions>, string]>([
    [
      { others: null },
      "service/c1:ws1/api is at version 5, and the versions created at the same time could not be read: the request may have arrived twice",
    ],
    [{}, "versions 4 and 5 of service/c1:ws1/api were created by one write: the request arrived twice"],
    [
      { others: [row(4, { createdBy: "them" })] },
      "versions 4 and 5 of service/c1:ws1/api were created since live was read, and only 5 is ours",
    ],
    [
      { honoursKeys: true },
      "another writer may be at work: versions 4 and 5 of service/c1:ws1/api were created with this token, and only 5 by this run; nothing more is sent",
    ],
  ])("are told: %#", (doubled, message) => {
    expect(told(doubled)?.message).toBe(message);
  });
});
