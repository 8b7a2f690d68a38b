import { chmodSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import {
  confirmationFolder,
  honouredOperatorKeys,
  keepConfirmation,
} from "../../../../src/commands/configuration/honoured-operator-keys.ts";
import { run as plan } from "../../../../src/commands/plan.ts";
import { findTarget } from "../../../../src/commands/targets/find-targets.ts";
import type { OperatorConfig } from "../../../../src/source/read-config.ts";
import { readSourceConfig } from "../../../../src/source/read-source-config.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { team } from "../../../support/manifests.ts";
import { folderOf, write } from "../../source/source.ts";
import { type TestTerminal, terminalOf } from "../terminal.ts";

const config = "server: https://platform.example.com\nstate: elsewhere\n";

/** A source with a configuration of its own, and a state folder of its user's outside of it. */
async function scene(text = config) {
  const root = await folderOf({ "holdfast.yaml": text });
  const home = await temporaryFolder();
  const kept = join(home, ".local/state/holdfast/confirmed");
  const at = (answers?: readonly string[], env: TestTerminal["terminal"]["env"] = { HOME: home }) =>
    terminalOf({ cwd: root, env, ...(answers === undefined ? {} : { answers }) });
  const read = async ({ terminal }: TestTerminal, { mayAsk = true } = {}): Promise<OperatorConfig> => {
    const source = { root: terminal.cwd, cwd: terminal.cwd, repository: null, base: null };
    const { files } = await readSourceConfig(source, { clock: systemClock, signal: terminal.stopping });
    return honouredOperatorKeys(files, { root: terminal.cwd, why: "it holds holdfast.yaml", mayAsk }, terminal);
  };
  return { root, home, kept, at, read };
}

describe("operator keys in the source's own configuration", () => {
  test("S41 are shown, and count once a person has confirmed exactly them", async () => {
    const { kept, at, read } = await scene();
    const first = at(["y"]);
    const operator = await read(first);
    expect(operator).toEqual({ server: "https://platform.example.com", state: "elsewhere" });
    await using target = await findTarget({ args: [], flags: {}, terminal: at([]).terminal }, { reading: true });
    expect(target.state.folder).toMatch(/elsewhere$/);
    expect(first.stderr()).toContain('  server: "https://platform.example.com"\n  state: "elsewhere"\n');
    expect(lstatSync(kept).mode & 0o777).toBe(0o700);
    expect(readdirSync(kept).map((name) => lstatSync(join(kept, name)).mode & 0o777)).toEqual([0o600]);

    const second = at([]);
    expect(await read(second)).toEqual(operator);
    expect(second.stderr()).not.toContain("[y/N]");
  });

  test("S41 are asked about again once they say something else, and not for another key of the file", async () => {
    const { root, at, read } = await scene();
    await read(at(["y"]));
    write(root, { "holdfast.yaml": `${config}external: [team/*]\n` });
    await read(at([]));
    write(root, { "holdfast.yaml": config.replace("platform.example.com", "platform.example.org") });
    const changed = at(["no"]);
    await expect(read(changed)).rejects.toMatchObject({ code: "invalid" });
    expect(changed.stderr()).toContain("platform.example.org");
  });

  test("S41 that were confirmed for one file are not for another one", async () => {
    const { home, at, read } = await scene();
    await read(at(["y"]));
    const other = await folderOf({ "holdfast.yaml": config });
    const elsewhere = terminalOf({ cwd: other, env: { HOME: home }, answers: ["n"] });
    await expect(read(elsewhere)).rejects.toThrow("holdfast.yaml sets server, state, which you did not confirm");
  });

  test("S41 are not confirmed by an input that ends", async () => {
    const { at, read } = await scene();
    await expect(read(at([]))).rejects.toThrow("which you did not confirm");
  });

  test("S41 end the command where nobody is asked, even when they were confirmed before", async () => {
    const { home, at, read } = await scene();
    await expect(read(at())).rejects.toThrow("holdfast.yaml sets server, state, which only the operator may");
    await read(at(["y"]));
    await expect(read(at())).rejects.toMatchObject({ code: "invalid" });
    await expect(read(at([], { HOME: home, CI: "true" }))).rejects.toMatchObject({ code: "invalid" });
  });

  test("S41 are not asked about by a daemon", async () => {
    const { at, read } = await scene();
    const daemon = at(["y"]);
    await expect(read(daemon, { mayAsk: false })).rejects.toThrow("which are not confirmed yet");
    expect(daemon.stderr()).toBe("");
    await read(at(["y"]));
    expect((await read(daemon, { mayAsk: false })).server).toBe("https://platform.example.com");
  });

  test("S41 never name a token file, confirmed or not", async () => {
    const { at, read } = await scene(`${config}tokenFile: /etc/passwd\n`);
    const person = at(["y"]);
    expect(await read(person)).toEqual({ server: "https://platform.example.com", state: "elsewhere" });
    expect(person.stderr()).toContain('tokenFile: "/etc/passwd"  (never read from a source: use --token-file)');
  });

  test("S41 are shown in ASCII, so that no letter looks like another one", async () => {
    const { at, read } = await scene('server: "https://pl\u0430tform.example.com/\\e[2K"\n');
    const person = at(["n"]);
    await expect(read(person)).rejects.toMatchObject({ code: "invalid" });
    expect(person.stderr()).toContain('  server: "https://pl\\u0430tform.example.com/\\u001b[2K"\n');
  });

  test("S41 that are too long to be read are refused without a question", async () => {
    const { at, read } = await scene(`${config}tokenFile: ${"x".repeat(4000)}\n`);
    const person = at(["y"]);
    await expect(read(person)).rejects.toThrow("`tokenFile` is too long to be confirmed");
    expect(person.stderr()).toBe("");
  });
});

describe("what was confirmed is kept outside the checkout", () => {
  test("S41 a checkout cannot bring its own confirmation", async () => {
    const { root, at, read } = await scene();
    const server = "https://platform.example.com";
    const confirmation = { path: join(root, "holdfast.yaml"), keys: { server, state: "elsewhere" } };
    expect(await keepConfirmation(join(root, ".local/state/holdfast/confirmed"), confirmation)).toBe(true);
    for (const env of [{ HOME: root }, { XDG_STATE_HOME: join(root, ".local/state") }, {}]) {
      expect(confirmationFolder(env, root)).toBeNull();
      const person = at(["y"], env);
      await read(person);
      expect(person.stderr()).toContain("you will be asked again");
    }
    const asked = at(["n"], { HOME: root });
    await expect(read(asked)).rejects.toMatchObject({ code: "invalid" });
  });

  test("S41 it counts only in a folder and a file of the user's alone, reached through no link", async () => {
    const { home, kept, at, read } = await scene();
    await read(at(["y"]));
    chmodSync(kept, 0o777);
    await expect(read(at(["n"]))).rejects.toMatchObject({ code: "invalid" });
    chmodSync(kept, 0o700);
    await read(at([]));

    const linked = join(home, "linked");
    mkdirSync(join(linked, "holdfast"), { recursive: true });
    symlinkSync(kept, join(linked, "holdfast/confirmed"));
    await expect(read(at(["n"], { XDG_STATE_HOME: linked }))).rejects.toMatchObject({ code: "invalid" });

    const [name = ""] = readdirSync(kept);
    const files = join(home, "files");
    mkdirSync(join(files, "holdfast/confirmed"), { recursive: true, mode: 0o700 });
    symlinkSync(join(kept, name), join(files, "holdfast/confirmed", name));
    await expect(read(at(["n"], { XDG_STATE_HOME: files }))).rejects.toMatchObject({ code: "invalid" });
  });

  test("S41 it is where XDG_STATE_HOME says, unless that is relative", () => {
    const folder = (env: TestTerminal["terminal"]["env"]) => confirmationFolder(env, "/source");
    expect(folder({ XDG_STATE_HOME: "/var/state", HOME: "/home/a" })).toBe("/var/state/holdfast/confirmed");
    expect(folder({ XDG_STATE_HOME: "state", HOME: "/home/a" })).toBe("/home/a/.local/state/holdfast/confirmed");
  });
});

test("S41 no request is sent to a server of the source's before it is confirmed, and the token afterwards", async () => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(401, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  const { root, home, at } = await scene(`server: http://127.0.0.1:${port}\ntokenFile: stolen\n`);
  write(root, { "team.yaml": team("ml") });
  write(home, { token: "from-the-flag\n" });
  const ways = [
    { env: { HOME: home, HOLDFAST_TOKEN: "from-the-environment" }, flags: {}, token: "from-the-environment" },
    { env: { HOME: home }, flags: { tokenFile: join(home, "token") }, token: "from-the-flag" },
  ];
  for (const { env, flags } of ways) {
    for (const answers of [undefined, ["n"]]) {
      const { terminal } = at(answers, env);
      await expect(plan({ args: [], flags, terminal })).rejects.toMatchObject({ code: "invalid" });
    }
  }
  expect(requests).toEqual([]);
  for (const { env, flags, token } of ways) {
    const { terminal } = at(["y"], env);
    await expect(plan({ args: [], flags, terminal })).rejects.toMatchObject({ code: "unauthorized" });
    expect(requests.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);
  }
  const { terminal } = at([]);
  await expect(plan({ args: [], flags: {}, terminal })).rejects.toThrow("no token is given");
});
