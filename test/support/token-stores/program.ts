import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../folder.ts";
import type { StoreFault } from "./store-fault.ts";

// Stores values as files, and notes what of it other processes can see.
const SCRIPT = `#!/bin/sh
dir="$1"; action="$2"; file="$dir/values/$(printf %s "$3" | tr / +)"
tr '\\0' '\\n' < /proc/$$/cmdline >> "$dir/seen"; tr '\\0' '\\n' < /proc/$$/environ >> "$dir/seen"
fault="$(cat "$dir/fault" 2>/dev/null)"
case "$action" in
create)
  case "$fault" in
    refused|full) cat > /dev/null; echo "no space left" >&2; exit 28 ;;
    quoting) cat >&2; exit 9 ;;
    lying) cat > /dev/null; exit 0 ;;
  esac
  cat > "$dir/new.$$"
  ln "$dir/new.$$" "$file" 2>/dev/null || { rm "$dir/new.$$"; exit 3; }
  rm "$dir/new.$$"
  [ "$fault" = reply-lost ] && kill -KILL $$
  exit 0 ;;
read) [ -e "$file" ] || exit 3; cat "$file" ;;
delete) rm -f "$file" ;;
*) exit 64 ;;
esac
`;

/** A program that stores values in files of a folder. */
export async function tokenProgram() {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "values"));
  const program = join(folder, "token-store");
  await writeFile(program, SCRIPT);
  await chmod(program, 0o755);
  const values = (): readonly string[] =>
    readdirSync(join(folder, "values")).map((name) => readFileSync(join(folder, "values", name), "utf8"));
  return {
    command: [program, folder],
    values,
    /** The arguments and the environment of all its runs, as /proc shows them. */
    seen: (): string => (existsSync(join(folder, "seen")) ? readFileSync(join(folder, "seen"), "utf8") : ""),
    fault: (fault: StoreFault | null): void => {
      rmSync(join(folder, "fault"), { force: true });
      if (fault !== null) writeFileSync(join(folder, "fault"), fault);
    },
  };
}
