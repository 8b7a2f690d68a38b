/** A safeguard that is taken out of a copy of the sources, and the test that has to fail then. */
export type Mutation = {
  readonly name: string;
  /** A line of the sources that occurs once, so that it is found wherever its file is moved to. */
  readonly find: string;
  readonly replace: string;
  readonly killedBy: {
    readonly project: "parts" | "e2e";
    readonly file: string;
    /** Where the title of the test begins. */
    readonly title: string;
  };
};

/** The safeguards that no test run may lack unnoticed. */
export const mutations: readonly Mutation[] = [
  {
    name: "flushing the journal to the disk",
    find: "PRAGMA synchronous = FULL;",
    replace: "PRAGMA synchronous = OFF;",
    killedBy: {
      project: "parts",
      file: "test/unit/store/sqlite/open-connection.test.ts",
      title: "F32 a connection flushes what it commits to the disk",
    },
  },
  {
    name: "reading the live resource after an ambiguous write",
    find: "for (const isLast of [false, true]) {",
    replace: "for (const isLast of Array<boolean>()) {",
    killedBy: {
      project: "e2e",
      file: "test/e2e/lost-replies.test.ts",
      title: "F3 a write whose reply is lost is found by reading back",
    },
  },
  {
    name: "waiting before an ambiguous write is sent again",
    find: "if (isLast) await waitUntilDeadline(request, ambiguous);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/lost-replies.test.ts",
      title: "F3 a write that arrives after its connection broke is found before it is sent again",
    },
  },
  {
    name: "the server's check of fencing tokens",
    find: 'return leases.some((lease) => Number(lease.number) > number) ? "stale" : null;',
    replace: "return null;",
    killedBy: {
      project: "parts",
      file: "test/conformance/leases.test.ts",
      title: "F74 a write is rejected by a newer lease of any scope that covers what it is about",
    },
  },
  {
    name: "redacting sensitive fields",
    find: "if (sensitive) return mask(value);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/canaries.test.ts",
      title: "S10, S12: a secret of a manifest is in no output",
    },
  },
];
