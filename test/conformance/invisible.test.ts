import { expect, test } from "vitest";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";
import { cluster, service, workspace } from "./platform.ts";

const svc = "/api/svc/v1";
const ml = "/api/ml/v1";
// What a resource carries along makes reading it slow.
const many = Array.from({ length: 1000 }, (_, nth) => ({
  subject: `user:${`person-${nth}`.padEnd(60, "x")}@${"mail.".repeat(30)}example.com`,
  role_id: "r".repeat(120),
}));
const annotations = Object.fromEntries(many.map((_, nth) => [`note-${nth}`, "x".repeat(2000)]));
const messages = [{ role: "user", content: "hi" }];

/** A developer with a workspace of her own, and large resources that she does not see. */
async function planted() {
  const plane = await startControlPlane();
  const { admin } = plane;
  const made = [
    await admin.put(`${svc}/clusters`, { manifest: cluster }),
    await admin.put(`${svc}/clusters`, { manifest: { ...cluster, name: "foreign", collaborators: many } }),
    await admin.put(`${svc}/workspaces`, {
      manifest: { ...workspace, collaborators: [{ subject: "user:dev@example.com", role_id: "workspace-editor" }] },
    }),
    await admin.put(`${svc}/workspaces`, {
      manifest: { ...workspace, cluster_fqn: "foreign", annotations },
    }),
    await admin.put(`${svc}/ml-repos`, { manifest: { type: "ml-repo", name: "foreign", collaborators: many } }),
    await admin.put(`${svc}/teams`, {
      manifest: { type: "team", name: "foreign", members: many.map(({ subject }) => subject.slice(5)) },
    }),
    await admin.post(`${svc}/secret-groups`, {
      name: "foreign",
      integrationId: "builtin",
      secrets: [{ key: "k", value: "v" }],
    }),
  ];
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 200));
  return { ...plane, dev: await addUser(plane, "dev@example.com") };
}

/** What is wrong besides, and tells what there is: teams that are absent and present, and requests above their limits. */
const besides = {
  type: "made-up",
  ownedBy: { team: "absent" },
  collaborators: [{ subject: "team:foreign", role_id: "x" }],
  resources: { cpu_request: 2, cpu_limit: 1, memory_request: 1, memory_limit: 1 },
};

test("S48 with a workspace or a reference that is not visible, the refusal names only that", async () => {
  const { dev } = await planted();
  const pointers = async (path: string, manifest: object) => {
    const { status, body } = await dev.put(path, { manifest });
    return [status, ...body.details.map(({ pointer }: { pointer: string }) => pointer)];
  };
  const job = { ...service, ...besides };
  expect(await pointers(`${svc}/apps`, job)).toEqual([422, "/resources/cpu_request", "/ownedBy/team"]);
  for (const place of ["foreign", "absent"]) {
    expect(await pointers(`${svc}/apps`, { ...job, workspace_fqn: `${place}:ws1` })).toEqual([422, "/workspace_fqn"]);
    const env = { A: `secret://holdfast:${place}:k` };
    expect(await pointers(`${svc}/apps`, { ...job, env })).toEqual([422, "/env/A"]);
    const permissions = [{ resource_type: "cluster", resource_fqn: place, role_id: "cluster-viewer" }];
    expect(await pointers(`${svc}/apps`, { ...job, permissions })).toEqual([422, "/permissions/0/resource_fqn"]);
    const model = { type: "model-version", name: "m", ml_repo: place, metadata: { env: "secret://holdfast:absent:k" } };
    expect((await pointers(`${ml}/model-versions`, model)).slice(0, 2)).toEqual([422, "/ml_repo"]);
  }
});

/** One question about something that the caller does not see, or that does not exist. */
type Question = readonly [
  what: string,
  ask: (caller: Caller, place: "foreign" | "absent", pad: object) => Promise<{ text: string }>,
];

const questions: readonly Question[] = [
  [
    "deploy to a workspace",
    (caller, place, pad) =>
      caller.put(`${svc}/apps`, { manifest: { ...service, ...pad, workspace_fqn: `${place}:ws1` } }),
  ],
  [
    "name a secret",
    (caller, place, pad) =>
      caller.put(`${svc}/apps`, { manifest: { ...service, ...pad, env: { A: `secret://holdfast:${place}:k` } } }),
  ],
  [
    "write a workspace",
    (caller, place, pad) => caller.put(`${svc}/workspaces`, { manifest: { ...workspace, ...pad, cluster_fqn: place } }),
  ],
  ["write a cluster", (caller, place) => caller.put(`${svc}/clusters`, { manifest: { ...cluster, name: place } })],
  [
    "write an ml repo",
    (caller, place) => caller.put(`${svc}/ml-repos`, { manifest: { type: "ml-repo", name: place } }),
  ],
  [
    "write a team",
    (caller, place) => caller.put(`${svc}/teams`, { manifest: { type: "team", name: place, members: ["a@x.io"] } }),
  ],
  [
    "write a prompt",
    (caller, place) =>
      caller.put(`${ml}/prompt-versions`, { manifest: { type: "chat_prompt", name: "p", ml_repo: place, messages } }),
  ],
];

const bodies: readonly (readonly [size: string, pad: object])[] = [
  ["small", {}],
  ["large", { labels: Object.fromEntries(Array.from({ length: 900 }, (_, nth) => [`label-${nth}`, "v".repeat(60)])) }],
];

const PAIRS = 16;
const ROUNDS = 8;

test("S48 what is invisible is refused as what is absent is, in the same words and the same time", async () => {
  const { dev } = await planted();
  for (const [size, pad] of bodies) {
    for (const [what, ask] of questions) {
      // The words name what was asked for, and tell nothing else.
      const foreign = (await ask(dev, "foreign", pad)).text.replaceAll("foreign", "absent");
      expect(foreign).toBe((await ask(dev, "absent", pad)).text);
      const ratios: number[] = [];
      // Other work on the machine can spoil a round; a difference in the work done spoils them all.
      while (ratios.length < ROUNDS && !ratios.some((ratio) => ratio > 0.7 && ratio < 1.4)) {
        ratios.push(await ratioOf((place) => ask(dev, place, pad)));
      }
      const last = ratios.at(-1) ?? 0;
      expect([what, size, last > 0.7 && last < 1.4, ratios]).toEqual([what, size, true, ratios]);
    }
  }
});

/** How many times as long the invisible takes, by the quicker replies of either: load only ever makes them slower. */
async function ratioOf(ask: (place: "foreign" | "absent") => Promise<unknown>): Promise<number> {
  const times = { foreign: [] as number[], absent: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const order = pair % 2 === 0 ? (["foreign", "absent"] as const) : (["absent", "foreign"] as const);
    for (const place of order) {
      const start = performance.now();
      await ask(place);
      times[place].push(performance.now() - start);
    }
  }
  const quick = (all: readonly number[]) => all.toSorted((one, other) => one - other)[Math.floor(PAIRS / 5)] ?? 0;
  return quick(times.foreign) / quick(times.absent);
}
