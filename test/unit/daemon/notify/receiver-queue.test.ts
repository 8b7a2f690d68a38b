import { HTTP } from "cloudevents";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import type { Notification } from "../../../../src/daemon/notify/notification.ts";
import { createReceiver, type Subscription } from "../../../../src/daemon/notify/receiver-queue.ts";
import { startReceiver, status } from "../../../support/http-receiver.ts";

const failure: Notification = {
  event: "failure",
  target: "prod",
  revision: "c0ffee",
  summary: "1 resources failed",
  details: ["service/dev:web/api: failed (response-refused)"],
};

function receiverAt(url: string, { timeoutMs = 30_000, ...more }: Partial<Subscription> & { timeoutMs?: number } = {}) {
  const troubles: string[] = [];
  const all = { targets: null, events: null, severity: "info", tokenFile: null, type: "webhook" } as const;
  const receiver = createReceiver(
    { name: "oncall", ...all, url: { text: url }, ...more },
    {
      clock: { ...systemClock, now: () => 0 },
      onTrouble: (text) => troubles.push(text),
      timeoutMs,
      retries: 2,
      backoff: { first: 1, most: 2 },
    },
  );
  return { ...receiver, troubles };
}

describe("a receiver of notifications", () => {
  test("gets a CloudEvent 1.0", async () => {
    const { url, received } = await startReceiver();
    const { add, idle, troubles } = receiverAt(url);
    add(failure);
    await idle();
    const [request] = received;
    const event = HTTP.toEvent({ headers: request?.headers ?? {}, body: request?.body });
    expect(event).toMatchObject({
      specversion: "1.0",
      type: "dev.holdfast.failure",
      subject: "prod",
      data: { ...failure, severity: "error" },
    });
    expect(troubles).toEqual([]);
  });

  test("S17 gets a text for Slack in which names are no markup", async () => {
    const { url, received } = await startReceiver();
    const { add, idle } = receiverAt(url, { type: "slack" });
    add({ ...failure, details: ["service/<!channel>&<http://evil.example|click>"] });
    await idle();
    expect(JSON.parse(received[0]?.body ?? "").text).toBe(
      "*prod* failure: 1 resources failed (commit c0ffee)\n• service/&lt;!channel&gt;&amp;&lt;http://evil.example|click&gt;",
    );
  });

  test("is told again when it answers 5xx, and what it could not be told is said in the end", async () => {
    const better = await startReceiver((response, nth) => void response.writeHead(nth < 3 ? 503 : 204).end());
    const one = receiverAt(better.url);
    one.add(failure);
    await one.idle();
    expect(better.received).toHaveLength(3);
    expect(one.troubles).toEqual([]);

    const broken = await startReceiver(status(500));
    const other = receiverAt(`${broken.url}/secret-path`);
    other.add(failure);
    await other.idle();
    expect(broken.received).toHaveLength(3);
    expect(other.troubles).toEqual(["notification to oncall was not delivered: it answered 500"]);
  });

  test("S7 is not followed to where it redirects, and not asked again", async () => {
    const elsewhere = await startReceiver();
    const { url, received } = await startReceiver(status(307, { location: elsewhere.url }));
    const { add, idle, troubles } = receiverAt(url);
    add(failure);
    await idle();
    expect(received).toHaveLength(1);
    expect(elsewhere.received).toEqual([]);
    expect(troubles).toEqual(["notification to oncall was not delivered: it answered 307"]);
  });

  test("that hangs is given up after its time, and gets one digest of what came meanwhile", async () => {
    const { url, received } = await startReceiver((response, nth) => void (nth <= 3 ? null : response.end()));
    const { add, idle, troubles } = receiverAt(url, { timeoutMs: 1500 });
    add(failure);
    await Promise.resolve();
    await Promise.resolve();
    for (let nth = 1; nth <= 8; nth += 1) add({ ...failure, summary: `${nth} resources failed` });
    await idle();
    expect(troubles).toEqual(["notification to oncall was not delivered: it cannot be reached, or does not answer"]);
    expect(received).toHaveLength(4);
    const { type, data } = JSON.parse(received[3]?.body ?? "");
    expect(type).toBe("dev.holdfast.digest");
    expect(data.notifications).toHaveLength(8);
  });

  test("is told only of its targets and events, from its severity on", async () => {
    const { url, received } = await startReceiver();
    const { add, idle } = receiverAt(url, { targets: ["prod"], severity: "warning", events: ["failure", "recovery"] });
    add({ ...failure, target: "staging" });
    add({ ...failure, event: "recovery" });
    add({ ...failure, event: "drift" });
    add(failure);
    await idle();
    expect(received.map(({ body }) => JSON.parse(body).type)).toEqual(["dev.holdfast.failure"]);
  });

  test("gets no token in clear over a network", async () => {
    const { troubles, add, idle } = receiverAt("http://192.0.2.1/", { tokenFile: import.meta.filename });
    add(failure);
    await idle();
    expect(troubles).toEqual([expect.stringContaining("over https alone")]);
  });
});
