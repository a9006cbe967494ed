import { renderReplay, replayFile } from "./replay-file.ts";

// npm run --silent replay -- FILE
const [file] = process.argv.slice(2);
try {
  if (file === undefined) throw new Error("expected the file of a recording: npm run --silent replay -- FILE");
  const report = await replayFile(file);
  process.stdout.write(`${renderReplay(report)}\n`);
  const hasDifferences = [...report.values()].flat().some(({ differences }) => differences.length > 0);
  process.exitCode = hasDifferences ? 1 : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
