// The first script of the single executable. The files of the program are in it as assets; they are imported as if they were
// below the executable, where no other file can be.
const { createRequire, registerHooks } = require("node:module");
const { getAsset } = require("node:sea");
const { fileURLToPath, pathToFileURL } = require("node:url");

const formats = new Map([
  [".js", "module"],
  [".cjs", "commonjs"],
  [".json", "json"],
]);
const root = `${pathToFileURL(process.execPath).href}/`;

registerHooks({
  resolve: (specifier, context, nextResolve) => {
    const url = URL.parse(specifier, specifier.startsWith(".") ? context.parentURL : undefined)?.href ?? "";
    return url.startsWith(root) ? { url, format: formatOf(url), shortCircuit: true } : nextResolve(specifier, context);
  },
  load: (url, context, nextLoad) => {
    if (!url.startsWith(root)) return nextLoad(url, context);
    return { format: formatOf(url), source: getAsset(url.slice(root.length), "utf8"), shortCircuit: true };
  },
});

// The process that reads YAML exactly is the same executable.
const worker = fileURLToPath(`${root}dist/worker.js`);
const [, , first] = process.argv;
// Such a script can import files, this one cannot.
createRequire(`${root}executable-main.cjs`)(first === worker ? "./start-worker.cjs" : "./start-holdfast.cjs");

function formatOf(url) {
  return formats.get(url.slice(url.lastIndexOf(".")));
}
