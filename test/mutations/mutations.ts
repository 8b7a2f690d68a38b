/** A safeguard that is taken out of a copy of the checkout, and the test that has to fail then. */
export type Mutation = {
  readonly name: string;
  /** A line of the code that occurs once, so that it is found wherever its file is moved to. */
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
    find: "if (sensitive) return mask(value, compared);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/canaries.test.ts",
      title: "S10, S12: a secret of a manifest is in no output",
    },
  },
  {
    name: "the exit code of the runner",
    find: "  let server: ChildProcess = await run();",
    replace: '  let server: ChildProcess = await run();\n  process.once("beforeExit", () => process.exit(0));',
    killedBy: {
      project: "parts",
      file: "test/runner/exit-codes.test.ts",
      title: "the exit code of the runner says that",
    },
  },
  {
    name: "ending CI at the first failure",
    find: "set -euo pipefail",
    replace: "set -uo pipefail",
    killedBy: { project: "parts", file: "test/runner/ci-run.test.ts", title: "CI fails and ends when npm " },
  },
  {
    name: "the test that fails on purpose, in CI",
    find: "npm run -s test:red\n",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/ci-run.test.ts", title: "CI runs the README's command" },
  },
  {
    name: "demanding a failure of the test that fails on purpose",
    find: 'return status === 0 ? "a test has failed, and the exit code was 0" : null;',
    replace: "return null;",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "has to fail in each project" },
  },
  {
    name: "counting failed tests",
    find: "all.flatMap(([, { failed }]) => failed.map(",
    replace: "all.flatMap(([, { failed }]) => failed.slice(0, 0).map(",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "does not pass with " },
  },
  {
    name: "counting lost tests",
    find: "if (ran < least)",
    replace: "if (ran < 0)",
    killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "does not pass with " },
  },
  {
    name: "demanding a reason for each skipped test",
    find: "skipped.filter(({ reason: why }) => why === null)",
    replace: "skipped.slice(0, 0)",
    killedBy: {
      project: "parts",
      file: "test/runner/judge-suite.test.ts",
      title: "does not pass with ",
    },
  },
  {
    name: "the exit code of the judge of the suite",
    find: "process.exitCode = faults.length === 0 ? 0 : 1;",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "test:judge fails for " },
  },
  {
    name: "the exit code of the soak",
    find: "if (status !== 0) process.exitCode = 1;",
    replace: "if (status !== 0) process.exitCode = 0;",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "soak fails when a sweep does" },
  },
  {
    name: "the exit code of the mutations",
    find: "process.exitCode = chosen.length > 0 && survivors.length === 0 ? 0 : 1;",
    replace: "",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "mutations fails for a safeguard" },
  },
  {
    name: "the exit code of a bench",
    find: 'return rows.some(({ verdict }) => verdict === "missed") ? 1 : 0;',
    replace: "return 0;",
    killedBy: { project: "parts", file: "test/runner/scripts.test.ts", title: "bench fails for a missed goal" },
  },
  {
    name: "the exit code of the check of generated files",
    find: "process.exitCode = stale.length === 0 ? 0 : 1;",
    replace: "process.exitCode = 0;",
    killedBy: {
      project: "parts",
      file: "test/runner/scripts.test.ts",
      title: "generate --check fails for a stale file",
    },
  },
  {
    name: "calling a pass that left something incomplete",
    find: 'result: left.length === 0 ? "applied" : "incomplete",',
    replace: 'result: "applied",',
    killedBy: {
      project: "parts",
      file: "test/unit/core/report/pass-result.test.ts",
      title: "an apply that left something is incomplete",
    },
  },
  {
    name: "calling a plan incomplete that leaves out a manifest",
    find: "return plan.summary.invalid === 0 ? plan : withParts(plan, { complete: false });",
    replace: "return plan;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/invalid-manifests.test.ts",
      title: "commands with --partial say what they leave out",
    },
  },
  {
    name: "reading a formatted document again",
    find: "return canonical(one.value) === canonical(value);",
    replace: "return true;",
    killedBy: {
      project: "parts",
      file: "test/unit/manifests/format-file.test.ts",
      title: "leaves a document as it is whose meaning another order would change, and says so",
    },
  },
  {
    name: "taking an action before it is carried out",
    find: "if (taken !== undefined) {",
    replace: "if (content !== null) {",
    killedBy: {
      project: "parts",
      file: "test/unit/daemon/api/actions.test.ts",
      title: "of two processes that get an action in the same instant",
    },
  },
  {
    name: "recording an action whose process has ended",
    find: "await recordInterrupted(database, now);",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/unit/daemon/api/actions.test.ts",
      title: "an action whose process has ended before it was done",
    },
  },
  {
    name: "verifying the signatures of an issuer's tokens",
    find: "const { payload } = await jwtVerify(token.open(), find, {",
    replace: "const payload = decodeJwt(token.open());\n    void (token.open(), find, {",
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "is answered 401 without a reason",
    },
  },
  {
    name: "checking for whom an issuer's token is",
    find: "      audience,\n      requiredClaims",
    replace: "      requiredClaims",
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "is answered 401 without a reason",
    },
  },
  {
    name: "demanding an e-mail that the issuer has verified",
    find: 'email: isVerified === true && typeof email === "string" ? email : null,',
    replace: 'email: typeof email === "string" ? email : null,',
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "is answered 401 without a reason",
    },
  },
  {
    name: "refusing an e-mail that is bound to somebody else",
    find: "if (taken !== null) requireUnbound(taken);",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "is its subject: an e-mail that changes keeps the user",
    },
  },
  {
    name: "refusing an issuer's tokens that were revoked",
    find: "if (not_before !== null && issuedAt < Number(not_before)) {",
    replace: "if (false) {",
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "that is revoked needs a newer token",
    },
  },
  {
    name: "taking the roles of a group from who has left it",
    find: "if (before.size === groups.length && groups.every((name) => before.has(name))) return;",
    replace: "if (groups.every((name) => before.has(name))) return;",
    killedBy: {
      project: "parts",
      file: "test/conformance/openid-connect.test.ts",
      title: "has the groups of its newest token",
    },
  },
  {
    name: "taking the roles of a team from who has left it",
    find: 'await transaction.deleteFrom("team_members").where("team", "=", name).execute();',
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/conformance/teams.test.ts",
      title: "hands its roles to its members and managers",
    },
  },
  {
    name: "comparing the e-mails in manifests without case",
    find: 'return written.startsWith("user:") && written.normalize("NFKC") === written ? written.toLowerCase() : written;',
    replace: "return written;",
    killedBy: {
      project: "parts",
      file: "test/conformance/users.test.ts",
      title: "is whom manifests and commands name by its e-mail in any case",
    },
  },
  {
    name: "ending a session of the dashboard after its time",
    find: 'return isObject(value) && typeof value.until === "number" && value.until > now ? value : null;',
    replace: "return isObject(value) ? value : null;",
    killedBy: {
      project: "parts",
      file: "test/unit/daemon/http/sign-in.test.ts",
      title: "a session ends after eight hours",
    },
  },
  {
    name: "verifying the links of the audit log",
    find: "key !== undefined && linkOf(key, before, withNumbers(row, number)) === row.link;",
    replace: "true;",
    killedBy: {
      project: "parts",
      file: "test/conformance/audit.test.ts",
      title: "a verification finds rows that were changed",
    },
  },
  {
    name: "verifying the manifests that rows of the audit log are about",
    find: "if (made === null || (await writtenManifest(read, made)) !== null) return;",
    replace: "return;",
    killedBy: {
      project: "parts",
      file: "test/conformance/audit.test.ts",
      title: "a verification finds versions of applications",
    },
  },
  {
    name: "telling no changes of a version that is not as it was written",
    find: "found !== null && manifestHash(found) === named.manifestHash ? found : null",
    replace: "found",
    killedBy: {
      project: "parts",
      file: "test/conformance/audit.test.ts",
      title: "a verification finds versions of applications",
    },
  },
  {
    name: "writing refusals to the audit log",
    find: "await writeRefusals(context);",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/conformance/audit.test.ts",
      title: "every operation has a row for each effect",
    },
  },
  {
    name: "marking pruned rows of the audit log",
    find: "for (const [chain, end] of last) await markPruned(transaction, context, { chain, ...end });",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/conformance/audit.test.ts",
      title: "a row of a server whose clock is behind",
    },
  },
  {
    name: "keeping the last hour of the audit log",
    find: "return wanted < latest ? wanted : latest;",
    replace: "return wanted;",
    killedBy: {
      project: "parts",
      file: "test/conformance/retention.test.ts",
      title: "rows of the audit log go after a time",
    },
  },
  {
    name: "giving a login to its control plane alone",
    find: "filter((login) => login.server === wanted);",
    replace: "filter(() => true);",
    killedBy: {
      project: "e2e",
      file: "test/e2e/login.test.ts",
      title: "a person signs in once, and commands use the login for that control plane alone",
    },
  },
  {
    name: "proving a dry run before the next one is sent",
    find: 'if (proof.proof === "proven" && newestId(proof.before) === newestId(proof.after)) return proof;',
    replace: "return proof;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/conform.test.ts",
      title: "where a dry run deploys, no second one is sent",
    },
  },
  {
    name: "posting a model only where it has no version",
    find: "if ((await versionsNamed(context, VERSIONED.registered)).rows.length > 0) {",
    replace: "if (context === null) {",
    killedBy: {
      project: "e2e",
      file: "test/e2e/conform.test.ts",
      title: "where a dry run deploys, no second one is sent",
    },
  },
  {
    name: "writing nothing back of what is proposed for git",
    find: "if (writtenBack !== undefined && !writtenBack.has(identity) && isDriftAlone(decision))",
    replace: "if (writtenBack === null && !isDriftAlone(decision))",
    killedBy: {
      project: "parts",
      file: "test/unit/core/guards/step-guards.test.ts",
      title: "what live alone has changed is not written back, and nothing else waits for it",
    },
  },
  {
    name: "letting git win in what a person has closed",
    find: 'const closed = state === "closed" ? (known?.held ?? none).intersection(only) : none;',
    replace: "const closed = none.intersection(only);",
    killedBy: {
      project: "e2e",
      file: "test/e2e/drift-watch.test.ts",
      title: "a pull request that somebody closes while other drift is found",
    },
  },
  {
    name: "refusing arguments that a tool for agents does not have",
    find: "...{ required: [...required], additionalProperties: false },",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/mcp.test.ts",
      title: "no argument of any tool makes one write",
    },
  },
  {
    name: "keeping variables that make a command write from tools for agents",
    find: "env: toolEnvironment(outer.env)",
    replace: "env: outer.env",
    killedBy: {
      project: "e2e",
      file: "test/e2e/mcp.test.ts",
      title: "no argument of any tool makes one write",
    },
  },
  {
    name: "escaping what would end the mark of data for agents",
    find: 'return jsonLine(reply).replaceAll("`", "\\\\u0060");',
    replace: "return jsonLine(reply);",
    killedBy: {
      project: "e2e",
      file: "test/e2e/mcp.test.ts",
      title: "texts of manifests and of live that read as instructions change nothing",
    },
  },
  {
    name: "asking clients of tools for their token",
    find: "requireToken(request, token(), refused);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/mcp.test.ts",
      title: "over HTTP the tools need the token",
    },
  },
  {
    name: "refusing pages of other sites the tools for agents",
    find: "requireOwnSite(request, hosts);",
    replace: "",
    killedBy: {
      project: "e2e",
      file: "test/e2e/mcp.test.ts",
      title: "over HTTP no page of another site reaches the tools",
    },
  },
  {
    name: "refusing what a policy denies",
    find: 'severity === "deny" || (severity === "confirm" && !isAllowed(name))',
    replace: 'severity === "confirm" && !isAllowed(name)',
    killedBy: {
      project: "e2e",
      file: "test/e2e/policies.test.ts",
      title: "deny a step: plan shows it and exits 5, and apply writes nothing",
    },
  },
  {
    name: "reading policies whatever ignore files say",
    find: "isOfPolicies({ policies }, folder) ? [] : scopesWithin(folder, above)",
    replace: "scopesWithin(folder, above)",
    killedBy: {
      project: "e2e",
      file: "test/e2e/policies.test.ts",
      title: "are read whatever ignore files say",
    },
  },
  {
    name: "binding consent to what a policy says",
    find: ".map(({ digest }) => digest);",
    replace: '.map(() => "sha256:0");',
    killedBy: {
      project: "e2e",
      file: "test/e2e/policies.test.ts",
      title: "ask a person: apply takes the flag",
    },
  },
  {
    name: "judging what redeploy writes",
    find: "return revise === undefined ? planned : judgedAgain(revise(planned, recovered), { checks, run: pass.run });",
    replace: "return revise === undefined ? planned : revise(planned, recovered);",
    killedBy: {
      project: "e2e",
      file: "test/e2e/policies.test.ts",
      title: "judge redeploy as apply",
    },
  },
  {
    name: "judging by the policies of the base",
    find: "const ofBase = atBase === null || base === null ? NONE : await readFolder(atBase, base, reading);",
    replace: "const ofBase = NONE;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/policies.test.ts",
      title: "count as of the base and of the merge result",
    },
  },
  {
    name: "verifying the signature of an approval",
    find: "return isSignedWith(signature, key, approvalMessage(digest))",
    replace: "return signature.value.length > 0",
    killedBy: {
      project: "parts",
      file: "test/unit/core/approvals/require-approvals.test.ts",
      title: "a changed byte anywhere makes a signature not count",
    },
  },
  {
    name: "counting what somebody has touched the device for",
    find: "key.application !== null && !isOfTouch(signature)",
    replace: "false",
    killedBy: {
      project: "parts",
      file: "test/unit/core/approvals/require-approvals.test.ts",
      title: "a FIDO key approves a plan, as ssh-keygen itself finds, where its device was touched",
    },
  },
  {
    name: "counting one key once",
    find: "else if (approvers.some(({ fingerprint }) => fingerprint === key.fingerprint))",
    replace: "else if (approvers.length > rule.keys.length)",
    killedBy: {
      project: "parts",
      file: "test/unit/core/approvals/require-approvals.test.ts",
      title: "a key of nobody, another namespace and a second signature of one key do not count",
    },
  },
  {
    name: "signing the approvals that a plan needs",
    find: '  "allows",\n  "approvals",\n  "checksum",\n] as const;',
    replace: '  "allows",\n  "checksum",\n] as const;',
    killedBy: {
      project: "e2e",
      file: "test/e2e/approvals.test.ts",
      title: "of another plan: one of a changed source, and one that was edited",
    },
  },
  {
    name: "holding to the stricter demand for approvals",
    find: "const rule = stricterRule(signed.approvals, demanded);",
    replace: "const rule = signed.approvals;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/approvals.test.ts",
      title: "holds where it is more than the plan says, and less where the plan says more",
    },
  },
  {
    name: "refusing to write without an approved plan",
    find: "throw approvalsDemanded(demanded, mode.is);",
    replace: "return null;",
    killedBy: {
      project: "e2e",
      file: "test/e2e/approvals.test.ts",
      title: "apply without a plan, redeploy and watch are refused",
    },
  },
  {
    name: "ending an expression at its budget",
    find: "left -= Math.ceil(work);",
    replace: "",
    killedBy: {
      project: "parts",
      file: "test/unit/engine/policies/judge-plan.test.ts",
      title: "end within their budget, and then deny",
    },
  },
];
