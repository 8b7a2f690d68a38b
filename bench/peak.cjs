// Loaded into every measured process: it leaves its peak memory where the bench finds it.
const { appendFileSync } = require("node:fs");

process.on("exit", () => appendFileSync(process.env.BENCH_PEAK, `${process.resourceUsage().maxRSS}\n`));
