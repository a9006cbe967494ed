import { renderReplay, replayFile } from "./replay-file.ts";

// npm run --silent replay -- FILE
const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("expected the file of a recording: npm run --silent replay -- FILE\n");
  process.exitCode = 2;
} else {
  const report = await replayFile(file);
  process.stdout.write(`${renderReplay(report)}\n`);
  const hasDifferences = [...report.values()].flat().some(({ differences }) => differences.length > 0);
  process.exitCode = hasDifferences ? 1 : 0;
}
