import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { startReceiver } from "../support/http-receiver.ts";
import { everyKind } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

test("receivers are notified of drift, of a refused source and of recovery, while one of them hangs", async () => {
  const server = await serve();
  const source = await sourceOf(everyKind, server);
  const [hanging, chat] = [await startReceiver(() => {}), await startReceiver()];
  const folder = await temporaryFolder();
  await writeFile(join(folder, "chat-url"), `${chat.url}/secret-path\n`);
  await writeFile(
    join(folder, "operator.yaml"),
    `notifications:
  - { name: hanging, type: webhook, url: "${hanging.url}" }
  - { name: chat, type: slack, urlFile: "${join(folder, "chat-url")}" }
`,
  );
  const watch = source.start([
    "watch",
    "--sink",
    "file",
    "--interval",
    "0.2",
    "--config",
    join(folder, "operator.yaml"),
  ]);
  await watch.shows("stdout", /^Applied: [58] created/m);

  await server.call("PUT", "/api/svc/v1/teams", {
    manifest: { type: "team", name: "ml", members: ["eve@example.com"] },
  });
  const texts = () => chat.received.map(({ body }) => JSON.parse(body).text);
  await eventually("drift", () =>
    texts().some((text) => /^\*default\* drift: 1 resource moved in live.*\n• team\/ml$/.test(text)),
  );
  await eventually("the first event", () => hanging.received.length > 0);

  await source.write("holdfast.yaml", "paths: 7\n");
  await eventually("stalled", () => texts().some((text) => /^\*default\* stalled: the source is refused/.test(text)));
  await source.write("holdfast.yaml", "paths: [services, team.yaml]\n");
  await eventually("recovery", () => texts().some((text) => text.startsWith("*default* recovery")));
  expect(chat.received.every(({ path }) => path === "/secret-path")).toBe(true);

  watch.kill("SIGTERM");
  const ended = await watch.ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout + ended.stderr).not.toContain("secret-path");
});
