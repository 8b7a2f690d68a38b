import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { deployAs } from "../support/foreign-service.ts";
import { commitAll } from "../support/git.ts";
import { holdfastOnPath } from "../support/holdfast-on-path.ts";
import { freePort } from "../support/postgres.ts";
import { type Server, serve } from "../support/server.ts";

const page = (name: string): Promise<string> => readFile(resolve(import.meta.dirname, "../../docs", name), "utf8");

/** The commands of a page by the heading that they are under; `# ends with N` says that a line has that exit code. */
async function recipesOf(name: string): Promise<ReadonlyMap<string, string>> {
  const sections = (await page(name)).split(/^## /m).slice(1);
  return new Map(
    sections.flatMap((section) => {
      const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = ""]) => commands);
      return blocks.length === 0
        ? []
        : [[section.slice(0, section.indexOf("\n")), withExitCodes(blocks.join(""))] as const];
    }),
  );
}

function withExitCodes(commands: string): string {
  return commands.replaceAll(/^(.*?) +# ends with (\d+)$/gm, "$1 && exit 99 || [ $? -eq $2 ]");
}

type Ended = { readonly code: number; readonly output: string };

/** A folder with a shell that has `holdfast`, git, and the token of a control plane. */
async function workplace(server: Server | null) {
  const [folder, bin] = [await temporaryFolder(), await holdfastOnPath()];
  const who = { NAME: "Ada", EMAIL: "ada@example.com" };
  const names = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]);
  const env = {
    ...Object.fromEntries(names),
    ...{ PATH: `${bin}:${process.env.PATH}`, HOME: bin, GIT_CONFIG_SYSTEM: "/dev/null", TMPDIR: bin },
    ...(server && { HOLDFAST_SERVER: server.url, HOLDFAST_TOKEN: server.token, DATA: server.data }),
  };
  const run = (script: string, below = "platform"): Promise<Ended> =>
    new Promise((done) => {
      execFile("sh", ["-e", "-c", script], { cwd: join(folder, below), env }, (error, stdout, stderr) => {
        const code = typeof error?.code === "number" ? error.code : error === null ? 0 : 255;
        done({ code, output: stdout + stderr });
      });
    });
  return { folder, run };
}

const deployer = `type: virtual-account
name: deployer-1
permissions:
  - { resource_type: tenant, resource_fqn: holdfast, role_id: tenant-admin }
`;

/** A repository that `init` has begun; it is applied unless a recipe begins otherwise. */
async function platformOn(server: Server, { isApplied = true } = {}) {
  const { folder, run } = await workplace(server);
  const source = join(folder, "platform");
  expect(await run("holdfast init platform", ".")).toMatchObject({ code: 0 });
  await mkdir(join(source, "manifests/accounts"), { recursive: true });
  if (isApplied) await writeFile(join(source, "manifests/accounts/deployer-1.yaml"), deployer);
  await commitAll(source, "Begin a platform");
  if (isApplied) expect(await run("holdfast apply --yes --allow-privilege --sink file")).toMatchObject({ code: 0 });
  return { source, run };
}

type Platform = Awaited<ReturnType<typeof platformOn>>;

type Recipe = {
  /** What is so before it begins, besides a platform that is applied. */
  readonly before?: (platform: Platform, server: Server) => Promise<void>;
  readonly isApplied?: boolean;
  /** What it shows, and leaves on the control plane. */
  readonly shows: RegExp;
  readonly leaves?: (services: ReadonlyMap<string, { readonly replicas: number }>) => void;
};

const recipes: { readonly [heading: string]: Recipe } = {
  "Adopt a platform": {
    isApplied: false,
    before: async ({ source, run }, server) => {
      const hello = await readFile(join(source, "manifests/dev/web/hello.yaml"), "utf8");
      await writeFile(join(source, "manifests/dev/web/worker.yaml"), hello.replace("name: hello", "name: worker"));
      await commitAll(source, "Declare a worker");
      expect(await run("holdfast apply --yes --kind workspace --state ../other")).toMatchObject({ code: 0 });
      const theirs = { ...parse(hello), replicas: 7, env: { MODE: "fast" } };
      await deployAs("others", theirs, server);
      await deployAs("more", { ...theirs, name: "worker" }, server);
    },
    shows: /NotAdopted: 2 of 4[\s\S]*\+replicas: 7[\s\S]*Plan: 1 to update, 3 unchanged[\s\S]*Applied: 1 updated/,
    leaves: (services) => {
      expect(services.get("hello")).toMatchObject({ replicas: 7, env: { MODE: "fast" } });
      expect(services.get("worker")?.replicas).toBe(1);
    },
  },
  "Add a service": {
    shows: /created +service\/dev:web\/api/,
    leaves: (services) => expect([...services.keys()].toSorted()).toEqual(["api", "hello"]),
  },
  "Review a change": { shows: /Plan: 1 to update/ },
  "Roll back": {
    before: async ({ source, run }) => {
      await run("sed -i 's/replicas: 1/replicas: 4/' manifests/dev/web/hello.yaml");
      await commitAll(source, "Run four replicas");
      expect(await run("holdfast apply --yes")).toMatchObject({ code: 0 });
    },
    shows: /replicas +4 +→ 1/,
    leaves: (services) => expect(services.get("hello")?.replicas).toBe(1),
  },
  Freeze: { shows: /incident 12/ },
  "Rotate a token": { shows: /deployer-2[\s\S]*user:admin/ },
  "Move a resource": {
    shows: /nothing to do[\s\S]*created +service\/dev:web\/greeter/,
    leaves: (services) => expect([...services.keys()].toSorted()).toEqual(["greeter", "hello"]),
  },
  "Split a repository": { shows: /nothing to do[\s\S]*2 resources adopted[\s\S]*2 resources forgotten/ },
  "Remove a service": { shows: /orphan[\s\S]*forgotten/ },
  "Recover a lost state folder": { shows: /nothing to do, 4 unchanged[\s\S]*4 resources adopted/ },
};

