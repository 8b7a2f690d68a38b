import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { holdfastOnPath } from "../support/holdfast-on-path.ts";
import { screenOf } from "../support/screen.ts";
import { sourceOf } from "../support/source.ts";

const COLUMNS = 100;
const CLEAR_LINE = "\u0015";

type Shell = { readonly start: readonly string[]; readonly load: string };

const shells: { readonly [name: string]: Shell } = {
  bash: { start: ["bash", "--norc", "-i"], load: "source <(holdfast completion bash)" },
  zsh: {
    start: ["zsh", "-f", "-i"],
    load: "autoload -U compinit; compinit -u -D; source <(holdfast completion zsh)",
  },
  fish: { start: ["fish", "--no-config", "--interactive"], load: "holdfast completion fish | source" },
};

/** A shell on a terminal, in a folder with a manifest: what it makes of what is typed, followed by the tab key. */
async function openShell({ start, load }: Shell) {
  const bin = await holdfastOnPath();
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, "manifests"));
  const command = `stty cols ${COLUMNS}; PS1='> ' exec ${start.join(" ")}`;
  const shell = spawn("script", ["--quiet", "--flush", "--command", command, "/dev/null"], {
    cwd,
    env: { ...process.env, HOME: cwd, PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`, TERM: "xterm" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void shell.kill("SIGKILL"));
  let output = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const shows = (text: string) =>
    eventually(text, async () => (await screenOf(output, COLUMNS)).some((line) => line.includes(text)) || null).catch(
      async (cause: unknown) => {
        throw new Error(`the terminal shows no ${text}:\n${(await screenOf(output, COLUMNS)).join("\n")}`, { cause });
      },
    );
  shell.stdin.write(`${load}; echo lo''aded\n`);
  await shows("loaded");
  const complete = async (typed: string, becomes: string): Promise<void> => {
    shell.stdin.write(`${typed}\t`);
    await shows(becomes);
    shell.stdin.write(CLEAR_LINE);
  };
  return { cwd, complete };
}

describe.each(Object.entries(shells))("%s", (name, shell) => {
  test("completes commands, flags, their values, and files", async ({ skip }) => {
    const [program = ""] = shell.start;
    skip(spawnSync(program, ["-c", "exit"]).status !== 0, `${name} is not installed here`);
    skip(spawnSync("script", ["--version"]).status !== 0, "there is no `script`, which makes a terminal");
    const { cwd, complete } = await openShell(shell);
    await complete("holdfast hist", "holdfast history ");
    await complete("holdfast plan --detailed", "holdfast plan --detailed-exitcode ");
    await complete("holdfast plan -o js", "holdfast plan -o json ");
    await complete("holdfast plan --output=gith", "holdfast plan --output=github");
    await complete("holdfast plan --kind virtual", "holdfast plan --kind virtual-account ");
    await complete("holdfast validate mani", "holdfast validate manifests/");
    // Nothing that was typed is run.
    await complete("holdfast plan '$(touch run)' --no-f", "--no-fold ");
    expect(existsSync(join(cwd, "run"))).toBe(false);
  });
});

test("what may come next is told by the words before it", async () => {
  const source = await sourceOf({});
  const next = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await source.runHere(["completion", "bash", "--", ...words]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout.split("\n").slice(0, -1);
  };
  expect(await next("")).toEqual(expect.arrayContaining(["validate", "plan", "completion"]));
  expect(await next("--v")).toEqual(["--version"]);
  expect(await next("unknown", "")).toEqual([]);
  expect(await next("plan", "")).toEqual([]);
  expect(await next("plan", "--sh")).toEqual(["--show"]);
  expect(await next("plan", "--show", "unchanged", "un")).toEqual(["unchanged", "unmanaged"]);
  expect(await next("plan", "--base", "")).toEqual([]);
  expect(await next("plan", "-o", "json", "j")).toEqual([]);
  expect(await next("plan", "--output", "=", "j")).toEqual(["json"]);
  expect(await next("plan", "--output", "=")).toEqual(["text", "json", "markdown", "github", "gitlab", "sarif"]);
  expect(await next("explain", "serv")).toEqual(["service"]);
  expect(await next("import", "--into", "serv")).toEqual([]);
  expect(await next("completion", "z")).toEqual(["zsh"]);
  expect(await next("plan", "--", "--sh")).toEqual([]);
  const { stdout } = await source.runHere(["completion", "zsh", "--", "plan", "--strict"]);
  expect(stdout).toBe("--strict:treat warnings as errors\n");
});

test("a shell that is not known is refused with those that are", async () => {
  const source = await sourceOf({});
  const refused = await source.runHere(["completion", "powershell"]);
  expect(refused).toMatchObject({ code: 3, stdout: "" });
  expect(refused.stderr).toBe('error: there is no completion for "powershell"\n  → Name one of bash, zsh, fish.\n');
});
