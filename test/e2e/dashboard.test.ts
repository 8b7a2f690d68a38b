import { request } from "node:http";
import { expect, test } from "vitest";
import { startBrowser } from "../support/browser.ts";
import { statusOf } from "../support/json-output.ts";
import { foundations, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

test("the page of a daemon shows what the commands say, and a commit reaches it without another load", async () => {
  const server = await serve();
  const upstream = await upstreamOf({
    ...foundations,
    "api.yaml": service("api"),
    "broken.yaml": "type: team\nname: broken\nmembers: 7\n",
  });
  const sources = [{ name: "platform", url: upstream.folder, ref: "main" }];
  const operator = await operatorOf(
    { sources, targets: [{ name: "prod", interval: 3600 }], dashboard: { hosts: ["holdfast.example.com"] } },
    server,
  );
  const token = { HOLDFAST_UI_TOKEN: "CANARY-page" };
  const watch = operator.start(["watch", "--listen", "127.0.0.1:0", "-o", "text"], token);
  const [, url = ""] = await watch.shows("stderr", /^health and metrics on (http:\/\/127\.0\.0\.1:\d+)$/m);
  await operator.runHere(["reconcile"]);
  const browser = await startBrowser();
  const page = await browser.newPage({ httpCredentials: { username: "me", password: "CANARY-page" } });
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  await page.getByRole("link", { name: "prod" }).last().click();
  await page.getByText("5, 1 need attention").waitFor();
  const [status] = statusOf(await operator.runHere(["status", "-o", "json"])).targets;
  const [invalid] = status?.invalid ?? [];
  expect(await page.locator("h1").textContent()).toBe(`prod ${status?.sync} ${status?.condition}`);
  const callouts = await page.locator(".callout").allInnerTexts();
  expect(callouts[0]).toContain(`${status?.reason}\n`);
  expect(callouts[0]).toContain(status?.message);
  expect(callouts[1]).toContain(`${invalid?.file}:${invalid?.line} ${invalid?.identity} ${invalid?.message}`);
  const facts = (await page.locator(".facts").innerText()).replaceAll(/\s+/g, " ");
  expect(facts).toContain(`Wanted ${status?.wantedRevision?.slice(0, 12)} Applied no commit`);
  const rows = await page.locator(".row .name").allInnerTexts();
  expect(rows).toEqual(
    ["team/broken", "cluster/dev", "ml-repo/registry", "service/dev:web/api", "workspace/dev:web"].toSorted(
      (one, other) => Number(other === "team/broken") - Number(one === "team/broken"),
    ),
  );
  await page.evaluate("window.isSame = true");

  const commit = await upstream.commit({ "broken.yaml": team("broken"), "api.yaml": service("api", "replicas: 3\n") });
  await operator.runHere(["reconcile"]);
  await page.locator("h1", { hasText: "Synced Ready" }).waitFor();
  await page
    .locator("dd", { hasText: commit.slice(0, 12) })
    .first()
    .waitFor();
  expect(await page.locator(".callout").count()).toBe(0);
  await page.locator(".row", { hasText: "service/dev:web/api" }).getByText("updated").waitFor();
  expect(await page.evaluate("window.isSame")).toBe(true);
  const now = statusOf(await operator.runHere(["status", "-o", "json"])).targets[0];
  expect([now?.sync, now?.appliedRevision]).toEqual(["Synced", commit]);
  // Whoever has no token gets neither page nor data.
  for (const path of ["/", "/targets/prod", "/api/v1/targets", "/api/v1/stream"])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 401]);
  // The host names of the operator's configuration are known, and no others.
  const statusUnder = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: "Bearer CANARY-page" };
      const asked = request(url, { headers, agent: false }, (reply) => resolve(reply.resume().statusCode));
      asked.once("error", reject).end();
    });
  expect(await statusUnder("holdfast.example.com")).toBe(200);
  expect(await statusUnder("other.example.com")).toBe(421);
});
