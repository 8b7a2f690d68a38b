import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";
import { onTestFinished } from "vitest";

// Without a graphics processor it draws by itself: to emulate one costs several times as much processor time.
const GRAPHICS = /^--(?:use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu-blocklist)/;

/** Starts a real browser without a window; it ends with the test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  return browser;
}

/** The same for several tests, which close it; `hasMachineFonts` says whether it has those of this machine beside its own. */
export async function launchBrowser({ hasMachineFonts = true } = {}): Promise<Browser> {
  const executablePath = await unpacked();
  return playwright.launch({
    executablePath,
    ...(!hasMachineFonts && { env: { ...process.env, FONTCONFIG_FILE: ownFonts(dirname(executablePath)) } }),
    // Its sandbox needs rights that a test runner does not have.
    args: [...chromium.args.filter((flag) => !GRAPHICS.test(flag)), "--disable-gpu", "--no-sandbox"],
    headless: true,
    timeout: 180_000,
  });
}

function ownFonts(folder: string): string {
  const place = mkdtempSync(join(tmpdir(), "holdfast-fonts-"));
  const file = join(place, "fonts.conf");
  const dirs = `<dir>${join(folder, "fonts/fonts")}</dir><cachedir>${place}</cachedir>`;
  writeFileSync(file, `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${dirs}</fontconfig>`);
  return file;
}

// The package takes a file that another process is still writing for the browser, so its folder gets its name once it is whole.
async function unpacked(): Promise<string> {
  const whole = join(tmpdir(), "holdfast-chromium");
  if (!existsSync(whole)) {
    const folder = mkdtempSync(`${whole}-`);
    await unpackInto(folder);
    try {
      renameSync(folder, whole);
    } catch {
      // Another process has been quicker.
      rmSync(folder, { recursive: true });
    }
  }
  return join(whole, "chromium");
}

function unpackInto(folder: string): Promise<string> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    // It asks where to before it waits for anything.
    return chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
