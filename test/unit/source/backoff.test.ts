import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { Fetched, Remote } from "../../../src/source/remote/remote.ts";
import { withBackoff } from "../../../src/source/remote/with-backoff.ts";
import { SourceError } from "../../../src/source/source-error.ts";
import { signal } from "./source.ts";

/** A remote that fails until it is mended, by a clock that is set by hand. */
function failing() {
  let time = 0;
  let asked = 0;
  let isMended = false;
  const fetched: Fetched = { commit: "c", before: null, change: "first" };
  const remote: Remote = {
    name: "platform",
    ref: null,
    repository: { top: null, gitFolder: "/", commonFolder: "/" },
    fetch: async () => {
      asked += 1;
      if (isMended) return fetched;
      throw new SourceError("Unreachable", `failure ${asked}`, { hint: "" });
    },
    between: async () => [],
    keep: async () => {},
    kept: async () => null,
    has: async () => false,
    deepen: async () => undefined,
    discard: () => {},
  };
  const paced = withBackoff(remote, { ...systemClock, monotonic: () => time });
  return {
    retryNow: paced.retryNow,
    mend: () => {
      isMended = true;
    },
    /** Fetches after so many seconds; answers how often the remote was asked by then. */
    fetchAfter: async (seconds: number) => {
      time += seconds * 1000;
      const { reason } = await paced.fetch({ signal }).then(
        () => ({ reason: null }),
        (error: unknown) => (error instanceof SourceError ? error : { reason: "another error" }),
      );
      return [asked, reason];
    },
  };
}

test("F52 a remote that fails is asked after 1, 2, 4 seconds and so on, five minutes at most", async () => {
  const { fetchAfter } = failing();
  const asked = [];
  for (const seconds of [0, 0.9, 0.2, 1.8, 0.3, 3.8, 0.3]) asked.push(await fetchAfter(seconds));
  expect(asked).toEqual([1, 1, 2, 2, 3, 3, 4].map((times) => [times, "Unreachable"]));
  for (let times = 5; times <= 12; times += 1) expect((await fetchAfter(300))[0]).toBe(times);
  expect((await fetchAfter(299))[0]).toBe(12);
  expect((await fetchAfter(2))[0]).toBe(13);
});

test("F52 a remote is asked at once where somebody asks for a pass, and often again once it answers", async () => {
  const { fetchAfter, retryNow, mend } = failing();
  for (const seconds of [0, 1, 2, 4]) await fetchAfter(seconds);
  expect(await fetchAfter(1)).toEqual([4, "Unreachable"]);
  mend();
  retryNow();
  expect(await fetchAfter(0)).toEqual([5, null]);
  expect(await fetchAfter(0)).toEqual([6, null]);
});
