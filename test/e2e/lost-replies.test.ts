import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { controlPlane } from "../soak/control-planes.ts";
import { type Asked, answer, dropAfter, type Fault } from "../support/fault-proxy.ts";
import { account, foundations, model, prompt, service } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

// A write is sent again when its request can no longer arrive, and not before.
const files = { ...foundations, "api.yaml": service("api"), "prompt.yaml": prompt("greeting", "Be kind.") };
const applying = ["apply", "--yes", "--request-timeout", "2"];

/** A source of resources that get a version with each write, where no key keeps a repeat from making another. */
async function withoutKeys() {
  const { server, proxy } = await controlPlane("header-stripping").start();
  const source = await sourceOf({ ...files, "model.yaml": model("ranker") }, proxy.server);
  return { server, proxy, source };
}

const isWrite = ({ method, body }: Asked): boolean => method === "PUT" && !body.includes('"dryRun":true');

const isDeployment = (asked: Asked): boolean => isWrite(asked) && asked.path === "/api/svc/v1/apps";

const isVersion = (asked: Asked): boolean =>
  isDeployment(asked) || (isWrite(asked) && /(?:prompt|model)-versions$/.test(asked.path));

test("F3 a write whose reply is lost is found by reading back, and not sent again, where no keys are taken", async () => {
  const { server, proxy, source } = await withoutKeys();
  const { hits } = proxy.inject(isVersion, dropAfter);
  expect(await source.runHere(applying)).toMatchObject({ code: 0, stdout: expect.stringContaining("6 created") });
  expect(hits()).toBe(3);
  expect(server.effects()).toHaveLength(6);
});

test("F3 a write that arrives after its connection broke is found before it is sent again, where no keys are taken", async () => {
  const { server, proxy, source } = await withoutKeys();
  // Whoever looks at once does not find it yet; the deadline of the request is a second later.
  const arrivals: Promise<unknown>[] = [];
  const breakThenArrive: Fault = ({ reply, forward }) => {
    reply.destroy();
    arrivals.push(pause(1000).then(forward));
  };
  proxy.inject(isDeployment, breakThenArrive, { times: 1 });
  expect(await source.runHere(applying)).toMatchObject({ code: 0, stdout: expect.stringContaining("6 created") });
  await Promise.all(arrivals);
  expect(arrivals).toHaveLength(1);
  expect(server.effects()).toHaveLength(6);
});

test("F78 an account that was made, though its reply refuses that, is told as one whose token is lost", async () => {
  const { server, proxy } = await controlPlane("header-stripping").start();
  const source = await sourceOf({ ...foundations, "account.yaml": account("ci") }, proxy.server);
  const refusal = answer(404, { statusCode: 404, message: "no such route", code: "not-found" });
  proxy.inject("putVirtualAccount", async (passing) => {
    await passing.forward();
    await refusal(passing);
  });
  const ended = await source.runHere([...applying, "--sink", "file", "-o", "json"]);
  expect(ended.code).toBe(7);
  expect(ended.stdout).toContain("token-unrecovered");
  expect(server.effects().filter(({ resource }) => resource === "virtual-account/ci")).toHaveLength(1);
});
