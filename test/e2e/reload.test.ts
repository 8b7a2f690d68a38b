import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { eventually } from "../support/eventually.ts";
import { startHoldingProxy } from "../support/holding-proxy.ts";
import { startReceiver } from "../support/http-receiver.ts";
import { team } from "../support/manifests.ts";
import { mountVolume } from "../support/mounted-volume.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { startTlsProxy } from "../support/tls-proxy.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";
import { createAuthority } from "../unit/client/certificate.ts";

test("a changed configuration is taken up between passes, and a broken one leaves the last valid one in force", async () => {
  const server = await serve();
  const gate = await startHoldingProxy(server);
  const receiver = await startReceiver();
  const source = await sourceOf({ "ml.yaml": team("ml") }, { ...server, url: gate.url });
  const target = (rest: object) => ({ name: "prod", interval: 3600, ...rest });
  const config = (rest: object, more: object = {}) =>
    stringify({
      targets: [target(rest)],
      notifications: [{ name: "events", type: "webhook", url: receiver.url }],
      ...more,
    });
  const first = { "holdfast.yaml": config({}), token: server.token };
  const volume = await mountVolume(first);
  const flags = ["--config", volume.path("holdfast.yaml"), "--token-file", volume.path("token"), "--sink", "file"];
  const held = gate.delay("PUT", "/api/svc/v1/teams");
  const watch = source.start(["watch", "--listen", "127.0.0.1:0", ...flags], {
    HOLDFAST_TOKEN: "",
    HOLDFAST_UI_TOKEN_FILE: volume.path("token"),
  });
  const [, url = ""] = await watch.shows("stderr", /on (http:\S+)\n/);
  const status = async () => {
    const answer = await fetch(`${url}/status`, { headers: { authorization: `Bearer ${server.token}` } });
    return JSON.parse(await answer.text());
  };
  const metric = async (name: string) =>
    (await (await fetch(`${url}/metrics`)).text()).split("\n").find((line) => line.startsWith(`${name} `));

  // Swapped while a write is in flight: the pass ends as it began, and the next one goes by the new configuration.
  await held;
  await volume.swap({ ...first, "holdfast.yaml": config({ sync: "report" }) });
  await watch.shows("stderr", /^configuration reloaded: \S+holdfast\.yaml has changed$/m);
  expect(watch.stdout()).toBe("");
  await gate.letGo();
  await watch.shows("stdout", /Applied: 1 created/);
  await eventually("the next pass", async () => (await status()).targets[0].lastPass?.result === "reported");
  expect(server.effects()).toHaveLength(1);

  await volume.swap({ ...first, "holdfast.yaml": "targets: 7\n" });
  await watch.shows(
    "stderr",
    /^error: the changed configuration is refused: .*\n {2}→ the last valid one stays in force/m,
  );
  expect(await status()).toMatchObject({ configurationRefused: expect.stringContaining("holdfast.yaml") });
  expect(await metric("holdfast_configuration_refused")).toBe("holdfast_configuration_refused 1");
  await source.write("web.yaml", team("web"));
  await watch.shows("stdout", /Plan: 1 to create/);

  // A token that is gone is not taken up either; the one that was read last is used.
  await volume.swap({ "holdfast.yaml": config({}) });
  await watch.shows("stderr", /refused: \S+token is missing or empty/);
  expect(await status()).toMatchObject({ configurationRefused: expect.stringContaining("missing or empty") });

  await volume.swap({ "holdfast.yaml": config({}), token: `${server.token}\n` });
  await eventually("the configuration", async () => {
    const { configurationRefused, targets } = await status();
    return configurationRefused === null && targets[0].sync === "Synced";
  });
  expect(server.effects()).toHaveLength(2);
  expect(await metric("holdfast_configuration_refused")).toBe("holdfast_configuration_refused 0");
  await eventually("the deliveries are counted", async () => {
    const line = await metric('holdfast_notifications_total{receiver="events",result="delivered"}');
    return Number(line?.split(" ").at(-1)) >= 2;
  });
  const told = receiver.received.map(({ body }) => JSON.parse(body).type);
  expect(told).toEqual(
    expect.arrayContaining(["dev.holdfast.configuration-refused", "dev.holdfast.configuration-reloaded"]),
  );
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining(server.token) });
});

