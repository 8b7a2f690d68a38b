#!/usr/bin/env -S node --max-semi-space-size=16
import { existsSync } from "node:fs";

if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    `error: holdfast needs Node 24 or newer, this is ${process.version}\n` +
      "  → in a checkout start it as `npx holdfast …`: npm ci has brought the right Node\n",
  );
  process.exit(1);
}

const bundle = new URL("../dist/holdfast.js", import.meta.url);
await import(existsSync(bundle) ? bundle.href : new URL("../src/cli.ts", import.meta.url).href);
