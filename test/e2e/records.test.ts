import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { planOf } from "../support/json-output.ts";
import { foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { guarded, sourceOf } from "../support/source.ts";

describe.each(controlPlaneVariants)("records on a $name control plane", (plane) => {
  test("S67 adopt records what is live as it is, once, and apply may change it then", async () => {
    const server = await plane.serve();
    const others = await sourceOf({ ...foundations, "api.yaml": service("api", "replicas: 4\n") }, server);
    expect(await others.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const source = await sourceOf({ ...foundations, "api.yaml": service("api", "replicas: 2\n") }, server);
    await source.write("new.yaml", service("new"));
    const before = server.effects();
    expect(await source.runHere(["adopt"])).toMatchObject({ code: 3 });
    expect(await source.runHere(["adopt", "service/dev:web/nowhere"])).toMatchObject({ code: 3 });
    const absent = await source.runHere(["adopt", "service/dev:web/new"]);
    expect(absent).toMatchObject({ code: 1 });
    expect(absent.stdout).toContain("service/dev:web/new: is not live");
    const adopted = await source.runHere(["adopt", "service/dev:web/api"]);
    expect(adopted.code).toBe(0);
    expect(adopted.stdout).toContain("adopted   service/dev:web/api\n1 resource adopted; nothing was written");
    const all = await source.runHere(["adopt", "--all", "--state", "other"], { COLUMNS: "200" });
    expect(all.stdout).toBe(
      "4 resources adopted; left as they are: 1 not live; nothing was written to the control plane\n",
    );
    const again = await source.runHere(["adopt", "--all", "-o", "json"]);
    expect([again.code, faultsOf("records", again.stdout)]).toEqual([0, []]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      action: "adopt",
      changed: [{ identity: "cluster/dev" }, { identity: "ml-repo/registry" }, { identity: "workspace/dev:web" }],
      left: [
        { identity: "service/dev:web/api", kind: "service", why: "recorded" },
        { identity: "service/dev:web/new", kind: "service", why: "absent" },
      ],
    });
    expect(server.effects()).toEqual(before);

    await source.remove("new.yaml");
    const plan = planOf(await source.runHere(["plan", "-o", "json"], guarded));
    expect(plan.steps).toMatchObject([
      { action: "update", risks: [], changes: [{ path: "/replicas", before: 4, after: 2, cause: "manifest" }] },
    ]);
    expect(await source.runHere(["apply", "--yes"], guarded)).toMatchObject({ code: 0 });
  });

  test("S67 forget drops the record of an orphan, and of nothing else", async () => {
    const server = await plane.serve();
    const source = await sourceOf({ ...foundations, "api.yaml": service("api") }, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    const before = server.effects();
    const declared = await source.runHere(["forget", "service/dev:web/api"]);
    expect(declared).toMatchObject({ code: 5, stdout: "" });
    expect(declared.stderr).toContain("is still declared");
    expect(await source.runHere(["forget", "service/dev:web/nowhere"])).toMatchObject({ code: 3 });
    await source.remove("api.yaml");
    expect(planOf(await source.runHere(["plan", "-o", "json"])).summary).toMatchObject({ orphan: 1 });
    const forgotten = await source.runHere(["forget", "service/dev:web/api"]);
    expect(forgotten).toMatchObject({ code: 0 });
    expect(forgotten.stdout).toContain("the live resources stay and are no longer managed");
    expect(planOf(await source.runHere(["plan", "-o", "json"])).summary).toMatchObject({ orphan: 0 });
    expect(server.effects()).toEqual(before);
  });
});