test.for(Object.entries(recipes))(
  'the recipe "%s" does what it says, on a real control plane',
  async ([heading, recipe]) => {
    const script = (await recipesOf("how-to.md")).get(heading);
    expect(script, `docs/how-to.md has no recipe "${heading}"`).toBeDefined();
    const server = await serve();
    const platform = await platformOn(server, recipe);
    await recipe.before?.(platform, server);
    const ended = await platform.run(script ?? "");
    expect(ended, ended.output).toMatchObject({ code: 0, output: expect.stringMatching(recipe.shows) });
    if (recipe.leaves === undefined) return;
    const { data } = await server.call("GET", "/api/svc/v1/apps?workspaceFqn=dev:web");
    const services = data.map(
      ({ name, deployment }: { name: string; deployment: { manifest: { replicas: number } } }) => [
        name,
        deployment.manifest,
      ],
    );
    recipe.leaves(new Map(services));
  },
);

/** A page as one script: what a second terminal runs is in the background, and ready before the script goes on. */
async function scriptOf(name: string, port: number): Promise<string> {
  const blocks = [...(await page(name)).matchAll(/^```sh\n(.*?)^```/gms)].map(([, commands = ""]) =>
    withExitCodes(commands),
  );
  const lines = blocks.map((commands, nth) => {
    if (!commands.startsWith("# in a second terminal\n")) return commands;
    const log = `"$TOP/${nth}.log"`;
    const ready = `until grep -Eq "listening on|watching:" ${log}; do kill -0 $! || { cat ${log}; exit 98; }; sleep 0.1; done`;
    return `(cd "$TOP" && exec env -u HOLDFAST_SERVER ${commands.split("\n")[1]}) > ${log} 2>&1 &\nrunning="$! $running"\n${ready}\n`;
  });
  const stop = "trap 'kill $running; wait $running' EXIT";
  return [`TOP=$PWD; running=\n${stop}\n`, ...lines].join("").replaceAll("7071", String(port));
}

test("getting started leads to a daemon that follows git, command by command", async () => {
  const port = await freePort();
  const { run } = await workplace(null);
  const { code, output } = await run(await scriptOf("getting-started.md", port), ".");
  expect(code, output).toBe(0);
  for (const shown of [
    /3 to create[\s\S]*Applied: 3 created[\s\S]*nothing to do, 3 unchanged/,
    /Import: 3 written[\s\S]*nothing to do, 3 unchanged[\s\S]*3 resources adopted/,
    /drift +replicas +2 +→ 5[\s\S]*Applied: 1 updated/,
    /trial +Synced, Ready/,
  ])
    expect(output).toMatch(shown);
});

test("every recipe is run", async () => {
  expect([...(await recipesOf("how-to.md")).keys()]).toEqual(Object.keys(recipes));
});

test("the steps from staging to production do what they say, on two control planes", async () => {
  const [staging, prod] = [await serve(), await serve()];
  const { folder, run } = await workplace(null);
  await mkdir(join(folder, "platform"));
  expect(await run("git init --quiet -b main")).toMatchObject({ code: 0 });
  const heading = "Staging and production, step by step";
  const section = (await page("environments.md")).split(/^## /m).find((one) => one.startsWith(heading)) ?? "";
  const [, targets = ""] = /^```yaml\n(.*?)^```/ms.exec(section) ?? [];
  const places = {
    "https://staging.example.com": staging.url,
    "https://platform.example.com": prod.url,
    "/run/secrets/staging": join(staging.data, "admin-token"),
    "/run/secrets/prod": join(prod.data, "admin-token"),
  };
  const text = Object.entries(places).reduce((all, [documented, here]) => all.replace(documented, here), targets);
  await writeFile(join(folder, "targets.yaml"), text);
  const ended = await run((await recipesOf("environments.md")).get(heading) ?? "exit 99");
  expect(ended, ended.output).toMatchObject({ code: 0 });
  expect(ended.output).toContain("image_uri: registry.example.com/api:1.1.0 # patches/prod/api.yaml:5");
  expect(ended.output).toMatch(/Promotion of staging to prod: nothing to promote, \d+ unchanged\n$/);
  expect(await readFile(join(folder, "platform/patches/prod/api.yaml"), "utf8")).toContain(
    "    image_uri: registry.example.com/api:1.1.0 # promoted from staging\n",
  );
  const { data } = await prod.call("GET", "/api/svc/v1/apps");
  expect(data).toMatchObject([{ deployment: { manifest: { replicas: 3, workspace_fqn: "live:web" } } }]);
});
