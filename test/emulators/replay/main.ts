import { renderReplay, replayFile } from "./replay-file.ts";

// npm run --silent replay -- FILE
const usage = `usage: npm run --silent replay -- FILE

Compares what a recording of millwright run --record-cloud has with what the emulators answer: status 0 when all is the same, 3 when answers differ, 1 when FILE cannot be read.
`;
const args = process.argv.slice(2);
const [file = ""] = args;
const isHelp = args.includes("--help") || args.includes("-h");
if (isHelp || args.length !== 1 || file.startsWith("-")) {
  (isHelp ? process.stdout : process.stderr).write(usage);
  process.exit(isHelp ? 0 : 2);
}
try {
  const report = await replayFile(file);
  process.stdout.write(`${renderReplay(report)}\n`);
  const hasDifferences = [...report.values()].flat().some(({ differences }) => differences.length > 0);
  process.exitCode = hasDifferences ? 3 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
