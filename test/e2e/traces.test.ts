import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Received, startReceiver } from "../support/http-receiver.ts";
import { team } from "../support/manifests.ts";
import { serve, serveProcess } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly service: string;
  readonly attributes: { readonly [name: string]: unknown };
};

type Value = { readonly stringValue?: string; readonly intValue?: number };
type Attribute = { readonly key: string; readonly value: Value };

/** The spans that a collector got. */
function spansOf(received: readonly Received[]): readonly Span[] {
  const valuesOf = (attributes: readonly Attribute[]) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));
  return received.flatMap(({ body }) =>
    JSON.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }: { resource: never; scopeSpans: never[] }) => {
      const { "service.name": service } = valuesOf((resource as { attributes: Attribute[] }).attributes);
      return scopeSpans.flatMap(({ spans }: { spans: (Span & { attributes: readonly Attribute[] })[] }) =>
        spans.map((span) => ({ ...span, service, attributes: valuesOf(span.attributes) })),
      );
    }),
  );
}

/** A collector, and the environment of processes that send their traces there. */
async function collector(service: string) {
  const sink = await startReceiver((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("{}"),
  );
  const env = (name: string) => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-token",
    OTEL_SERVICE_NAME: name,
    OTEL_BSP_SCHEDULE_DELAY: "50",
  });
  return { received: sink.received, spans: () => spansOf(sink.received), env, own: env(service) };
}

describe("traces", () => {
  test("one trace goes from a push over the daemon and its requests to the replies of the control plane", async () => {
    const { spans, received, env, own } = await collector("daemon");
    const server = await serveProcess([], { env: env("control-plane") });
    const upstream = await upstreamOf({ "ml.yaml": team("ml") });
    const operator = await operatorOf(
      {
        sources: [{ name: "platform", url: upstream.folder, ref: "main", webhookSecretFile: "webhook.secret" }],
        targets: [{ name: "prod", interval: 3600 }],
      },
      server,
    );
    await operator.write("webhook.secret", "CANARY-secret\n");
    const daemon = operator.start(["watch", "--listen", "127.0.0.1:0"], own);
    await daemon.shows("stdout", /1 created/);
    const [, url = ""] = await daemon.shows("stderr", /on (http:\S+)\n/);
    await upstream.commit({ "web.yaml": team("web") });
    const body = "{}";
    const signature = `sha256=${createHmac("sha256", "CANARY-secret").update(body).digest("hex")}`;
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    await fetch(`${url}/hooks/platform`, {
      method: "POST",
      body,
      headers: { "x-hub-signature-256": signature, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    await daemon.shows("stdout", /team\/web/);
    const written = (span: Span) => span.attributes["holdfast.operation"] === "putTeam" && span.traceId === traceId;
    const reply = await eventually("the span of the reply", () =>
      spans().find((span) => written(span) && span.service === "control-plane"),
    );
    // The spans around it end later.
    await eventually("the span of the pass", () =>
      spans().find((span) => span.name === "pass" && span.traceId === traceId),
    );
    const parentOf = ({ parentSpanId }: Span) => spans().find(({ spanId }) => spanId === parentSpanId);
    const request = parentOf(reply) as Span;
    const pass = parentOf(request) as Span;
    const push = (await eventually("the span of the push", () => parentOf(pass))) as Span;
    expect([push, pass, request, reply].map(({ name, service, kind }) => [name, service, kind])).toEqual([
      ["POST /hooks/:source", "daemon", 2],
      ["pass", "daemon", 1],
      ["PUT /api/svc/v1/teams", "daemon", 3],
      ["PUT /api/svc/v1/teams", "control-plane", 2],
    ]);
    expect(push.parentSpanId).toBe("b7ad6b7169203331");
    expect(pass.attributes).toMatchObject({ "holdfast.target": "prod", "holdfast.cause": "webhook" });
    expect(reply.attributes).toMatchObject({ "http.response.status_code": 200, "enduser.id": "user:admin" });
    expect(received.every(({ path }) => path === "/v1/traces")).toBe(true);
    expect(received.every(({ headers }) => headers.authorization === "Bearer collector-token")).toBe(true);
    expect(received.map((one) => one.body).join("")).not.toMatch(new RegExp(`CANARY|${server.token}|t0|members`));
  });

  test("a command continues the trace of its environment, and sends its spans before it ends", async () => {
    const { spans, own } = await collector("pipeline");
    const server = await serveProcess();
    const { run } = await sourceOf({ "ml.yaml": team("ml") }, server);
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const env = { ...own, TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01` };
    expect(await run(["apply", "--yes"], env)).toMatchObject({ code: 0 });
    const pass = spans().find(({ name }) => name === "pass");
    expect(pass).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331", service: "pipeline" });
    expect(spans().filter(({ kind }) => kind === 3).length).toBeGreaterThan(2);
    const unsampled = await collector("pipeline");
    await run(["plan"], { ...unsampled.own, OTEL_TRACES_SAMPLER: "always_off" });
    await run(["plan"], { ...unsampled.own, OTEL_SDK_DISABLED: "true" });
    expect(unsampled.received).toEqual([]);
  });

  test("a collector that hangs, refuses or is away delays nothing, and is told once", async () => {
    const { own } = await collector("control-plane");
    const hanging = await startReceiver(() => {});
    const refusing = await startReceiver((response) => response.writeHead(403).end());
    for (const endpoint of [hanging.url, refusing.url, "http://127.0.0.1:9"]) {
      const env = { ...own, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "200" };
      const server = await serveProcess([], { env });
      await server.call("GET", "/api/svc/v1/teams");
      await server.process.shows("stderr", /traces are not sent, and are dropped meanwhile: /);
      for (let at = 0; at < 20; at += 1) await server.call("GET", "/api/svc/v1/teams");
      server.process.kill("SIGTERM");
      const { code, stderr } = await server.process.ended;
      expect([code, stderr.match(/traces are not sent/g)]).toEqual([0, ["traces are not sent"]]);
    }
    expect(hanging.received.length).toBeGreaterThan(0);
  });

  test("cost nothing where no collector is named: serve and plan load none of it", async () => {
    const { own } = await collector("any");
    const source = await sourceOf({ "ml.yaml": team("ml") });
    const loadedBy = async (work: (env: { readonly [name: string]: string }) => Promise<unknown>, env: object) => {
      const file = join(await temporaryFolder(), "loaded");
      await work({ ...env, ...notingModules(file) });
      const loaded = (await readFile(file, "utf8")).split("\n");
      expect(loaded.length).toBeGreaterThan(10);
      return loaded.filter((url) => /opentelemetry|otlp-tracer|trace-api/.test(url));
    };
    const serving = async (env: { readonly [name: string]: string }) => serveProcess([], { env });
    const planning = async (env: { readonly [name: string]: string }) => {
      const server = await serve();
      const { url, token } = server;
      const ended = await source.run(["plan", "--server", url], { ...env, HOLDFAST_TOKEN: token });
      expect(ended.code).toBe(0);
    };
    for (const work of [serving, planning]) {
      expect(await loadedBy(work, {})).toEqual([]);
      expect(await loadedBy(work, own)).not.toEqual([]);
    }
  });
});

/** Lets a process write the address of each module that it loads to a file. */
function notingModules(file: string): { readonly NODE_OPTIONS: string } {
  const script = `
    import { appendFileSync } from "node:fs";
    import { registerHooks } from "node:module";
    registerHooks({
      load: (url, context, next) => {
        appendFileSync(${JSON.stringify(file)}, url + "\\n");
        return next(url, context);
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
