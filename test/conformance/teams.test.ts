import { describe, expect, test } from "vitest";
import { addUser, type Caller, effects, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, workspace } from "./platform.ts";

const TEAMS = "/api/svc/v1/teams";
const WORKSPACES = "/api/svc/v1/workspaces";
const team = (more = {}) => ({
  manifest: {
    type: "team",
    name: "ml",
    managers: ["ada@example.com"],
    members: ["bob@example.com", "cyd@example.com"],
    ...more,
  },
});
const sso = (more = {}) => ({
  manifest: { type: "sso-team", name: "ml", sso_name: "acme", group_name: "ml", ...more },
});

const names = async (one: Caller, path = TEAMS) =>
  (await one.get(path)).body.data.map(({ teamName }: { teamName: string }) => teamName);

describe("a team", () => {
  test("is created, changed and left alone by one write", async () => {
    const { admin, data } = await startControlPlane();
    const created = await admin.put(TEAMS, team());
    expect(created.status).toBe(200);
    expect(created.body.data).toMatchObject({
      teamName: "ml",
      description: "",
      tenantName: "holdfast",
      accountId: "holdfast",
      members: team().manifest.members,
      manifest: team().manifest,
      createdBySubject: { subjectType: "user" },
    });
    const same = team({ members: ["cyd@example.com", "bob@example.com"] });
    expect((await admin.put(TEAMS, same)).body).toEqual(created.body);
    const changed = (await admin.put(TEAMS, team({ members: ["bob@example.com"] }))).body.data;
    expect(changed).toMatchObject({ id: created.body.data.id, createdAt: created.body.data.createdAt });
    expect((await admin.get(TEAMS)).body.data).toEqual([changed]);
    expect(await effects(data)).toEqual(Array(2).fill("user:admin 19 team/ml"));
  });

  test("is dry-run without an id and without a trace", async () => {
    const { admin } = await startControlPlane();
    expect((await admin.put(TEAMS, { ...team(), dryRun: true })).body.data).not.toHaveProperty("id");
    expect(await names(admin)).toEqual([]);
  });

  test("has its name alone, also among teams of single sign-on, whose further fields it carries", async () => {
    const { admin } = await startControlPlane();
    const created = await admin.put(TEAMS, sso({ anything: { goes: [1] } }));
    expect(created.body.data).toMatchObject({ members: [], manifest: sso({ anything: { goes: [1] } }).manifest });
    expect((await admin.put(TEAMS, team())).body).toMatchObject({ statusCode: 409, code: "name-taken" });
    expect((await admin.put(TEAMS, { ...team(), dryRun: true })).status).toBe(409);
    await admin.put(TEAMS, team({ name: "ops" }));
    expect((await admin.put(TEAMS, sso({ name: "ops" }))).status).toBe(409);
    expect((await admin.put(TEAMS, team({ name: "everyone" }))).status).toBe(409);
  });

  test("needs a member, and e-mail addresses", async () => {
    const { admin } = await startControlPlane();
    const pointers = async (more: object) =>
      (await admin.put(TEAMS, team(more))).body.details.map(({ pointer }: { pointer: string }) => pointer);
    expect(await pointers({ members: [] })).toEqual(["/members"]);
    expect(await pointers({ members: ["bob@example.com", "user:bob@example.com"] })).toEqual(["/members/1"]);
    expect(await pointers({ type: "squad" })).toEqual(["/type"]);
  });

  test("is changed by its managers, seen by its members, and unknown to others", async () => {
    const plane = await startControlPlane();
    await plane.admin.put(TEAMS, team());
    await plane.admin.put(TEAMS, team({ name: "ops", managers: [], members: ["eve@example.com"] }));
    const [ada, bob, eve] = await Promise.all(
      ["ada@example.com", "bob@example.com", "eve@example.com"].map((slug) => addUser(plane, slug)),
    );
    if (!ada || !bob || !eve) throw new TypeError("three users");
    expect((await ada.put(TEAMS, team({ members: ["bob@example.com"] }))).status).toBe(200);
    expect((await bob.put(TEAMS, team())).status).toBe(403);
    expect((await eve.put(TEAMS, team())).status).toBe(403);
    expect((await ada.put(TEAMS, team({ name: "new" }))).status).toBe(403);
    expect(await names(plane.admin)).toEqual(["ops", "ml"]);
    expect([await names(ada), await names(bob), await names(eve)]).toEqual([["ml"], ["ml"], ["ops"]]);
    expect(await names(plane.admin, `${TEAMS}/user`)).toEqual([]);
    expect(await names(bob, `${TEAMS}/user`)).toEqual(["ml"]);
  });

  test("hands its roles to its members and managers, for as long as they are in it", async () => {
    const plane = await startControlPlane();
    await plantWorkspace(plane.admin);
    await plane.admin.put(TEAMS, team());
    const collaborators = [{ subject: "team:ml", role_id: "workspace-editor" }];
    await plane.admin.put(WORKSPACES, { manifest: { ...workspace, collaborators } });
    const [ada, bob, eve] = await Promise.all(
      ["ada@example.com", "bob@example.com", "eve@example.com"].map((slug) => addUser(plane, slug)),
    );
    const total = async (one: Caller | undefined) => (await one?.get(WORKSPACES))?.body.pagination.total;
    expect([await total(ada), await total(bob), await total(eve)]).toEqual([1, 1, 0]);
    await plane.admin.put(TEAMS, team({ members: ["cyd@example.com"] }));
    expect([await total(ada), await total(bob)]).toEqual([1, 0]);
    const everyone = [{ subject: "team:everyone", role_id: "workspace-viewer" }];
    await plane.admin.put(WORKSPACES, { manifest: { ...workspace, collaborators: everyone } });
    expect([await total(ada), await total(eve)]).toEqual([1, 1]);
  });
});

test("S85 an e-mail or a name with characters that look like others, or like nothing, is no member, manager or subject", async () => {
  const { admin } = await startControlPlane();
  await plantWorkspace(admin);
  // Full-width, Cyrillic, zero-width, and turned round.
  for (const like of ["ａda", "аda", "a\u200bda", "a\u202eda", "ad\u0430"]) {
    const email = `${like}@example.com`;
    const refused = [
      await admin.put(TEAMS, team({ members: [email] })),
      await admin.put(TEAMS, team({ managers: [email] })),
      await admin.put(TEAMS, sso({ managers: [email] })),
      await admin.put(TEAMS, team({ members: [`ada@${like}.example.com`] })),
      await admin.put(TEAMS, team({ name: like })),
      ...(await Promise.all(
        [`user:${email}`, `team:${like}`, `virtualaccount:${like}`].map((subject) =>
          admin.put(WORKSPACES, {
            manifest: { ...workspace, collaborators: [{ subject, role_id: "workspace-viewer" }] },
          }),
        ),
      )),
    ];
    expect([email, refused.map(({ status }) => status)]).toEqual([email, refused.map(() => 422)]);
  }
  expect(await names(admin)).toEqual([]);
});
