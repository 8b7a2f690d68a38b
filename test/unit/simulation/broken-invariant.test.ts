import { expect, test } from "vitest";
import { InvariantError } from "../../../src/contract/invariant.ts";
import type { EndedPass } from "../../../src/daemon/ended-pass.ts";
import { ADMIN_TOKEN, controlPlaneData, startControlPlane } from "../../simulation/control-plane.ts";
import { emptyDisk, REQUEST_TIMEOUT_MS, startDaemon } from "../../simulation/daemon.ts";
import { loadSources } from "../../simulation/load-sources.ts";
import { createNetwork } from "../../simulation/network.ts";
import { createProcess } from "../../simulation/process.ts";
import { createRepository } from "../../simulation/repository.ts";
import { drawsOf, Scheduler } from "../../simulation/scheduler.ts";
import { foundations, service } from "../../support/manifests.ts";

test("a bug that is noticed at the journal ends the pass, and the next pass writes everything", async () => {
  await loadSources();
  const scheduler = new Scheduler(drawsOf(1, "order"));
  const processOf = (name: string, startsAtOnce = false) =>
    createProcess(name, { scheduler, draw: drawsOf(1, name), flushMs: 5, startsAtOnce, onKilled: () => {} });
  const server = await startControlPlane(await controlPlaneData(), {
    process: processOf("server", true),
    scheduler,
    documentedOnly: false,
    rolloutSeconds: 1,
    seed: [],
    permissions: null,
  });
  const network = createNetwork({
    scheduler,
    draw: drawsOf(1, "network"),
    timeoutMs: REQUEST_TIMEOUT_MS,
    answer: server.handle,
  });
  const disk = emptyDisk();
  let isBroken = true;
  const state = {
    ...disk.state,
    open: async (...options: Parameters<typeof disk.state.open>) => {
      const opened = await disk.state.open(...options);
      return {
        ...opened,
        ledger: async (name: string) => {
          const ledger = await opened.ledger(name);
          return {
            ...ledger,
            begin: async (...given: Parameters<typeof ledger.begin>) => {
              if (isBroken) throw new InvariantError("journal", "an intent has the kind of its resource");
              await ledger.begin(...given);
            },
          };
        },
      };
    },
  };
  const passes: EndedPass[] = [];
  const failures: unknown[] = [];
  const daemon = startDaemon({ ...disk, state }, processOf("daemon"), {
    sync: "heal",
    token: () => ADMIN_TOKEN,
    guardsAdoption: false,
    repository: createRepository({ ...foundations, "api.yaml": service("api") }),
    network,
    onToken: () => {},
    onDelivered: () => {},
    observer: {
      emit: () => {},
      failure: (error) => failures.push(error),
      end: (pass) => {
        passes.push(pass);
        isBroken = false;
      },
    },
  });
  while (passes.length < 2 && (await scheduler.step(120_000)));
  daemon.process.kill();
  server.process.kill();
  expect(passes.map(({ conclusion }) => conclusion.result)).toEqual(["failed", "applied"]);
  expect(String(failures[0])).toContain("a bug in Holdfast: at the journal, an intent has the kind of its resource");
});
