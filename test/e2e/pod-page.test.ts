import { readFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { serveGit } from "../support/git-http.ts";
import { team } from "../support/manifests.ts";
import { type Server, serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const page = readFileSync("docs/pod.md", "utf8");
const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);

/** The first block of a language in the page. */
function block(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
}

test("the page takes a reader from nothing to a process that follows, over HTTP with credentials", async () => {
  const [staging, prod] = [await serve(), await serve()];
  const upstream = await upstreamOf({ "staging/ml.yaml": team("ml"), "prod/ml.yaml": team("ml") });
  const http = await serveGit(dirname(upstream.folder));
  http.require(`Basic ${Buffer.from("git:CANARY-git").toString("base64")}`);
  const secrets = await temporaryFolder();
  const operator = block("yaml")
    .replace(
      "https://git.example.com/ml/platform.git",
      `${http.url}${upstream.folder.slice(dirname(upstream.folder).length)}/.git`,
    )
    .replace("https://staging.example.com", staging.url)
    .replace("https://platform.example.com", prod.url)
    .replaceAll("/run/secrets/", `${secrets}/`);
  await writeFile(join(secrets, "operator.yaml"), operator);
  await writeFile(join(secrets, "git-token"), "CANARY-git\n");
  await writeFile(join(secrets, "staging-token"), staging.token);
  await writeFile(join(secrets, "prod-token"), prod.token);
  const { run, start } = await sourceOf({});
  const lines = block("sh").split("\n").filter(Boolean);
  const [, variable = "", value = ""] = /^export (\w+)=(.*)$/.exec(lines[0] ?? "") ?? [];
  const env = { [variable]: value.replace("/etc/holdfast", secrets) };
  for (const line of lines.slice(1)) {
    const [name, ...args] = line.replace(/\s*#.*/, "").split(" ");
    expect(name).toBe("holdfast");
    expect(await run(args, env)).toMatchObject({ code: 0 });
  }
  expect([written(staging), written(prod)]).toEqual([[], ["team/ml"]]);
  const daemon = start(["watch", "--interval", "0.3"], env);
  await daemon.shows("stdout", /^staging: .*1 created/m);
  await upstream.commit({ "prod/web.yaml": team("web") });
  await daemon.shows("stdout", /^prod: .*team\/web/m);
  expect(written(prod)).toEqual(["team/ml", "team/web"]);
  expect(daemon.stdout() + daemon.stderr()).not.toContain("CANARY");
});

// A program in place of ssh: there is no ssh server here. It fails unless the pinned keys are asked for, and runs what git asks for.
const SSH = `#!/bin/sh
printf '%s\\n' "$@" >> "$(dirname "$0")/arguments"
case "$*" in
  *StrictHostKeyChecking=yes*"UserKnownHostsFile=\\"SECRETS/known_hosts\\""*BatchMode=yes*|*BatchMode=yes*StrictHostKeyChecking=yes*"UserKnownHostsFile=\\"SECRETS/known_hosts\\""*) ;;
  *) echo "Host key verification failed." >&2; exit 255 ;;
esac
for last; do :; done
exec sh -c "$last"
`;

test("S1 S2 a source over ssh uses the key and the host keys that the operator names, and no others", async () => {
  const server = await serve();
  const upstream = await upstreamOf({ "ml.yaml": team("ml") });
  const [programs, secrets] = [await temporaryFolder(), await temporaryFolder()];
  await mkdir(join(secrets, "other"));
  await writeFile(join(programs, "ssh"), SSH.replaceAll("SECRETS", secrets));
  await chmod(join(programs, "ssh"), 0o755);
  await writeFile(join(secrets, "key"), "no key\n", { mode: 0o400 });
  await writeFile(join(secrets, "known_hosts"), "git.example.com ssh-ed25519 AAAA\n");
  const source = {
    name: "platform",
    url: `ssh://git@git.example.com${upstream.folder}/.git`,
    credentials: { sshKeyFile: join(secrets, "key") },
    knownHosts: join(secrets, "known_hosts"),
  };
  const env = { PATH: `${programs}:${process.env.PATH}`, GIT_SSH_COMMAND: "false", GIT_SSH: "false" };
  const { run } = await operatorOf({ sources: [source] }, server);
  expect(await run(["apply", "--yes"], env)).toMatchObject({ code: 0 });
  expect(written(server)).toEqual(["team/ml"]);
  const said = readFileSync(join(programs, "arguments"), "utf8").split("\n");
  expect(said).toEqual(
    expect.arrayContaining(["-i", join(secrets, "key"), "IdentitiesOnly=yes", "git@git.example.com"]),
  );
  const other = { ...source, knownHosts: join(secrets, "other") };
  const refused = await (await operatorOf({ sources: [other] }, server)).run(["plan"], env);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("the host key is not the pinned one");
});
