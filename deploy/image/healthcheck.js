// Ends with 0 where the program that the container runs answers: the daemon on its socket, the control plane on its port.
import { readFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { basename, join } from "node:path";

const TIMEOUT_MS = 4000;

// The container's first process is an init, or Holdfast itself: both have Holdfast's arguments.
const words = readFileSync(process.argv[2] ?? "/proc/1/cmdline", "utf8").split("\0");
const args = words.slice(words.findIndex((word) => /^holdfast(?:\.js)?$/.test(basename(word))) + 1);

const state = settingOf("state") ?? "/state";
ask(args[0] === "serve" ? controlPlane() : { socketPath: join(state, "daemon.sock"), path: "/status" });

function settingOf(name) {
  const flag = `--${name}`;
  const given = args.find((arg, index) => args[index - 1] === flag || arg.startsWith(`${flag}=`));
  return given?.replace(`${flag}=`, "") ?? process.env[`HOLDFAST_${name.toUpperCase()}`];
}

/** The address that a running control plane writes to its data folder. */
function controlPlane() {
  const folder = settingOf("data") ?? join(state, "control-plane");
  const { protocol, hostname, port } = new URL(readFileSync(join(folder, "endpoint"), "utf8").trim());
  // The certificate is for the name that clients use, and nothing is sent.
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port, path: "/healthz", rejectUnauthorized: false };
}

function ask(options) {
  const request = options.protocol === "https:" ? requestHttps : requestHttp;
  const asked = request({ ...options, timeout: TIMEOUT_MS }, ({ statusCode }) => {
    process.exit(statusCode === 200 ? 0 : 1);
  });
  asked.once("timeout", () => asked.destroy());
  asked.once("error", () => process.exit(1));
  asked.end();
}
