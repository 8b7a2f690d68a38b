import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { git } from "../support/git.ts";
import { serveGit } from "../support/git-http.ts";
import { team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";
import { createAuthority } from "../unit/client/certificate.ts";

// A program in place of ssh and the server behind it: there is no ssh server here. The server takes one key and shows one host key.
const SSH = `#!/bin/sh
far="$(dirname "$0")"
while [ $# -gt 1 ]; do
  case "$1" in
    -i) key="$2" ;;
    UserKnownHostsFile=*) pinned="\${1#*=}" ;;
  esac
  shift
done
pinned="\${pinned#?}"
if ! cmp -s "\${pinned%?}" "$far/host-key"; then
  echo "WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!" >&2
  echo "Host key verification failed." >&2
  exit 255
fi
if ! cmp -s "$key" "$far/authorized-key"; then
  echo "git@git.example.com: Permission denied (publickey)." >&2
  exit 255
fi
exec sh -c "$1"
`;

const basic = (token: string): string => `Basic ${Buffer.from(`git:${token}`).toString("base64")}`;
const names = ["ca", "proxy", "ssh", "token", "tag", "empty"] as const;

test("F52 a source whose remote is in trouble is Stalled with its reason, keeps its last applied revision, and recovers by itself", async () => {
  const server = await serve();
  const upstream = await upstreamOf(Object.fromEntries(names.map((name) => [`${name}/a.yaml`, team(name)])));
  await upstream.git("tag", "--annotate", "--message", "One", "v1");
  const empty = await temporaryFolder();
  await git(empty, "init", "--quiet", "--initial-branch", "main");
  const [authority, other] = [createAuthority(), createAuthority()];
  const certificate = authority.issue("localhost");
  const secure = await serveGit(upstream.folder, certificate);
  const plain = await serveGit(upstream.folder);
  plain.require(basic("CANARY-token"));
  const proxy = await startConnectProxy();
  const [programs, secrets] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(programs, "ssh"), SSH, { mode: 0o755 });
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(join(secrets, name), text, { mode: 0o400 });
    return join(secrets, name);
  };
  const far = (name: string, text: string) => writeFile(join(programs, name), text);
  await far("host-key", "git.example.com ssh-ed25519 AAAA\n");
  await far("authorized-key", "CANARY-key\n");
  const caFile = await file("ca.pem", authority.cert);
  const overSsh = {
    url: `ssh://git@git.example.com${upstream.folder}/.git`,
    credentials: { sshKeyFile: await file("key", "CANARY-key\n") },
    knownHosts: await file("known_hosts", "git.example.com ssh-ed25519 AAAA\n"),
  };
  const sources = {
    ca: { url: `${secure.url}/.git`, caFile },
    proxy: { url: `${secure.url.replace("127.0.0.1", "localhost")}/.git`, caFile },
    ssh: overSsh,
    token: { url: `${plain.url}/.git`, credentials: { tokenFile: await file("token", "CANARY-token\n") } },
    tag: { url: upstream.folder, ref: "v1" },
    empty: { url: empty },
  };
  const { start, run } = await operatorOf(
    {
      sources: Object.entries(sources).map(([name, source]) => ({ name, paths: [name], ...source })),
      targets: Object.keys(sources).map((name) => ({ name, source: name, interval: 0.5 })),
    },
    server,
  );
  const daemon = start(["watch", "--listen", "127.0.0.1:0"], {
    PATH: `${programs}:${process.env.PATH}`,
    HTTPS_PROXY: proxy.url,
    NO_PROXY: "127.0.0.1",
  });
  const [, url = ""] = await daemon.shows("stderr", /on (http:\S+)\n/);
  const reasons = async () => {
    const { targets } = JSON.parse(await (await fetch(`${url}/status`)).text());
    return Object.fromEntries(targets.map((one: { target: string; reason: string }) => [one.target, one.reason]));
  };
  const show = async (expected: object): Promise<void> => {
    await eventually(
      "the reasons",
      async () => {
        const shown = await reasons();
        return Object.entries(expected).every(([name, reason]) => shown[name] === reason);
      },
      { everyMs: 250 },
    ).catch(async (cause: unknown) => {
      expect(await reasons(), String(cause)).toMatchObject(expected);
    });
  };
  const well = { ca: null, proxy: null, ssh: null, token: null, tag: null };
  await show({ ...well, empty: "EmptyRepository" });
  expect(proxy.tunnels.length).toBeGreaterThan(0);

  secure.show(other.issue("localhost"));
  await far("authorized-key", "another key\n");
  plain.require(basic("another token"));
  await upstream.git("tag", "--force", "v1", "HEAD:tag/a.yaml");
  await show({ ca: "CertificateRefused", ssh: "Unauthorized", token: "Unauthorized", tag: "NotACommit" });
  proxy.refuse(true);
  await far("host-key", "git.example.com ssh-ed25519 BBBB\n");
  await show({ proxy: "Unreachable", ssh: "HostKeyRefused" });
  const status = await run(["status", "-o", "json"]);
  const kept = { condition: "Stalled", sync: "Synced", appliedRevision: await upstream.git("rev-parse", "HEAD") };
  expect(JSON.parse(status.stdout).targets).toMatchObject([
    { ...kept, target: "ca" },
    { ...kept, target: "proxy" },
    { ...kept, target: "ssh" },
    { ...kept, target: "token" },
    { ...kept, target: "tag" },
    { target: "empty", condition: "Stalled", appliedRevision: null },
  ]);
  for (const name of names) await upstream.commit({ [`${name}/b.yaml`]: team(`${name}-2`) });
  await upstream.git("tag", "--force", "--annotate", "--message", "Two", "v1");
  secure.show(certificate);
  proxy.refuse(false);
  await far("host-key", "git.example.com ssh-ed25519 AAAA\n");
  await far("authorized-key", "CANARY-key\n");
  plain.require(basic("CANARY-token"));
  await mkdir(join(empty, "empty"));
  await writeFile(join(empty, "empty", "a.yaml"), team("empty"));
  await git(empty, "add", "--all");
  await git(empty, "commit", "--quiet", "--message", "Begin");
  await show({ ...well, empty: null });
  const made = names.flatMap((name) => (name === "empty" ? ["team/empty"] : [`team/${name}`, `team/${name}-2`]));
  expect(
    server
      .effects()
      .map(({ resource }) => resource)
      .toSorted(),
  ).toEqual(made.toSorted());
  const { stdout: history } = await run(["history", "-o", "json"]);
  for (const { target, passes } of JSON.parse(history).targets) {
    const results = passes.map(({ result }: { result: string }) => result);
    const expected = target === "empty" ? ["failed", "applied"] : ["applied", "kept", "superseded"];
    expect([target, ...new Set(results)]).toEqual([target, ...new Set(expected)]);
    expect(results.filter((result: string) => result === "superseded")).toHaveLength(target === "empty" ? 0 : 5);
  }
  expect(daemon.stdout() + daemon.stderr() + history).not.toContain("CANARY");
});
