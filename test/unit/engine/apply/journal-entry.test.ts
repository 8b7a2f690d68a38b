import { expect, test } from "vitest";
import { HoldfastError } from "../../../../src/core/errors.ts";
import { deadlineOf, journalEntry } from "../../../../src/engine/apply/journal-entry.ts";
import { intent } from "../../../support/sample-ledger.ts";
import { fakeClock } from "../../client/server.ts";

/** An entry that was stored just now by a process with a request timeout of ten seconds, and what its journal holds. */
function stored({ begins = async () => {} }: { readonly begins?: () => Promise<void> } = {}) {
  const clock = fakeClock();
  const offset = { ms: 0 };
  const journal: { readonly deadline: number; readonly instead: readonly string[] }[] = [];
  const writing = {
    session: {
      ledger: {
        begin: async ({ deadline }: { readonly deadline: number }, instead: readonly string[] = []) => {
          await begins();
          journal.push({ deadline, instead });
        },
      },
    },
    run: { clock: { ...clock, now: () => clock.now() + offset.ms } },
    rules: { requestTimeoutMs: 10_000 },
  } as unknown as Parameters<typeof journalEntry>[1];
  const entry = journalEntry({ ...intent(), deadline: deadlineOf(writing) }, writing);
  const setBack = (ms: number): void => {
    offset.ms -= ms;
  };
  return { clock, entry, journal, setBack };
}

test("a request is sent only so early that it ends before the deadline in the journal, which is moved before that", async () => {
  const { clock, entry, journal } = stored();
  const { deadline } = entry.intent();
  await clock.sleep(1000);
  expect(entry.right.isValid()).toBe(true);
  await clock.sleep(1);
  expect(entry.right.isValid()).toBe(false);
  expect(await entry.right.renew()).toBeNull();
  expect(entry.right.isValid()).toBe(true);
  expect(entry.intent()).toEqual({ ...intent(), deadline: deadline + 1001 });
  // In place of the earlier one, so that there is never more than one.
  expect(journal).toEqual([{ deadline: deadline + 1001, instead: ["intent-1"] }]);
});

test("a clock that is set back does not keep the right to send", async () => {
  const { clock, entry, setBack } = stored();
  await clock.sleep(60_000);
  setBack(60_000);
  expect(entry.right.isValid()).toBe(false);
});

test("a deadline that has passed again before the request is sent is moved further each time, until it is sent", async () => {
  const { clock, entry } = stored();
  const rests: number[] = [];
  const renewed = async (): Promise<void> => {
    await entry.right.renew();
    rests.push(entry.intent().deadline - clock.now());
    await clock.sleep(60_000);
  };
  await renewed();
  await renewed();
  await renewed();
  entry.onSent();
  await renewed();
  expect(rests).toEqual([11_000, 12_000, 14_000, 11_000]);
});

test("a process that has lost the lock of the state cannot renew the right to send", async () => {
  const locked = new HoldfastError("locked", "another process has taken over the state");
  const { clock, entry } = stored({
    begins: async () => {
      throw locked;
    },
  });
  await clock.sleep(60_000);
  await expect(entry.right.renew()).rejects.toBe(locked);
  expect(entry.right.isValid()).toBe(false);
});
