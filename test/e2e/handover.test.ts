import { expect, test } from "vitest";
import { team } from "../support/manifests.ts";
import { operatorOf, upstreamOf } from "../support/remote.ts";
import { serve } from "../support/server.ts";

test("F34 F61 a daemon that is told to end hands over at once, and one that is killed within its lease; nothing is doubled", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const config = {
    sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
    targets: [{ name: "prod", interval: 0.3 }],
  };
  const [one, other] = [await operatorOf(config, server), await operatorOf(config, server)];
  // Far shorter than a request may take: the lease's number keeps out what comes late.
  const watching = ["watch", "--lease-seconds", "4", "--request-timeout", "30"];
  const first = one.start(watching);
  await first.shows("stdout", /1 created/);
  const second = other.start(watching);
  await second.shows("stderr", /standing by/);
  const writtenBy = async (daemon: typeof first, member: string): Promise<number> => {
    const since = performance.now();
    await upstream.commit({ "ml.yaml": team("ml", member) });
    await daemon.shows("stdout", /1 updated/);
    return performance.now() - since;
  };
  first.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  expect(await writtenBy(second, "bob@example.com")).toBeLessThan(5000);

  const third = one.start(watching);
  await third.shows("stderr", /standing by/);
  second.kill("SIGKILL");
  // The lease, a question of the standby, and a pass.
  expect(await writtenBy(third, "eve@example.com")).toBeLessThan(8000);

  // One that sleeps through its lease writes nothing when it wakes up, and stands by.
  const fourth = other.start(watching);
  await fourth.shows("stderr", /standing by/);
  third.kill("SIGSTOP");
  await writtenBy(fourth, "joan@example.com");
  third.kill("SIGCONT");
  await third.shows("stderr", /standing by[\s\S]*standing by/);
  expect(server.effects().map(({ resource }) => resource)).toEqual(["team/ml", "team/ml", "team/ml", "team/ml"]);
});
