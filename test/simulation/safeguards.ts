import type { Mutation } from "../mutations/mutations.ts";

/** A safeguard that is taken out of a copy of the checkout: the simulation has to notice. */
export type Safeguard = Omit<Mutation, "killedBy">;

/** The safeguards that the simulation is to notice when they are gone. */
export const safeguards: readonly Safeguard[] = [
  {
    name: "storing an intent before its request is sent",
    find: "  await writing.session.ledger.begin(\n    journaled,\n    replaced.map(({ intent }) => intent.id),\n  );\n",
    replace: "",
  },
  {
    name: "reading live after an ambiguous write",
    find: "for (const isLast of [false, true]) {",
    replace: "for (const isLast of Array<boolean>()) {",
  },
  {
    name: "waiting before an ambiguous write is sent again",
    find: "if (isLast) await waitUntilDeadline(request, ambiguous);",
    replace: "",
  },
  {
    name: "waiting for the deadline of an interrupted write",
    find: "await announceLongWait(run.clock.sleep(rest, { signal: run.signal }), wait, run);",
    replace: "",
  },
  {
    name: "recovering the journal before a plan",
    find: "const recovered = await recoverPending(session, access, pass);",
    replace: "const recovered: readonly Recovered[] = [];",
  },
  {
    name: "comparing the content that was read back",
    find: 'if (hasContentOf(kind, intent.manifest, row.manifest)) return { effect: "applied", row };',
    replace: 'return { effect: "applied", row };',
  },
  {
    name: "the server's check of fencing tokens",
    find: 'return leases.some((lease) => Number(lease.number) > number) ? "stale" : null;',
    replace: "return null;",
  },
  {
    name: "the fencing token in a write",
    find: "{ ...content, right, fence: { token, scope } }",
    replace: "{ ...content, right }",
  },
  {
    name: "refusing a lease that another holder has",
    find: "if (call.body.break !== true) throw held(last, change);",
    replace: "return [];",
  },
  {
    name: "executing a write once for its key",
    find: "if (replayed !== null) return replayed;",
    replace: "",
  },
  {
    name: "sending a write with a key",
    find: "...(key === null ? {} : { idempotencyKey: key }),\n      ...(operations[operation]",
    replace: "...(operations[operation]",
  },
  {
    name: "sending a write again with its first key",
    find: "key: intent.key ?? newIntent.key",
    replace: "key: newIntent.key",
  },
  {
    name: "reading the newest commit once the lease was taken from another process",
    find: "          isBehind = true;\n          return null;",
    replace: "          isBehind = true;\n          return writer;",
  },
  {
    name: "writing no older commit after another process",
    find: "if (read.isLastApplied === true && access.mayBeBehind()) throw behind(read.desired.revision);",
    replace: "",
  },
  {
    name: "keeping which commit is being written",
    find: "if (current.plan.steps.some(writes)) await pass.onWrites();",
    replace: "",
  },
  {
    name: "refusing a source that has shrunk",
    find: "if (known.length < shrinkFrom || kept >= known.length * shrinkShare) return null;",
    replace: "return null;",
  },
  {
    name: "leaving alone what is held",
    find: 'if (hold !== undefined) return { ...decision, action: "block", reason: "held", detail: hold };',
    replace: "",
  },
  {
    name: "only reporting where the operator wants that",
    find: 'return sync === "heal"',
    replace: "return sync !== null",
  },
  {
    name: "looking at everything when the interval has ended",
    find: "return now - lastFullPassAt >= 0.9 * driftIntervalMs - 1;",
    replace: "return false;",
  },
  {
    name: "taking digests of live as new when they have changed",
    find: "if (state === said.state)",
    replace: "if (state !== null)",
  },
  {
    name: "calling a write unclear whose connection broke",
    find: 'else breakOff("connection-lost", cause);',
    replace: 'else settle({ state: "not-sent", reason: "unreachable", cause });',
  },
  {
    name: "calling a reply unclear that was cut short",
    find: 'return { state: "ambiguous", ambiguity: reason, status, cause };',
    replace: 'return { state: "not-sent", reason: "unreachable", cause };',
  },
  {
    name: "calling a page in place of a reply unclear",
    find: 'return { state: "ambiguous", ambiguity: saysJson ? "malformed" : "protocol", status, cause };',
    replace: 'return { state: "not-sent", reason: "unreachable", cause };',
  },
  {
    name: "closing an intent only when its outcome is known",
    find: 'return { intent, effect: "not-applied", error: null, token: null, isOpen: false };',
    replace: 'return { intent, effect: "applied", error: null, token: null, isOpen: false };',
  },
  {
    name: "giving a lease a new number for each holder",
    find: "const number = isRenewal ? former.number : await issueNumber(transaction);",
    replace: "const number = former?.number ?? (await issueNumber(transaction));",
  },
  {
    name: "falling back on the revision that was applied last",
    find: "  if (kept === null) throw error;\n",
    replace: "  throw error;\n",
  },
  {
    name: "trying again what was not finished",
    find: 'const scope = isFull ? "all" : "changes";',
    replace: 'const scope = "changes";',
  },
  {
    name: "writing without a lease only where there are none",
    find: "if (!isFinal(sent)) throw notTaken(options, sent);",
    replace: "",
  },
  {
    name: "ending a lease with its time",
    find: ".filter((lease) => lease.expires_at > now && !isHeldBy(lease, change))",
    replace: ".filter((lease) => !isHeldBy(lease, change))",
  },
  {
    name: "comparing live with what is declared",
    find: "return differences(kind.shape, sent, found).every(({ before }) => before === undefined);",
    replace: "return true;",
  },
  {
    name: "reading live of a resource again whose manifest has changed",
    find: "record !== undefined && record.manifest === digest && record.receipt === receipt;",
    replace: "record !== undefined && record.receipt === receipt;",
  },
  {
    name: "calling a write unclear after a server error",
    find: "if (status >= 500) return status === 501 || ((status === 503 || status === 507) && pause !== null);",
    replace: "if (status >= 500) return true;",
  },
  {
    name: "taking a lease again that was lost",
    find: "if (lease !== null && !lease.isLost() && lease.scope === options.scope) {",
    replace: "if (lease !== null && lease.scope === options.scope) {",
  },
  {
    name: "concluding no absence from what a token does not see",
    find: 'if (live.state === "absent" && (showsTenant(sight) || isShown(sight, identity, kinds))) return live;',
    replace: 'if (live.state === "absent") return live;',
  },
  {
    name: "leaving alone what somebody else manages",
    find: 'return [fieldsDanger("adopts", lostIn(differences), one)];',
    replace: "return NONE;",
  },
  {
    name: "saying of a dry run that it is one",
    find: "body: { ...body, dryRun: true } }, { signal: stop.signal, repeats }",
    replace: "body }, { signal: stop.signal, repeats }",
  },
  {
    name: "keeping a reply before it is read",
    find: "    await ledger.keepReply(id, bytes);\n    reply = bytes;\n  };\n  const body",
    replace: "    reply = bytes;\n  };\n  const body",
  },
  {
    name: "keeping the key of a write that was refused for now",
    find: "isDecided && !isRepeatable ? null",
    replace: "isDecided ? null",
  },
  {
    name: "delivering a one-time token",
    find: "const delivered = token === null ? null : await deliver(request, token);",
    replace: "const delivered = null;",
  },
  {
    name: "recording what was written",
    find: "await writing.session.ledger.close(intent.id, receipt);\n    if (isTokenLost)",
    replace: "await writing.session.ledger.close(intent.id, null);\n    if (isTokenLost)",
  },
];