test("configurations that change while passes write lose no write, and none is made twice", async () => {
  const server = await serve();
  const source = await sourceOf({ "t0.yaml": team("t0") }, server);
  const config = (interval: number) => stringify({ targets: [{ name: "prod", interval }] });
  const volume = await mountVolume({ "holdfast.yaml": config(3600) });
  const watch = source.start(["watch", "--sink", "file", "--config", volume.path("holdfast.yaml")]);
  await watch.shows("stdout", /team\/t0/);
  for (let round = 1; round <= 4; round += 1) {
    await volume.swap({ "holdfast.yaml": config(3600 + round) });
    for (let at = 1; at <= 5; at += 1) await source.write(`t${round}${at}.yaml`, team(`t${round}${at}`));
    await watch.shows("stderr", new RegExp(`(?:configuration reloaded[^]*){${round}}`));
  }
  await eventually("every team", () => server.effects().length >= 21);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
  expect(new Set(server.effects().map(({ resource }) => resource)).size).toBe(21);
  expect(server.effects()).toHaveLength(21);
});

test("a CA file that is swapped, as a control plane gets a certificate of a new authority, is taken up by itself", async () => {
  const server = await serve();
  const [old, renewed] = [createAuthority(), createAuthority()];
  const front = await startTlsProxy(server, old.issue("localhost"));
  const source = await sourceOf({ "ml.yaml": team("ml") }, { ...server, url: front.url });
  const volume = await mountVolume({ "ca.pem": old.cert });
  const watch = source.start(["watch", "--sink", "file", "--interval", "0.5", "--ca-file", volume.path("ca.pem")]);
  await watch.shows("stdout", /1 created/);
  front.show(renewed.issue("localhost"));
  await source.write("web.yaml", team("web"));
  await watch.shows("stderr", /cannot be reached \(CERT_SIGNATURE_FAILURE\)\n {2}→ check .*--ca-file/);
  const { stdout } = await source.run(["status", "-o", "json"]);
  expect(JSON.parse(stdout).targets[0]).toMatchObject({ condition: "Stalled" });
  await volume.swap({ "ca.pem": renewed.cert });
  await watch.shows("stderr", /configuration reloaded: \S+ca\.pem has changed/);
  await watch.shows("stdout", /created {3}team\/web/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
  expect(server.effects()).toHaveLength(2);
});

test("a process that stands by takes a changed configuration up too, and takes over by it", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "a/a.yaml": team("a"), "b/b.yaml": team("b") });
  const config = (path: string) => ({
    sources: [{ name: "platform", url: upstream.folder }],
    targets: [{ name: "prod", paths: [path], interval: 0.5 }],
  });
  const [one, other] = [await operatorOf(config("a"), server), await operatorOf(config("a"), server)];
  const first = one.start(["watch"]);
  await first.shows("stdout", /1 created/);
  const standby = other.start(["watch"]);
  await standby.shows("stderr", /standing by/);
  await writeFile(other.config, stringify(config("b")));
  await standby.shows("stderr", /configuration reloaded[\s\S]*standing by/);
  expect(server.effects()).toHaveLength(1);
  first.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  await standby.shows("stdout", /team\/b/);
  expect(server.effects().map(({ resource }) => resource)).toEqual(["team/a", "team/b"]);
});

test("a configuration that turns out to be unusable gives way to the last valid one, and that one to a mended one, and both are told", async () => {
  const server = await serve();
  const receiver = await startReceiver();
  const config = (target: object) =>
    stringify({ targets: [target], notifications: [{ name: "events", type: "webhook", url: receiver.url }] });
  const source = await sourceOf({ "ml.yaml": team("ml"), ".holdfast/targets/other": "no folder" }, server);
  const volume = await mountVolume({ "holdfast.yaml": config({ name: "prod" }) });
  const watch = source.start(["watch", "--listen", "127.0.0.1:0", "--config", volume.path("holdfast.yaml")]);
  await watch.shows("stdout", /1 created/);
  const [, url = ""] = await watch.shows("stderr", /on (http:\S+)\n/);
  const refused = async () => JSON.parse(await (await fetch(`${url}/status`)).text()).configurationRefused;
  await volume.swap({ "holdfast.yaml": config({ name: "other" }) });
  await watch.shows(
    "stderr",
    /^error: the new configuration cannot be used: .*\n(?: .*\n)*? {2}→ going back to the last valid one/m,
  );
  await source.write("web.yaml", team("web"));
  await watch.shows("stdout", /team\/web/);
  expect(await refused()).toContain("targets/other");
  await volume.swap({ "holdfast.yaml": config({ name: "prod", sync: "report" }) });
  await eventually("the mended configuration", async () => (await refused()) === null);
  await source.write("api.yaml", team("api"));
  await watch.shows("stdout", /Plan: 1 to create/);
  watch.kill("SIGTERM");
  expect(await watch.ended).toMatchObject({ code: 0 });
  expect(server.effects()).toHaveLength(2);
  const told = receiver.received
    .map(({ body }) => JSON.parse(body).type)
    .filter((type) => type.includes("configuration"));
  expect(told.map((type) => type.replace(/.*configuration-/, ""))).toEqual(["reloaded", "refused", "reloaded"]);
});
